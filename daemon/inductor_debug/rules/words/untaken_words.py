"""What a run left out, in words: from the facts of an `UntakenBlock` alone. Needs no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from inductor_debug_schema import Held, UntakenBlock

from inductor_debug.rules.amounts import counted

_BECAUSE: Mapping[Held, str] = MappingProxyType(
    {
        Held.NONE: "`{}` is None",
        Held.PRESENT: "`{}` is not None",
        Held.FALSE: "`{}` is false",
        Held.TRUE: "`{}` is true",
        Held.EMPTY: "`{}` gives nothing to go through",
        Held.NOT_RAISED: "nothing raises `{}`",
        Held.OTHER_CASE: "nothing matches `{}`",
        Held.ENDED: "the function ends before",
        Held.NOT_CALLED: "`{}` is not called",
    }
)
_MOST_PLACES = 6
_MOST_METHODS = 3


def reason_of(block: UntakenBlock) -> str:
    """Why a block did not run: `` `mask` is None``."""
    return _BECAUSE[block.held].format(block.subject)


def lines_of(block: UntakenBlock) -> str:
    """`line 40` or `lines 31-33`, as people count them."""
    first, last = block.range.start.line + 1, block.range.end.line + 1
    return f"line {first}" if first == last else f"lines {first}-{last}"


def sentence_of(block: UntakenBlock) -> str:
    """`lines 31-33 did not run: `mask` is None`, in a sentence for one block."""
    return f"{lines_of(block)} did not run: {reason_of(block)}"


def summary_of(blocks: Sequence[UntakenBlock]) -> str:
    """`2 branches not taken: lines 31-33, 40; `generate` not called`; empty where nothing was left out."""
    branches = [block for block in blocks if block.held is not Held.NOT_CALLED]
    methods = list(dict.fromkeys(block.subject for block in blocks if block.held is Held.NOT_CALLED))
    parts = []
    if branches:
        places = [lines_of(block).partition(" ")[2] for block in branches]
        shown = [*places[:_MOST_PLACES], *(["…"] if len(places) > _MOST_PLACES else [])]
        several = len(branches) > 1 or "-" in places[0]
        parts.append(
            f"{counted(len(branches), 'branch', 'branches')} not taken: {'lines' if several else 'line'} "
            f"{', '.join(shown)}"
        )
    if methods:
        shown = [f"`{name}`" for name in methods[:_MOST_METHODS]]
        left = len(methods) - len(shown)
        parts.append(f"{', '.join(shown)}{f' and {left} more' if left else ''} not called")
    return "; ".join(parts)
