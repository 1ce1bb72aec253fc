"""What targets cost, out of what their stages tell."""

from __future__ import annotations

from inductor_debug_schema import FileReport, RunCost, TargetReport


def cost_of(target: TargetReport) -> RunCost | None:
    """What the deepest stage that knows it says."""
    return next((report.cost for report in reversed(target.stages) if report.cost is not None), None)


def costs_in(report: FileReport) -> dict[str, RunCost]:
    """What is known of targets, by name."""
    return {target.name: cost for target in report.targets if (cost := cost_of(target)) is not None}
