"""From a finding about a constraint to the few operations that show it.

The recording already says which op introduces what is forbidden and which ops suffer from it, so there is no search and
no arithmetic: a handful of slices is judged again as metadata, and the smallest one that is found fault with in the
same words is the answer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from inductor_debug_schema import Finding, Location, Stage

from inductor_debug.accelerators.profile import Profile
from inductor_debug.repro.program.from_recording import Recorded, program_of
from inductor_debug.repro.program.program import Program, between, cone, cut
from inductor_debug.rules.judge import judge
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.finding_places import FindingPlaces
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.recording.ops import Op, Origin, Recording
from inductor_debug.rules.registry import constraints

_MOST_COVERED = 16
"""Ops that suffer which are tried as the end of a slice; the first one nearly always does."""


@dataclass(frozen=True)
class Slice:
    """The smallest part of a recording that breaks the rule in the same way.

    `cause` is the op that introduces it, None for a parameter or input; `culprit` the op that is judged, which is where
    a script looks. `root` carries the subject (`float64`, `63`). `attempts` counts the slices that were judged.
    """

    program: Program
    rule: Constraint
    root: Root
    cause: Op | None
    culprit: Op
    symbols: dict[str, int]
    nodes_before: int
    attempts: int


def findings_of(
    recording: Recording, profile: Profile, *, stage: Stage, target: str, fallback: Location
) -> list[Finding]:
    """What the profile's rules say about the recording."""
    return judge(recording, profile, stage=stage, target=target, fallback=fallback)


def sliced(recording: Recording, profile: Profile, finding: Finding, fallback: Location) -> Slice | None:
    """The slice for a finding of `findings_of`; None where even the whole recording no longer has it."""
    rule = next((rule for rule in constraints() if rule.id == finding.rule), None)
    group = _group(rule, recording, profile, finding, fallback) if rule is not None else None
    if rule is None or group is None:
        return None
    whole = program_of(recording)
    attempts = 0
    for root in group:
        for kept in _candidates(root, whole.program):
            attempts += 1
            culprit = _culprit(rule, recording, profile, root, kept, fallback)
            if culprit is not None:
                cause = root.cause if isinstance(root.cause, Op) else None
                program = cut(whole.program, kept, whole.program.steps[kept[-1]].outputs)
                return Slice(program, rule, root, cause, culprit, _symbols_in(whole), len(recording.ops), attempts)
    return None


def _symbols_in(whole: Recorded) -> dict[str, int]:
    return whole.symbols


def _group(
    rule: Constraint, recording: Recording, profile: Profile, finding: Finding, fallback: Location
) -> list[Root] | None:
    roots = Roots(FindingPlaces(fallback, recording.declarations))
    rule.inspect(JudgedRun(recording, profile), roots)
    for group in roots.by_place():
        if (group[0].place.path, group[0].place.range) == (finding.path, finding.range):
            return group
    return None


def _candidates(root: Root, program: Program) -> Iterator[list[int]]:
    """Sets of steps, smallest first: the op itself, then the ways from where it begins to where it hurts."""
    begin = min(root.introduced, default=None)
    ends = sorted(root.covers)[:_MOST_COVERED]
    found: list[list[int]] = []
    if begin is not None:
        found.append([begin])
        found += [between(program, begin, end) for end in ends if end > begin]
    else:
        found += [[end] for end in ends]
    if begin is None and root.covers:
        first = min(root.covers)
        found += [between(program, first, end) for end in ends if end > first]
    found += [cone(program, program.steps[end].outputs) for end in ends[:1]]
    seen: set[tuple[int, ...]] = set()
    for kept in sorted(found, key=len):
        if tuple(kept) not in seen:
            seen.add(tuple(kept))
            yield kept


def _culprit(
    rule: Constraint, recording: Recording, profile: Profile, root: Root, kept: list[int], fallback: Location
) -> Op | None:
    """The op that breaks the rule in the slice, as `root` does in the whole; None if the slice does not break it."""
    part = _part(recording, kept)
    roots = Roots(FindingPlaces(fallback))
    rule.inspect(JudgedRun(part, profile), roots)
    for group in roots.by_place():
        for found in group:
            same_cause = not isinstance(root.cause, Op) or (
                isinstance(found.cause, Op) and found.cause.overload == root.cause.overload
            )
            if found.subject == root.subject and same_cause and found.covers:
                return part.ops[min(found.covers)]
    return None


def _part(recording: Recording, kept: list[int]) -> Recording:
    """The ops of a slice as a recording of their own, whose outside values are inputs."""
    part = Recording()
    made: set[int] = set()
    for index in kept:
        op = dataclasses.replace(recording.ops[index], index=len(part.ops))
        for meta in op.inputs:
            if meta.value not in made and meta.value not in part.origins:
                known = recording.origins.get(meta.value)
                part.origins[meta.value] = known or Origin("input", f"value {meta.value}", op.frames, meta)
        made.update(meta.value for meta in op.outputs)
        part.ops.append(op)
    return part
