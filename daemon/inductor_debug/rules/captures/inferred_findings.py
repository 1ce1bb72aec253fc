"""Which findings may be told of a target whose inputs were inferred: none that rests on a size which we made up.

A finding that stays says what it rests on. What a target rests on is read off where it was captured (`Basis`); here it
is only applied, to every judgement of the capture alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from inductor_debug_schema import (
    Basis,
    Blame,
    CutSticks,
    Facts,
    Finding,
    MemoryOverrun,
    Misalignment,
    OversizedTensors,
    PaddedSticks,
    Recompilation,
    Related,
    Severity,
    Stage,
)

_ABOUT_OUR_CALL = frozenset(("capture-error", "recompile"))
"""Rules that judge the call itself, which is ours."""
_ABOUT_PRECISION = frozenset(("mixed-dtypes", "float64"))
_ABOUT_SIZES = frozenset(
    (
        "alignment", "core-span", "memory", "padding", "peak-memory", "stick-reshape", "unaligned-write",
        "matrix-padding", "channels-last", "launch-bound", "tf32",
    )
)  # fmt: skip
_NAME_OR_NUMBER = re.compile(r"[A-Za-z_]\w*|\d+")
"""What a size with symbols (`2*s0 + 1`) consists of."""


def honest(findings: list[Finding], basis: Basis) -> list[Finding]:
    """The findings that do not rest on what we made up, each with the inputs that it rests on."""
    place = basis.place
    remark = Related(place.path, place.range, remark_on(basis))
    kept = []
    for finding in findings:
        if finding.rule == "capture-error" and basis.blame is not None:
            kept.append(_blamed(finding, basis.blame, basis, remark))
            continue
        about_input = finding.op is None and (finding.path, finding.range) == (place.path, place.range)
        ours = finding.rule in _ABOUT_OUR_CALL and not (_of_compiling(finding, basis) or _of_one_call(finding))
        if ours and not basis.given:
            continue
        if finding.rule in _ABOUT_PRECISION and not basis.precision_known:
            continue
        if finding.rule in _ABOUT_SIZES and (basis.made_up or _rests_on_ours(finding.facts, basis)):
            continue
        if about_input and finding.rule != "graph-break" and not basis.given:
            continue
        kept.append(replace(finding, inferred=True, related=[*finding.related, remark]))
    return kept


def remark_on(basis: Basis) -> str:
    """What findings of an inferred target rest on, in words."""
    kept = datetime.fromisoformat(basis.kept_since).astimezone() if basis.kept_since else None
    since = f", kept since {kept:%Y-%m-%d %H:%M}" if kept is not None else ""
    return f"inputs inferred: {basis.signature}{since}"


def _of_compiling(finding: Finding, basis: Basis) -> bool:
    """Whether code that runs with the inferred inputs cannot be compiled with them, not even as numbers."""
    compiling = finding.stage not in (Stage.LOAD, Stage.PREVIEW)
    return finding.rule == "capture-error" and compiling and basis.fixed


def _of_one_call(finding: Finding) -> bool:
    """Whether one call alone has a function compiled too often: for what differs within the model."""
    return isinstance(finding.facts, Recompilation) and finding.facts.in_one_call


def _blamed(finding: Finding, blame: Blame, basis: Basis, remark: Related) -> Finding:
    """What the class raises, as an error only where no inputs can run."""
    severity = Severity.ERROR if blame.proven else Severity.WARNING
    which = "the inputs that it last ran with" if basis.kept_since else "inferred inputs"
    words = f"{finding.message.rstrip('.')} (with {which}, {basis.signature})."
    if blame.instead:
        words += f" It would run with {blame.instead}."
    if blame.because:
        words += f" {blame.because}"
    return replace(finding, severity=severity, message=words, inferred=True, related=[*finding.related, remark])


def _rests_on_ours(facts: Facts | None, basis: Basis) -> bool:
    """Whether it would not be told but for a free size, or one that a list of ours may have been stacked to.

    What is told of a free size rests on bounds that our own call set.
    """

    def ours(sizes: Iterable[int | str]) -> bool:
        parts = (part for size in sizes for part in _NAME_OR_NUMBER.findall(str(size)))
        return any(int(part) in basis.lengths if part.isdecimal() else part in basis.symbols for part in parts)

    if isinstance(facts, Misalignment):
        return ours(odd.odd_size for odd in facts.odd_sizes)
    if isinstance(facts, PaddedSticks):
        return ours(facts.padded_shape)
    if isinstance(facts, CutSticks):
        return ours(facts.cut_at)
    if isinstance(facts, OversizedTensors):
        return any(ours(tensor.shape) for tensor in facts.oversized_tensors)
    if isinstance(facts, MemoryOverrun):
        invented = sum(piece.storage_bytes for piece in facts.largest if ours(piece.shape))
        return facts.bytes_needed - invented <= facts.bytes_available
    return False
