"""The rule `alignment`: sizes that do not fill the accelerator's tiles."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import Misalignment, OddSize

from inductor_debug.accelerators.capabilities import Alignment, Dimensions
from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots, RootSet, union
from inductor_debug.rules.recording import operators, strides
from inductor_debug.rules.recording.ops import Op, Recording, Size, TensorMeta
from inductor_debug.rules.recording.symbolic_sizes import misaligned

Sizes = dict[str, RootSet]
"""Where each odd size of a value comes from, by the size as it is written."""


class AlignmentRule(Constraint):
    """Finds where sizes come from that are not multiples of what the accelerator wants."""

    id = "alignment"
    order = 2
    summary = "A dimension's size is not a multiple of what the accelerator requires."
    what = """
        Accelerators move memory in tiles of a fixed size: a stick of 128 bytes is 64 float16 values. The profile says
        what sizes must be multiples of, in elements or bytes, and whether that concerns all dimensions or only the
        innermost one. Sizes of 1 and scalars are exempt. The finding stands where the odd size comes from
        (`nn.Linear(64, 63)`, the example inputs, a slice), not at the many ops that hand it on; those are counted.

        Sizes that are not known (dynamic shapes) are judged as far as they are: `64*s0` is aligned whatever `s0` is,
        `8*s0 + 4` can never be a multiple of 8, and `s0` alone is left alone."""
    why = """
        A tile that is only partly filled is computed in full, so a size of 65 costs as much as 128. Worse, some
        backends do not mask the rest: Spyre's users have seen more than half of the elements of such tensors come
        out wrong, without an error."""
    example = """
        ```python
        self.classifier = nn.Linear(768, 10)   # 10 float16 values in a stick for 64
        tokens = tokens[:, 1:]                 # 127 where there were 128
        ```"""
    fix = """
        Round the size up and ignore what is too much: 64 outputs of which 10 are used, a vocabulary padded to the
        next multiple, a sequence padded to a full tile with a mask. Slice only at the very end, on the host."""

    def applies(self, profile: Profile) -> bool:
        """Whether the profile aligns sizes."""
        return profile.alignment is not None

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Follows odd sizes from where they appear through the ops that hand them on."""
        assert run.profile.alignment is not None
        walk = _Walk(run.recording, run.profile, run.profile.alignment, roots)
        for op in run.recording.ops:
            walk.step(op)

    def facts(self, found: Sequence[Root], profile: Profile) -> Misalignment:
        """The odd sizes, and the next ones that fill the tiles of the tensor which first breaks the rule."""
        assert profile.alignment is not None
        tensor = next(root.judged for root in found if root.judged is not None)
        multiple = _unit(profile, profile.alignment, tensor)
        subjects = dict.fromkeys(root.subject for root in found)
        odd = [_odd_size(subject, multiple) for subject in subjects]
        declared = any(origin.kind in ("parameter", "buffer") for root in found for origin in root.origins)
        return Misalignment(odd, multiple, tensor.dtype, declared)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """Which size is odd, what it should be, and who introduces it."""
        assert profile.alignment is not None
        names = list(dict.fromkeys(root.subject for root in found))
        sizes = f"{'size' if len(names) == 1 else 'sizes'} {wording.listing(names)}"
        verb = "is not a multiple" if len(names) == 1 else "are not multiples"
        alignment = profile.alignment
        unit = f"{alignment.amount} {'bytes' if alignment.in_bytes else 'elements'}"
        facts = self.facts(found, profile)
        which = "the innermost dimension" if alignment.dimensions is Dimensions.LAST else "every dimension"
        where = wording.whereabouts(found, "it" if len(names) == 1 else "them")
        wanted = f"as accelerator '{profile.name}' requires of {which}"
        return f"{sizes} {verb} of {unit}{_in_brackets(facts, alignment)}, {wanted}; {where}."


