"""The rule `dtype`: number formats the accelerator does not have."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import UnwantedDtype

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots, Trouble, fold_inherited
from inductor_debug.rules.recording.ops import Op, TensorMeta


class DtypeRule(Constraint):
    """Finds the ops and values that bring an unsupported dtype into the model."""

    id = "dtype"
    order = 1
    summary = "A tensor has a dtype that the accelerator does not support."
    what = """
        An accelerator computes with a handful of number formats. Somewhere a tensor of another one comes into
        being, and the ops after it carry it on. The finding stands at the expression that *introduces* the dtype and
        says how many ops inherit it; converting back later ends the chain and is no second finding.

        Some accelerators accept a dtype but store it as a smaller one (int64 as int32). That is told as well: it works
        as long as the values fit. Ops that refuse a dtype the accelerator otherwise has are `unsupported-op`."""
    why = """
        Unsupported dtypes end in a compile error at best. At worst the runtime falls back to the CPU for a single op,
        with two copies across the bus in every step, or rounds silently."""
    example = """
        ```python
        scores = (q @ k.transpose(-2, -1)).double()   # float64 starts here
        weights = scores.softmax(dim=-1)              # inherits it
        return weights.float() @ v                    # and here it ends
        ```

        Other usual introducers: `torch.tensor(numpy_value)` and `torch.from_numpy` (float64 is NumPy's default),
        `dtype=torch.float64` in factories, `model.double()`, complex numbers in rotary embeddings, `torch.fft`."""
    fix = """
        Remove the conversion, or name a supported dtype at the expression: `.float()` instead of `.double()`,
        `torch.from_numpy(a).to(torch.float32)`. If one computation needs the precision, do it outside the compiled
        function. When a parameter is the cause, the finding stands at the line that declares it: give the layer a
        `dtype=` there or convert the model."""

    def applies(self, profile: Profile) -> bool:
        """Whether the profile lists dtypes."""
        return bool(profile.dtypes)

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Folds every dtype that is not supported as it is."""
        stored_as = run.profile.stored_as
        known: dict[str, Trouble | None] = {name: None for name in run.profile.dtypes if name not in stored_as}
        known |= {name: Trouble(name, stored.severity) for name, stored in stored_as.items()}

        def trouble_of(meta: TensorMeta) -> Trouble | None:
            if any(size == 0 for size in meta.shape):
                return None  # No element has the dtype: batch normalisation reserves such a tensor for its backward.
            if meta.dtype not in known:
                known[meta.dtype] = Trouble(meta.dtype)
            return known[meta.dtype]

        def starts_anew(op: Op, made: Trouble, taken: list[Trouble]) -> bool:
            # An op that is told to make another troubled dtype than those it was given introduces that one itself,
            # and so does one that makes a forbidden dtype of one that is merely stored as another.
            if any(made.subject == trouble.subject for trouble in taken):
                return False
            if op.arguments.get("dtype") == made.subject:
                return True
            return made.subject not in stored_as and all(item.subject in stored_as for item in taken)

        fold_inherited(run.recording, roots, trouble_of, starts_anew)

    def facts(self, found: Sequence[Root], profile: Profile) -> UnwantedDtype | None:
        """The dtypes that the accelerator does not have; of one that it stores as another nothing must change."""
        forbidden = dict.fromkeys(root.subject for root in found if root.subject not in profile.stored_as)
        return UnwantedDtype(list(forbidden)) if forbidden else None

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """What the dtype is and who introduces it."""
        forbidden = [root for root in found if root.subject not in profile.stored_as]
        kept = [root for root in found if root.subject in profile.stored_as]
        names = list(dict.fromkeys(root.subject for root in forbidden or kept))
        where = wording.whereabouts(forbidden or kept, "it" if len(names) == 1 else "them")
        also = f" The same expression also introduces {kept[0].subject}." if kept else ""
        if forbidden:
            verb = "is" if len(names) == 1 else "are"
            return f"{wording.listing(names)} {verb} not supported by accelerator '{profile.name}'; {where}.{also}"
        stored = profile.stored_as[names[0]]
        reason = f": {stored.reason}" if stored.reason else ""
        return f"accelerator '{profile.name}' stores {names[0]} as {stored.dtype}{reason}; {where}."
