"""What the findings of a target with inferred inputs rest on, and its calls with other sizes.

What may be told on such a basis is decided where findings are judged (`rules.captures.inferred_findings`), and whether
a class is to blame where no inputs run by inference (`Blame`).
"""

from __future__ import annotations

import contextlib
from dataclasses import replace

from inductor_debug_schema import Basis, Finding, Inferred, Related, Severity

from inductor_debug.capture.failures.failures import describe
from inductor_debug.capture.inference.inference import inference_of
from inductor_debug.capture.inference.judging.remarks import Remark
from inductor_debug.capture.inference.negative_cache import NotInferableError
from inductor_debug.capture.inference.specs.rendering import signature_of
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.tensors.symbol_names import some_became_numbers
from inductor_debug.rules.captures.inferred_findings import remark_on
from inductor_debug.rules.recording.ops import Recording

NOT_CARRIED = "The inferred inputs did not carry to the end of this stage; set others with a directive."
"""The note of a stage that failed for want of better inputs, which is not the user's fault."""
_MADE_UP = " (made up; set yours with --size, or in an editor at the lens)"
_GRADIENTS_OFF = "It raises where torch records gradients and runs where it does not, so it is judged without them."


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
    inference = inference_of(target)
    return inference is not None and inference.free and target.fake_mode is not None and not target.fixed


def with_fixed_sizes(target: BuiltTarget) -> BuiltTarget:
    """The same target with numbers in place of symbols, for code that symbols are too much for."""
    inference = inference_of(target)
    assert inference is not None
    with target.fake_mode or contextlib.nullcontext():
        args, kwargs = inference.inputs(static=True)
    return replace(target, args=args, kwargs=kwargs, fixed=True)


def inputs_told(target: BuiltTarget) -> str:
    """`x f32[batch, 64], with batch = 2`: inferred inputs, and what their free sizes are where this target is counted.

    "" where somebody gave the inputs. Of sizes that nobody set it is said how to.
    """
    inference = inference_of(target)
    if inference is None or inference.result is None:
        return ""
    traced = {name: size for size, name in inference.symbols().items()}
    made_up = {**inference.usual_sizes(), **(traced if has_free_sizes(target) else {}), **target.larger}
    told = ", ".join(f"{name} = {size}" for name, size in {**made_up, **target.given}.items())
    how = _MADE_UP if made_up.keys() - target.given.keys() else ""
    return inference.result.signature + (f", with {told}{how}" if told else "")


def counted_with(target: BuiltTarget) -> str:
    """What a count of this target rests on that nobody wrote down: inferred inputs, or sizes that were set."""
    told = inputs_told(target)
    return f"inferred inputs, {told}" if told else ", ".join(f"{name} = {size}" for name, size in target.given.items())


def without_gradients(target: BuiltTarget) -> BuiltTarget | None:
    """The same target where torch records no gradients; None where it is there, or its inputs are known not to run."""
    inference = inference_of(target)
    if inference is None or inference.blame is not None or not target.gradients:
        return None
    return replace(target, gradients=False, notes=[*target.notes, _GRADIENTS_OFF])


def basis_of(target: BuiltTarget, recording: Recording) -> Basis:
    """What findings in `recording`, the last one that was made of `target`, rest on."""
    inference = inference_of(target)
    assert inference is not None
    assert inference.result is not None
    return Basis(
        signature=inference.result.signature,
        place=target.location,
        kept_since=inference.result.kept_since,
        made_up=inference.invented or not _all_symbols(target, recording),
        symbols=sorted(set(inference.symbols().values()) - set(target.given)),
        lengths=sorted(inference.lengths()),
        precision_known=inference.precision_known,
        fixed=not has_free_sizes(target) and not target.ends_early,
        given=bool(target.given),
        blame=inference.blame,
    )


def symbolic_basis_of(target: BuiltTarget, recording: Recording) -> Basis:
    """What findings in a recording of the target rest on that was made with a symbol for every size."""
    inference = inference_of(target)
    assert inference is not None
    made_up = inference.invented or _has_sizes_of_ours(target, recording)
    return replace(basis_of(target, recording), made_up=made_up, fixed=False)


def otherwise(target: BuiltTarget, remark: Remark) -> BuiltTarget:
    """The target with a call that it refuses."""
    inference = inference_of(target)
    assert inference is not None
    with target.fake_mode or contextlib.nullcontext():
        args, kwargs = inference.otherwise(remark)
    return replace(target, args=args, kwargs=kwargs, fixed=True)


def remarked(refusal: Finding, target: BuiltTarget, remark: Remark) -> Finding:
    """That a target refuses a call, from what it raised for that."""
    other = signature_of(remark.otherwise, {})
    place = target.location
    message = f"{refusal.message.rstrip('.')} (with {other}). {remark.because}"
    basis = Related(place.path, place.range, remark_on(basis_of(target, Recording())))
    related = [*refusal.related, basis]
    return replace(refusal, rule=remark.rule, severity=Severity.WARNING, message=message, related=related)


def _all_symbols(target: BuiltTarget, recording: Recording) -> bool:
    """Whether every size that we made up stayed a symbol: torch turns some into numbers where code asks for one."""
    inference = inference_of(target)
    assert inference is not None
    left = set(inference.symbols().values()) - set(target.given)
    if left and (not has_free_sizes(target) or some_became_numbers()):
        return False
    return not _has_sizes_of_ours(target, recording)


def _has_sizes_of_ours(target: BuiltTarget, recording: Recording) -> bool:
    """Whether a size that nobody asked for stands in a recording as a number."""
    inference = inference_of(target)
    assert inference is not None
    given = {number for number, name in inference.symbols().items() if name in target.given}
    ours = inference.made_up(target.module) - given
    return any(size in ours for op in recording.ops for meta in (*op.inputs, *op.outputs) for size in meta.shape)
