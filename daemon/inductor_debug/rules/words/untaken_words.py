"""What a run left out, in words: from the facts of an `UntakenBlock` alone. Needs no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from inductor_debug_schema import Held, UntakenBlock

from inductor_debug.rules.amounts import counted
from inductor_debug.source.notebooks.reading import lines_in_words

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


def sentence_of(block: UntakenBlock, path: str) -> str:
    """`lines 31-33 did not run: `mask` is None`, in a sentence for one block of the file at `path`."""
    return f"{lines_in_words(path, [block.range])} did not run: {reason_of(block)}"


def summary_of(blocks: Sequence[UntakenBlock], path: str) -> str:
    """`2 branches not taken: lines 31-33, 40; `generate` not called`; empty where nothing was left out."""
    branches = [block for block in blocks if block.held is not Held.NOT_CALLED]
    methods = list(dict.fromkeys(block.subject for block in blocks if block.held is Held.NOT_CALLED))
    parts = []
    if branches:
        places = lines_in_words(path, [block.range for block in branches[:_MOST_PLACES]])
        more = ", …" if len(branches) > _MOST_PLACES else ""
        parts.append(f"{counted(len(branches), 'branch', 'branches')} not taken: {places}{more}")
    if methods:
        shown = [f"`{name}`" for name in methods[:_MOST_METHODS]]
        left = len(methods) - len(shown)
        parts.append(f"{', '.join(shown)}{f' and {left} more' if left else ''} not called")
    return "; ".join(parts)
