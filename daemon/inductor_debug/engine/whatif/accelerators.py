"""One capture judged for several accelerators.

Each column is what a check for that accelerator reports: the same judgement of the same recordings, then the same
policy. Only what a worker would have told of the run itself is taken over as it is. Nothing is captured here.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inductor_debug_schema import (
    AcceleratorColumn,
    AcceleratorComparison,
    FileReport,
    Finding,
    RuleCount,
    Stage,
    TargetCost,
    to_wire,
)

from inductor_debug.accelerators.profile import Profile, read_profile
from inductor_debug.engine.results.merge import Part, Results
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.rules.captures.capture_judging import Capture, judged, judged_others, merged, told_by
from inductor_debug.rules.captures.costs import costs_of

Report = Callable[[Results, Settings], FileReport]
"""What policy makes of results under some settings."""


def judges_itself(settings: Settings) -> bool:
    """Whether the accelerator's adapter has a say in findings, so that only a run where it is installed can judge."""
    hooks = settings.profile.get("source", {}).get("adapter", {}).get("hooks", ())
    return bool({"constraints", "decompositions", "layout"} & {*hooks})


def compared(
    results: Results,
    target: str,
    alternatives: Sequence[Settings],
    chosen: Settings,
    report: Report,
    judged_by_adapters: Mapping[str, Results],
) -> AcceleratorComparison:
    """Judges what a run has captured for each of `alternatives`.

    Args:
        results: those of a run that kept its captures.
        target: what was captured, "" for the whole file.
        alternatives: the settings with each accelerator in turn.
        chosen: the settings as they are.
        report: applies policy.
        judged_by_adapters: what runs for accelerators brought whose adapters have a say in it, by accelerator.

    Raises:
        CaptureError: a capture cannot be read.
    """
    captures = {part: Capture.of(results.captures[part]) for part in _in_order(results)}
    ours = [
        finding for capture in captures.values() for finding in judged_others(capture, read_profile(chosen.profile))
    ]
    plain = dataclasses.replace(results, general=[finding for finding in results.general if finding not in ours])
    columns = [
        _column(judged_by_adapters.get(settings.accelerator), plain, captures, settings, chosen, report)
        for settings in alternatives
    ]
    return AcceleratorComparison(path=results.path, target=target, targets=results.targets(), columns=columns)


def shortened(comparison: AcceleratorComparison, budget: int) -> AcceleratorComparison:
    """The comparison with as many findings as `budget` bytes of JSON hold, shared evenly among the accelerators.

    Of each finding stays what a table shows: rule, severity, message, place.
    """
    share = budget // max(len(comparison.columns), 1)
    return dataclasses.replace(comparison, columns=[_shortened(column, share) for column in comparison.columns])


def _shortened(column: AcceleratorColumn, budget: int) -> AcceleratorColumn:
    kept: list[Finding] = []
    for finding in column.findings:
        plain = dataclasses.replace(finding, related=[], facts=None)
        budget -= len(json.dumps(to_wire(plain)))
        if budget < 0:
            break
        kept.append(plain)
    return dataclasses.replace(column, findings=kept, left_out=len(column.findings) - len(kept))


def usual_accelerators(settings: Settings, names: Sequence[str]) -> list[str]:
    """What to compare where nobody says: the one that is chosen, and all that can be chosen by name."""
    chosen = [settings.accelerator] if settings.chosen_accelerator is not None else []
    return list(dict.fromkeys([*chosen, *names]))


def judged_parts(captures: dict[Part, Capture], profile: Profile) -> dict[Part, list[Finding]]:
    """The findings of each stage of each target on an accelerator."""
    told: dict[str, set[Any]] = {}
    parts: dict[Part, list[Finding]] = {}
    for (name, stage), capture in captures.items():
        found = parts[name, stage] = judged(capture, profile, told.get(name, ()))
        told.setdefault(name, set()).update(told_by(found))
    return parts


def _in_order(results: Results) -> list[Part]:
    """The captured parts, earlier stages of a target before later ones."""
    stages = list(Stage)
    return sorted(results.captures, key=lambda part: (part[0], stages.index(part[1])))


def _column(
    judged_there: Results | None,
    results: Results,
    captures: dict[Part, Capture],
    settings: Settings,
    chosen: Settings,
    report: Report,
) -> AcceleratorColumn:
    profile = read_profile(settings.profile)
    if judged_there is None:
        parts = {**results.parts, **judged_parts(captures, profile)}
        others = [finding for capture in captures.values() for finding in judged_others(capture, profile)]
        judged_there = dataclasses.replace(results, parts=parts, general=merged(results.general, others))
    judged_again = report(judged_there, settings)
    counts = Counter((finding.rule, finding.severity) for finding in judged_again.findings)
    return AcceleratorColumn(
        accelerator=settings.accelerator,
        name=profile.name,
        title=profile.title,
        chosen=settings.accelerator == chosen.accelerator,
        status=judged_again.status,
        device_bytes=profile.memory_bytes,
        counts=[
            RuleCount(rule, severity, count)
            for (rule, severity), count in sorted(counts.items(), key=lambda item: (item[0][1].rank, item[0][0]))
        ],
        costs=_costs(captures, profile),
        findings=judged_again.findings,
    )


def _costs(captures: dict[Part, Capture], profile: Profile) -> list[TargetCost]:
    """What each target costs, by the deepest stage that recorded anything of it."""
    deepest = {name: capture for (name, _), capture in captures.items() if capture.recording.ops}
    found = []
    for name, capture in deepest.items():
        costs = costs_of(capture.recording, profile)
        found.append(
            TargetCost(
                target=name,
                stage=capture.stage,
                ops=costs.ops,
                unsupported_ops=costs.unsupported_ops,
                operations=costs.operations,
                moved_bytes=costs.moved_bytes,
                peak_bytes=costs.peak_bytes,
                exact=costs.exact,
                seconds_at_least=costs.seconds,
                limited_by=costs.limited_by,
                fallback_ops=costs.fallback_ops,
                computing_ops=costs.computing_ops,
                parameters=costs.parameters,
                parameter_bytes=costs.parameter_bytes,
                padding_bytes=costs.padding_bytes,
            )
        )
    return found
