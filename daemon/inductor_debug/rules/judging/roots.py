"""Root causes while they are being collected: which op or origin introduced something, and which ops carry it on.

Roots of one rule are folded by the innermost expression that caused them as soon as they are met, so that twelve
layers running the same line are one root and sets of roots stay small however deep the model is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from inductor_debug_schema import Facts, Location, Severity

from inductor_debug.rules.judging.finding_places import FindingPlaces
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.ops import Frame, Op, Origin, Recording, TensorMeta

_MOST_USES = 64
"""Consumers kept for show; repeated layers would otherwise keep thousands."""


@dataclass(eq=False, slots=True)
class Root:
    """One cause of trouble, folded over all runs of one expression. `place` is where the project shows it.

    `cause` is the first op or origin met there, `subject` what is forbidden (a dtype, a size, an operator), `detail`
    what else a message should say of it, `judged` the first tensor that breaks the rule because of it,
    `facts` what the rule knew of it as data when it met it.
    `introduced` holds the indexes of the ops that introduce it, `covers` those of all ops that it concerns, roots
    included. `uses` are ops worth showing as consumers, `remarks` further places with what to say of them. `severity`
    overrides the usual warning.
    """

    cause: Op | Origin
    place: Location
    subject: str
    severity: Severity = Severity.WARNING
    detail: str = ""
    judged: TensorMeta | None = None
    facts: Facts | None = None
    introduced: set[int] = field(default_factory=set)
    covers: set[int] = field(default_factory=set)
    uses: list[Op] = field(default_factory=list)
    remarks: list[tuple[tuple[Frame, ...], str]] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)

    def cover(self, op: Op) -> None:
        """Counts `op` among those that the root concerns; the first one to meet an outside value is shown."""
        self.covers.add(op.index)
        if self.origins and not self.uses:
            self.uses.append(op)

    def used_by(self, op: Op) -> None:
        """Counts `op` and keeps it to be shown as a consumer."""
        if op.index not in self.covers:
            self.covers.add(op.index)
            if len(self.uses) < _MOST_USES:
                self.uses.append(op)


RootSet = tuple[Root, ...]
"""The roots that a value inherits; almost always none or one."""


class Roots:
    """All roots of one rule in one recording, by place and subject, in the order in which they were met."""

    def __init__(self, places: FindingPlaces) -> None:
        self._places = places
        self._roots: dict[tuple[Location, Location, str], Root] = {}

    def of_op(self, op: Op, subject: str, severity: Severity = Severity.WARNING) -> Root:
        """The root that `op` is, or belongs to, for `subject`. Does not cover the op yet."""
        root = self._at(op, op.frames, subject, severity)
        root.introduced.add(op.index)
        return root

    def of_origin(self, origin: Origin, user: Op, subject: str, severity: Severity = Severity.WARNING) -> Root:
        """The root that an outside value is; `user` is the op that first meets it, for values nobody declared."""
        declared = self._places.has_project_frame(origin.frames)
        root = self._at(origin, origin.frames if declared else user.frames, subject, severity)
        if all(known.name != origin.name for known in root.origins):
            root.origins.append(origin)
        return root

    def of_target(self, op: Op, subject: str, severity: Severity = Severity.WARNING) -> Root:
        """A root that is about the whole run, shown at its target; `op` stands for all that it concerns."""
        whole = replace(op, frames=(), module="")
        root = self._at(whole, (), subject, severity)
        root.introduced.add(op.index)
        return root

    def _at(self, cause: Op | Origin, frames: tuple[Frame, ...], subject: str, severity: Severity) -> Root:
        place = self._places.primary(frames, cause.module if isinstance(cause, Op) else "")
        key = (place, frames[0].location if frames else place, subject)
        root = self._roots.get(key)
        if root is None:
            root = self._roots[key] = Root(cause, place, subject, severity)
        return root

    def by_place(self) -> list[list[Root]]:
        """Roots that concern at least one op, grouped by place, in the order in which they were met."""
        groups: dict[Location, list[Root]] = {}
        for root in self._roots.values():
            if root.covers:
                groups.setdefault(root.place, []).append(root)
        return list(groups.values())


def union(sets: Iterable[RootSet]) -> RootSet:
    """All roots of several values, each once, in order."""
    seen: dict[int, Root] = {}
    for roots in sets:
        for root in roots:
            seen.setdefault(id(root), root)
    return tuple(seen.values())


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with a tensor: the forbidden `subject`, how bad it is, and what is known of it as data."""

    subject: str
    severity: Severity = Severity.WARNING
    facts: Facts | None = None

    def made_by(self, op: Op, roots: Roots) -> Root:
        """The root of the trouble where an op brings it in."""
        return self._told(roots.of_op(op, self.subject, self.severity))

    def brought_by(self, origin: Origin, user: Op, roots: Roots) -> Root:
        """The root of the trouble where a value from outside brings it in, which `user` is the first to meet."""
        return self._told(roots.of_origin(origin, user, self.subject, self.severity))

    def _told(self, root: Root) -> Root:
        root.facts = root.facts or self.facts
        return root


