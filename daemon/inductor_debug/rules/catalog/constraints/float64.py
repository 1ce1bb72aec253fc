"""The rule `float64`: double precision that code brings into a model of a narrower one, on whatever device."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import Severity, UnwantedDtype

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots, Trouble, fold_inherited
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.ops import Op, TensorMeta

_DOUBLE = {"float64": Trouble("float64"), "complex128": Trouble("complex128")}
_NARROWER = frozenset({"float32", "float16", "bfloat16"})
_OF_THE_MODEL = frozenset({"parameter", "input"})


class Float64Rule(Constraint):
    """Finds what brings float64 into a model whose parameters and inputs are narrower."""

    id = "float64"
    order = 7
    judges_accelerator = False
    summary = "Code computes in float64 though the model's parameters and inputs are narrower."
    what = """
        The model's own tensors are float32 or narrower, and somewhere float64 comes in that ops then compute with. The
        finding stands at the expression that introduces it, and says how many ops carry it on; what one function
        brings in is one finding. Where the code asks for it (`.double()`, `dtype=torch.float64`) that is information;
        where nobody asked (a NumPy array, a buffer made of one) it is a warning.

        Nothing is said of a model that is float64 itself, of a conversion that nothing computes with, or of single
        numbers. Accelerators that have no float64 at all are told by `dtype`."""
    why = """
        Most GPUs compute float64 many times slower than float32, some devices (MPS, most accelerators) not at all, and
        it takes twice the memory. One float64 tensor makes every result float64 that it is combined with."""
    example = """
        ```python
        self.register_buffer("scale", torch.from_numpy(np.linspace(0, 1, 64)))   # float64 is NumPy's default
        x = x * self.scale                                                       # float64 from here on
        ```"""
    fix = """
        Say the dtype where the tensor is made: `torch.from_numpy(a).float()`, `np.float32`. Where the precision is
        meant, silence the line, or turn the rule off for the project."""

    def applies(self, profile: Profile) -> bool:
        """Whether there is float64 at all; where there is none, `dtype` says so."""
        return profile.supports("float64")

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Follows double precision from where it comes in; what nothing computes with is left out."""
        own = {origin.meta.dtype for origin in run.recording.origins.values() if origin.kind in _OF_THE_MODEL}
        if not own & _NARROWER or own & _DOUBLE.keys():
            return
        fold_inherited(run.recording, roots, _trouble_of)
        for root in [root for group in roots.by_place() for root in group]:
            root.detail = wording.listing(sorted(own & _NARROWER))
            root.severity = Severity.INFORMATION if _asked_for(root) else Severity.WARNING
            covered = [run.recording.ops[index] for index in root.covers]
            # One number by itself (`np.random.rand(1).item()`) costs nothing, and has met no tensor of the model's.
            alone = all(size == 1 for op in covered for meta in op.outputs for size in meta.shape)
            if alone or not any(map(_computes, covered)):
                root.covers.clear()

    def cause(self, found: Sequence[Root]) -> str:
        """The function that brings it in: what computes with NumPy there does so in each of its statements.

        A graph break shows a constant again where the rest of the function takes it.
        """
        [first, *_] = found
        frames = [frame for origin in first.origins for frame in origin.frames]
        frames += [frame for use in first.uses for frame in use.frames]
        frames += first.cause.frames if isinstance(first.cause, Op) else ()
        function = next((frame.function for frame in frames if frame.location == first.place), "")
        return f"float64 in {function.rpartition('.')[2]}" if function else ""

    def facts(self, found: Sequence[Root], profile: Profile) -> UnwantedDtype:
        """The dtypes that are wider than the model."""
        return UnwantedDtype(list(dict.fromkeys(root.subject for root in found)))

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """What comes in and who brings it."""
        names = wording.listing(root.subject for root in found)
        return f"{names} comes into a model of {found[0].detail}; {wording.whereabouts(found)}."


def _trouble_of(meta: TensorMeta) -> Trouble | None:
    """Tensors without dimensions widen nothing, and those without elements cost nothing, so they do not count."""
    return _DOUBLE.get(meta.dtype) if meta.shape and 0 not in meta.shape else None


def _asked_for(root: Root) -> bool:
    """Whether an argument of the op that introduces it names the dtype."""
    return isinstance(root.cause, Op) and root.cause.arguments.get("dtype") == root.subject


def _computes(op: Op) -> bool:
    """Whether the op does arithmetic on double precision, rather than convert, copy or view it."""
    if op.is_view or operators.only_moves_data(op.packet) or operators.only_aliases(op.packet):
        return False
    return not operators.only_reads_metadata(op.packet) and any(_trouble_of(meta) for meta in op.inputs)