class _Walk:
    """One pass over a recording: which values have which odd sizes, and from where.

    An odd size is followed in whatever dimension it stands, since views and reductions may bring it to a place where it
    is judged; it counts against an op only in such a place.
    """

    def __init__(self, recording: Recording, profile: Profile, alignment: Alignment, roots: Roots) -> None:
        self._recording = recording
        self._profile = profile
        self._alignment = alignment
        self._roots = roots
        self._values: dict[int, Sizes] = {}
        self._widest = alignment.elements(1)
        self._inputs = {
            str(size): origin
            for origin in recording.origins.values()
            if origin.kind == "input"
            for size in self._followed(origin.meta)
        }

    def step(self, op: Op) -> None:
        """Looks at one op: inputs first, then what it makes."""
        sources = [self._known(meta, op) for meta in op.inputs]
        idle = op.is_view or operators.only_reads_metadata(op.packet)
        for meta in op.outputs:
            if meta.value not in self._values:
                self._values[meta.value] = self._made(op, meta, sources)
        if idle:
            return
        for meta in (*op.inputs, *op.outputs):
            known = self._values[meta.value]
            for size in self._judged(meta):
                for root in known.get(str(size), ()):
                    root.cover(op)
                    root.judged = root.judged or meta

    def _judged(self, meta: TensorMeta) -> list[Size]:
        """The sizes of `meta` that break the rule."""
        if not meta.shape:
            return []
        unit = _unit(self._profile, self._alignment, meta)
        if self._alignment.dimensions is Dimensions.ALL:
            return [size for size in meta.shape if misaligned(size, unit)]
        index = strides.innermost(meta)
        return [meta.shape[index]] if index is not None and misaligned(meta.shape[index], unit) else []

    def _followed(self, meta: TensorMeta) -> list[Size]:
        """The sizes of `meta` that could break the rule in some dimension and dtype."""
        return [size for size in meta.shape if misaligned(size, self._widest)]

    def _known(self, meta: TensorMeta, op: Op) -> Sizes:
        known = self._values.get(meta.value)
        if known is None:
            known = {}
            origin = self._recording.origins.get(meta.value)
            for size in self._followed(meta):
                subject = str(size)
                root = self._roots.of_origin(origin, op, subject) if origin else self._roots.of_op(op, subject)
                known[subject] = (root,)
            self._values[meta.value] = known
        return known

    def _made(self, op: Op, meta: TensorMeta, sources: list[Sizes]) -> Sizes:
        # Sizes that a reshape merges into others are kept in mind, for the reshape that takes them apart again.
        made = {subject: union(s.get(subject, ()) for s in sources) for source in sources for subject in source}
        reshapes = operators.reshapes(op.packet)
        for size in self._followed(meta):
            subject = str(size)
            exact = [
                source[subject]
                for source, given in zip(sources, op.inputs, strict=True)
                if subject in source and size in given.shape
            ]
            if self._conversion(op, meta, size) and not any(root.covers for root in union(exact)):
                made[subject] = (self._roots.of_op(op, subject),)
            elif exact:
                made[subject] = union(exact)
            elif subject not in made or not reshapes:
                made[subject] = self._new(op, subject, sources, reshapes)
        return made

    def _new(self, op: Op, subject: str, sources: list[Sizes], reshapes: bool) -> RootSet:
        """The roots of an odd size that none of the inputs of `op` has."""
        if (reshapes or not op.inputs) and subject in self._inputs:
            # A mask or a position made to fit the example inputs has its size from them.
            return (self._roots.of_origin(self._inputs[subject], op, subject),)
        return self._derived(op, sources) or (self._roots.of_op(op, subject),)

    def _conversion(self, op: Op, meta: TensorMeta, size: Size) -> bool:
        """Whether a size that was fine in the input's dtype breaks the rule only because of the new dtype."""
        if not self._alignment.in_bytes or len(op.inputs) != 1 or op.inputs[0].dtype == meta.dtype:
            return False
        return size in self._judged(meta) and size in op.inputs[0].shape and size not in self._judged(op.inputs[0])

    def _derived(self, op: Op, sources: list[Sizes]) -> RootSet:
        """The roots of a new odd size that follows from odd sizes of the inputs: 126 when two of 63 are joined."""
        bad: list[RootSet] = []
        for meta, source in zip(op.inputs, sources, strict=True):
            bad += [source[str(size)] for size in self._judged(meta) if str(size) in source]
        return union(bad)


def _unit(profile: Profile, alignment: Alignment, meta: TensorMeta) -> int:
    """The number of elements that sizes of the tensor must be a multiple of."""
    return alignment.elements(profile.device_bytes(meta.dtype, meta.element_bytes))


def _odd_size(subject: str, multiple: int) -> OddSize:
    """A size as it is written, with the next valid one where no symbol leaves that open."""
    if not subject.isdecimal():
        return OddSize(subject, None)
    size = int(subject)
    return OddSize(size, -(-size // multiple) * multiple)


def _in_brackets(facts: Misalignment, alignment: Alignment) -> str:
    """What a multiple of bytes is in elements, and what the sizes should be: ` (64 of float16; next: 128)`."""
    told = [f"{facts.multiple} of {facts.dtype}"] if alignment.in_bytes else []
    following = [odd for odd in facts.odd_sizes if odd.next_size not in (None, odd.odd_size)]
    if len(facts.odd_sizes) == 1 and following:
        told.append(f"next: {following[0].next_size}")
    elif following:
        told.append("next: " + wording.listing(f"{odd.next_size} for {odd.odd_size}" for odd in following))
    return f" ({'; '.join(told)})" if told else ""
