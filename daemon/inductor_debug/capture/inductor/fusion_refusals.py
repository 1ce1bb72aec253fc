"""Why Inductor's scheduler did not fuse two of its nodes: listened to while it decides, and put into words.

Inductor says it of every pair that it looks at (`WhyNoFuse`, what `TORCH_LOGS=fusion` prints; read in torch 2.11 to
2.14). Where that name is gone nothing is known, and nothing is said. Sentences that nobody has words for here stay
Inductor's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from inductor_debug.capture.inductor.inductor_ir import IrStep

_LONGEST = 160
"""Characters of a sentence of Inductor's."""
_LIBRARY = "one of the two is a kernel of a library, which does only what it was written for"
_WORDS: Sequence[tuple[str, str]] = (
    (r"node\d is (?:extern|nop)|is extern or nop", _LIBRARY),
    ("intermediate nodes between", "another kernel needs the result of the first before the second can begin"),
    ("will create cycle", "the fused kernel would wait for its own result"),
    ("must go before", "the second has to run before the first"),
    ("memory deps did not match", "the second does not read element by element what the first writes"),
    (r"\((?:non-)?reduce\) (?P<one>\(.*\)), (?P<other>\(.*\))$", "their loops have other sizes: {one} and {other}"),
    ("incompatib", "their loops have other sizes"),
    ("tiling", "their loops are cut into other tiles"),
    (r"device mismatch \((?P<devices>.*)\)", "they run on other devices: {devices}"),
    ("different loop orders|Mismatch loop orders", "they go through their elements in other orders"),
    ("indexing mismatch", "they go through the data that they share in other orders"),
    ("no shared data", "they touch no data in the same way, so nothing would be saved"),
    ("exceeds max fusion", "the fused kernel would hold more operations than Inductor's setting allows"),
    ("increase peak memory", "fused, they would need more memory at the peak"),
    ("too_many_reads_and_writes", "the fused kernel would read and write more tensors than pays"),
    ("score_fusion_memory_threshold", "too little memory traffic would be saved"),
    ("too far away", "they are far apart, and fusing them would keep memory in use for longer"),
    ("different buf layouts", "their results lie in memory in other ways"),
    ("explicit disabled|must not be fused", "a setting or an annotation forbids it"),
    ("register spilling", "the fused kernel would need more registers than there are"),
    ("[Ss]plit scan", "a scan that is split over blocks is fused with no reduction"),
)


@dataclass(frozen=True, slots=True)
class FusionRefusal:
    """Two nodes of the scheduler, each the names of the operations that were fused into it by then, and why not."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    reason: str


@contextmanager
def watched_fusions() -> Iterator[list[FusionRefusal]]:
    """Collects what the scheduler refuses to fuse inside."""
    found: list[FusionRefusal] = []
    try:
        from torch._inductor import scheduler
    except ImportError:
        yield found
        return
    kind: Any = getattr(scheduler, "WhyNoFuse", None)
    before = getattr(kind, "__call__", None)  # noqa: B004 - to be replaced, not called
    if kind is None or before is None:
        yield found
        return

    def refused(self: Any, reason: str, *args: Any) -> Any:
        said = reason % args if args else reason
        found.append(FusionRefusal(tuple(self.name1.split("_")), tuple(self.name2.split("_")), said))
        return before(self, reason, *args)

    kind.__call__ = refused
    try:
        yield found
    finally:
        kind.__call__ = before


def unfused_neighbours(steps: Sequence[IrStep], refusals: Sequence[FusionRefusal]) -> dict[tuple[str, str], str]:
    """Why steps were not fused with those whose results they read, by their names: the one that writes, and the reader.

    The last word counts: what was refused at first may have been fused later, with something else between.
    """
    owners = {part.name: step.name for step in steps for part in step.parts}
    said: dict[tuple[str, str], str] = {}
    for refusal in refusals:
        sides = [{owners.get(name, "") for name in names} for names in (refusal.first, refusal.second)]
        if all(len(side) == 1 for side in sides):
            (first,), (second,) = sides
            said[first, second] = in_words(refusal.reason)
    makers: dict[str, IrStep] = {}
    found: dict[tuple[str, str], str] = {}
    for step in steps:
        for read in step.reads:
            maker = makers.get(read)
            if maker is None or maker.name == step.name:
                continue
            reason = said.get((maker.name, step.name)) or said.get((step.name, maker.name))
            if reason is None and not (_has_loops(maker) and _has_loops(step)):
                reason = _LIBRARY
            if reason is not None:
                found[maker.name, step.name] = reason
        makers.update((buffer.name, step) for buffer in step.writes)
    return found


def in_words(reason: str) -> str:
    """A sentence of Inductor's as people say it."""
    for pattern, words in _WORDS:
        match = re.search(pattern, reason)
        if match is not None:
            return words.format(**match.groupdict())
    said = " ".join(reason.split())
    return f"Inductor says: {said if len(said) <= _LONGEST else said[: _LONGEST - 1] + '…'}"


def _has_loops(step: IrStep) -> bool:
    return any(part.ranges is not None for part in step.parts)
