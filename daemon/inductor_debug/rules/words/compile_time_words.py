"""Where compiling goes, in a few words."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import AlikeModules, CompileTimeDocument, CompileTrial, CompileWay, SameOutputs

from inductor_debug.rules.amounts import in_seconds

_LEAST_SHARE = 0.1
"""Layers that take less of it are not what makes compiling slow."""


def headline_of(document: CompileTimeDocument) -> str:
    """`4.1 s · 41 % in 80 equal layers`, or with the part of the compiler that takes most; `failed` where it did."""
    if document.problem or not document.seconds:
        return "failed"
    layers = repeated_layers(document)
    if layers is not None:
        most = f"{layers.seconds / document.seconds:.0%} in {layers.count} equal layers"
    else:
        parts: dict[str, float] = {}
        for phase in document.compile_phases:
            parts[phase.part] = parts.get(phase.part, 0.0) + phase.seconds
        part = max(parts, key=lambda name: parts[name])
        most = f"{parts[part] / document.seconds:.0%} {part}"
    return f"{in_seconds(document.seconds)} · {most.replace('%', ' %')}"


def repeated_layers(document: CompileTimeDocument) -> AlikeModules | None:
    """The equal modules that take most, the outermost where some are inside of others; None where none take much."""
    return next(
        (row for row in document.alike if row.count > 1 and row.seconds >= _LEAST_SHARE * document.seconds), None
    )


WAY_WORDS = {
    CompileWay.AS_IT_IS: "as it is",
    CompileWay.NESTED_REGIONS: "equal layers as nested regions, whose class is compiled once",
    CompileWay.EACH_LAYER: "each equal layer by itself, the model around them eagerly",
    CompileWay.EACH_LAYER_DYNAMIC: "each equal layer by itself with dynamic=True, the model around them eagerly",
}
"""What was done, for people."""
_GAIN = 0.8
"""Parts of the time as it is; what takes more is within what two compilations of one model differ by."""


def worth_trying(share: float) -> bool:
    """Whether layers that take this share of the work on expressions can make compiling much faster."""
    return share >= _LEAST_SHARE


def is_offered(trial: CompileTrial, as_it_is: CompileTrial) -> bool:
    """Whether a way is worth telling a user to write."""
    return not trial.problem and trial.same is not SameOutputs.NO and trial.seconds < _GAIN * as_it_is.seconds


def code_of(way: CompileWay, kinds: Sequence[str]) -> str:
    """What a user writes for a way, where `kinds` are the classes of the layers."""
    if way is CompileWay.NESTED_REGIONS:
        return "\n".join(f"{kind}.forward = torch.compiler.nested_compile_region({kind}.forward)" for kind in kinds)
    if way is CompileWay.AS_IT_IS:
        return ""
    wanted = kinds[0] if len(kinds) == 1 else f"({', '.join(kinds)})"
    dynamic = "dynamic=True" if way is CompileWay.EACH_LAYER_DYNAMIC else ""
    return (
        "for layer in model.modules():  # in place of torch.compile(model)\n"
        f"    if isinstance(layer, {wanted}):\n"
        f"        layer.compile({dynamic})"
    )


def result_of(trial: CompileTrial) -> str:
    """What came of a way beside its figures: what it computes, or why it did not come to its end; "" of no way."""
    if trial.problem:
        return f"ended early: {trial.problem}"
    if trial.compile_way is CompileWay.AS_IT_IS:
        return ""
    if trial.same is SameOutputs.YES:
        return "computes the same"
    if trial.same is SameOutputs.NO:
        return f"does not compute the same: {trial.difference}"
    return f"results not compared: {trial.difference}"
