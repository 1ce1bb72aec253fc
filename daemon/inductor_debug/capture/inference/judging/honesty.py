"""What may be told of a target whose inputs were inferred: nothing that rests on a size which we made up.

A finding that stays says what it rests on. Whether a finding is true of other inputs is not decided here, nor whether a
class is to blame where no inputs run (`inference.Blame`): what such a class raises is told.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from inductor_debug_schema import Finding, Inferred, Related, Severity, Stage

from inductor_debug.capture.failures import describe
from inductor_debug.capture.inference.judging.coincidences import Coincidence
from inductor_debug.capture.inference.refusals import NotInferableError
from inductor_debug.capture.inference.rendering import signature_of
from inductor_debug.capture.inference.surroundings import Blame
from inductor_debug.capture.symbol_names import some_became_numbers
from inductor_debug.capture.target import BuiltTarget
from inductor_debug.rules.ops import Recording

if TYPE_CHECKING:
    from inductor_debug.capture.inference.inference import Inference

NOT_CARRIED = "The inferred inputs did not carry to the end of this stage; set others with a directive."
"""The note of a stage that failed for want of better inputs, which is not the user's fault."""
_ABOUT_OUR_CALL = frozenset(("capture-error", "recompile"))
"""Rules that judge the call itself, which is ours."""
_ABOUT_PRECISION = frozenset(("mixed-dtypes", "float64"))
_ABOUT_SIZES = frozenset(("alignment", "memory", "peak-memory"))
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.]*\w)")


def refusal(cause: BaseException) -> Inferred:
    """Why nothing was inferred for a target, and the call that came furthest."""
    if isinstance(cause, NotInferableError):
        return replace(cause.furthest or Inferred(), reason=cause.reason)
    return Inferred(reason=describe(cause).rstrip("."))


def fault(cause: BaseException) -> NotInferableError | None:
    """Why nothing was inferred, where that is the fault of the user's code."""
    return cause if isinstance(cause, NotInferableError) and cause.blames else None


def has_free_sizes(target: BuiltTarget) -> bool:
    """Whether some sizes of the inputs are ours, and symbols in this target."""
    return target.inference is not None and target.inference.free and target.fake_mode is not None and not target.fixed


def with_fixed_sizes(target: BuiltTarget) -> BuiltTarget:
    """The same target with numbers in place of symbols, for code that symbols are too much for."""
    assert target.inference is not None
    with target.fake_mode or contextlib.nullcontext():
        args, kwargs = target.inference.inputs(static=True)
    return replace(target, args=args, kwargs=kwargs, fixed=True)


def honest(findings: list[Finding], target: BuiltTarget, recording: Recording) -> list[Finding]:
    """The findings that do not rest on what we made up, each with the inputs that it rests on."""
    inference = target.inference
    assert inference is not None
    assert inference.result is not None
    ours = inference.invented or not _all_symbols(target, recording)
    place = target.location
    basis = Related(place.path, place.range, _basis(inference.result))
    kept = []
    for finding in findings:
        if finding.rule == "capture-error" and inference.blame is not None:
            kept.append(_blamed(finding, inference.blame, inference.result, basis))
            continue
        about_input = finding.op is None and (finding.path, finding.range) == (place.path, place.range)
        if finding.rule in _ABOUT_OUR_CALL and not _of_compiling(finding, target):
            continue
        if finding.rule in _ABOUT_PRECISION and not inference.precision_known:
            continue
        if finding.rule in _ABOUT_SIZES and (ours or _names_ours(finding, inference)):
            continue
        if about_input and finding.rule != "graph-break":
            continue
        kept.append(replace(finding, related=[*finding.related, basis]))
    return kept


def _of_compiling(finding: Finding, target: BuiltTarget) -> bool:
    """Whether code that runs with the inferred inputs cannot be compiled with them, not even as numbers."""
    compiling = finding.stage not in (Stage.LOAD, Stage.PREVIEW)
    return finding.rule == "capture-error" and compiling and not has_free_sizes(target)


def _basis(inferred: Inferred) -> str:
    """What findings of an inferred target rest on."""
    since = f", kept since {inferred.kept_since}" if inferred.kept_since else ""
    return f"inputs inferred: {inferred.signature}{since}"


def _blamed(finding: Finding, blame: Blame, inferred: Inferred, basis: Related) -> Finding:
    """What the class raises, as an error only where no inputs can run."""
    severity = Severity.ERROR if blame.proven else Severity.WARNING
    which = "the inputs that it last ran with" if inferred.kept_since else "inferred inputs"
    words = f"{finding.message.rstrip('.')} (with {which}, {inferred.signature})."
    if blame.instead:
        words += f" It would run with {blame.instead}."
    return replace(finding, severity=severity, message=words, related=[*finding.related, basis])


def otherwise(target: BuiltTarget, coincidence: Coincidence) -> BuiltTarget:
    """The target with another size in place of one that it has by chance only."""
    assert target.inference is not None
    with target.fake_mode or contextlib.nullcontext():
        args, kwargs = target.inference.otherwise(coincidence)
    return replace(target, args=args, kwargs=kwargs, fixed=True)


def fixed_size(refusal: Finding, target: BuiltTarget, coincidence: Coincidence) -> Finding:
    """That only one size runs, from what the model raised for another."""
    other = signature_of(coincidence.otherwise, {})
    place = target.location
    assert target.inference is not None
    assert target.inference.result is not None
    message = (
        f"{refusal.message.rstrip('.')} (with {other}). It runs only where dimension {coincidence.dim} of "
        f"`{coincidence.argument}` is {coincidence.size}, and nothing in the model declares that size."
    )
    basis = Related(place.path, place.range, _basis(target.inference.result))
    related = [*refusal.related, basis]
    return replace(refusal, rule="fixed-size", severity=Severity.WARNING, message=message, related=related)


def _names_ours(finding: Finding, inference: Inference) -> bool:
    """Whether a finding names a free size, or one that a list of ours may have been stacked to.

    What is told of a free size rests on bounds that our own call set.
    """
    subject = finding.message.partition(" not ")[0]
    lengths = inference.lengths()
    free = "|".join(map(re.escape, inference.symbols().values()))
    named = free and re.search(rf"(?<!\d )\b({free})\b", finding.message.partition(";")[0])  # `100 B` are bytes
    return bool(named) or any(int(text) in lengths for text in _NUMBER.findall(subject))


def _all_symbols(target: BuiltTarget, recording: Recording) -> bool:
    """Whether every size that we made up stayed a symbol: torch turns some into numbers where code asks for one."""
    assert target.inference is not None
    if target.inference.free and (not has_free_sizes(target) or some_became_numbers()):
        return False
    ours = target.inference.made_up(target.module)
    return not any(size in ours for op in recording.ops for meta in (*op.inputs, *op.outputs) for size in meta.shape)
