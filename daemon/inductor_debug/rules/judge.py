"""Judges a recording against an accelerator's profile: ops in, findings out.

The judge folds: one finding for each rule and root expression, with a count, however many layers repeat it. It decides
neither what is strict nor what is silenced (`engine.results.policy`) and never looks at source text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inductor_debug_schema import Direction, Finding, Location, Related, Stage

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.judging import finding_places, wording
from inductor_debug.rules.judging.adapter_rules import adapter_rules
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.finding_places import FindingPlaces
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.recording.ops import Op, Origin, Recording
from inductor_debug.rules.registry import constraints

_CONSTRAINTS = constraints()
"""Loaded with this module, so that a fork server has them before it forks."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding, and the indexes of the ops that introduce what it tells of."""

    finding: Finding
    causes: frozenset[int]


def judge(
    recording: Recording,
    profile: Profile,
    *,
    stage: Stage,
    target: str,
    fallback: Location,
    rules: Sequence[Constraint] | None = None,
) -> list[Finding]:
    """The findings of `judge_with_causes`."""
    judged = judge_with_causes(recording, profile, stage=stage, target=target, fallback=fallback, rules=rules)
    return [one.finding for one in judged]


def judge_with_causes(
    recording: Recording,
    profile: Profile,
    *,
    stage: Stage,
    target: str,
    fallback: Location,
    rules: Sequence[Constraint] | None = None,
) -> list[Judged]:
    """Everything in `recording` that `profile` does not allow, one finding for each rule and root expression.

    Args:
        recording: the ops of one stage of one target.
        profile: what the accelerator can do.
        stage: the stage that made the recording.
        target: the target's name.
        fallback: the place to show where no frame of a root lies in the project.
        rules: the only ones to ask; None for all there are, those of the profile's adapter among them.

    Returns:
        Findings in the order of the rules, then of the recording; severities are those of the profile, usually warning.
    """
    run = JudgedRun(recording, profile)
    judged: list[Judged] = []
    for rule in (*_CONSTRAINTS, *adapter_rules(profile)) if rules is None else rules:
        if rule.applies(profile):
            roots = Roots(FindingPlaces(fallback, recording.declarations))
            rule.inspect(run, roots)
            groups = roots.by_place()
            judged += [
                Judged(_finding(rule, group, recording, profile, stage, target), _causes(group, recording))
                for group in groups
            ]
    return judged


def _finding(
    rule: Constraint, group: Sequence[Root], recording: Recording, profile: Profile, stage: Stage, target: str
) -> Finding:
    place, cause = group[0].place, group[0].cause
    covered = set[int]().union(*(root.covers for root in group))
    introduced = set[int]().union(*(root.introduced for root in group))
    first = recording.ops[min(covered)]
    direction = _direction(group)
    return Finding(
        rule=rule.id,
        severity=min((root.severity for root in group), key=lambda severity: severity.rank),
        message=wording.of_direction(rule.message(group, profile), direction),
        path=place.path,
        range=place.range,
        stage=stage,
        target=target,
        op=cause.overload if isinstance(cause, Op) else None,
        module=(cause.module if isinstance(cause, Op) else _owner(cause) or first.module) or None,
        count=len(covered | introduced),
        related=finding_places.limited(place, _related(group)),
        cause=rule.cause(group),
        facts=rule.facts(group, profile),
        direction=direction,
    )


def _causes(group: Sequence[Root], recording: Recording) -> frozenset[int]:
    """The ops that introduce it; where outside values do, the ops that take those."""
    introduced = set[int]().union(*(root.introduced for root in group))
    blamed = {origin.name for root in group for origin in root.origins}
    values = {value for value, origin in recording.origins.items() if origin.name in blamed} if blamed else set()
    covered = set[int]().union(*(root.covers for root in group))
    taking = {i for i in covered if any(meta.value in values for meta in recording.ops[i].inputs)} if values else set()
    return frozenset(introduced | taking or covered)


def _direction(group: Sequence[Root]) -> Direction | None:
    """Backward only where autograd alone is the cause; None where only values from outside are."""
    causes = [root.cause for root in group if isinstance(root.cause, Op)]
    if not causes:
        return None
    return (
        Direction.BACKWARD
        if len(causes) == len(group) and all(op.autograd_node for op in causes)
        else Direction.FORWARD
    )


def _owner(origin: Origin) -> str:
    """The module that holds a parameter: `encoder.fc` for `encoder.fc.weight`."""
    return origin.name.rpartition(".")[0] if origin.kind in ("parameter", "buffer") else ""


def _related(group: Sequence[Root]) -> list[Related]:
    found: list[Related] = []
    for root in group:
        found += finding_places.library_frames(root.cause.frames)
    for root in group:
        for frames, message in root.remarks:
            found += finding_places.use(frames, message)
    for root in group:
        for op in root.uses:
            found += finding_places.use(op.frames, f"used by {op.packet} here")
    for root in group:
        found += finding_places.callers(root.cause.frames)
    return found