def fold_inherited(
    recording: Recording,
    roots: Roots,
    trouble_of: Callable[[TensorMeta], Trouble | None],
    starts_anew: Callable[[Op, Trouble, list[Trouble]], bool] = lambda op, made, taken: False,
) -> None:
    """Folds a property that values hand on: a dtype, a size in memory, a rank.

    An op that produces a troubled tensor from good ones is a root; one that consumes troubled tensors inherits
    their roots, whether or not it gets rid of the trouble; troubled values that no op made have their origin as root.
    An op of the backward pass inherits from the forward op that it belongs to: a gradient has the dtype of its value.

    Args:
        recording: the ops in the order in which they ran.
        roots: receives the roots.
        trouble_of: what is wrong with a tensor, if anything; called often, so it must be cheap.
        starts_anew: decides whether an op that consumes trouble introduces trouble of its own all the same.
    """
    inherited: dict[int, RootSet] = {}
    forward: dict[int, RootSet] = {}
    for op in recording.ops:
        taken: list[Trouble] = []
        handed: list[RootSet] = []
        made: list[RootSet] = []
        for meta in op.inputs:
            trouble = trouble_of(meta)
            if trouble is not None:
                taken.append(trouble)
                handed.append(_roots_of(meta, trouble, op, recording, roots, inherited))
        if not operators.only_aliases(op.packet):
            for root in union(handed):
                root.cover(op)
        for meta in op.outputs:
            trouble = trouble_of(meta)
            if trouble is None or meta.value in inherited:
                continue
            known = _of_forward(op, trouble, forward) if not taken else ()
            if known:
                for root in known:
                    root.cover(op)
                inherited[meta.value] = known
            elif not taken or starts_anew(op, trouble, taken):
                root = trouble.made_by(op, roots)
                root.cover(op)
                inherited[meta.value] = (root,)
            else:
                inherited[meta.value] = _like(trouble, handed)
            made.append(inherited[meta.value])
        if (handed or made) and op.seq_nr is not None and not op.autograd_node:
            forward[op.seq_nr] = union([forward.get(op.seq_nr, ()), *handed, *made])


def _of_forward(op: Op, trouble: Trouble, forward: dict[int, RootSet]) -> RootSet:
    """The roots of the same trouble at the forward op whose backward `op` is part of."""
    if not op.autograd_node or op.seq_nr is None:
        return ()
    return tuple(root for root in forward.get(op.seq_nr, ()) if root.subject == trouble.subject)


def _roots_of(
    meta: TensorMeta, trouble: Trouble, op: Op, recording: Recording, roots: Roots, inherited: dict[int, RootSet]
) -> RootSet:
    known = inherited.get(meta.value)
    if known is None:
        origin = recording.origins.get(meta.value)
        root = trouble.made_by(op, roots) if origin is None else trouble.brought_by(origin, op, roots)
        known = inherited[meta.value] = (root,)
    return known


def _like(trouble: Trouble, handed: list[RootSet]) -> RootSet:
    """Of the roots that inputs hand on, those of the same subject where there are any."""
    everything = union(handed)
    return tuple(root for root in everything if root.subject == trouble.subject) or everything
