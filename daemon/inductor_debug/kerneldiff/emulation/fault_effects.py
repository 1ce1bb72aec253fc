"""What became of faults that were put in on purpose: whether each changed any value, and whether it was found.

A fault that spoils nothing (a view, a sum of three numbers) has nothing to be found by, which is another outcome than
one that changed results and was missed. Nothing here puts faults in (`injected_faults`) and nothing looks for them
(`blaming`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch.fx import Node

from inductor_debug.kerneldiff.execution.node_graphs import tensors_in
from inductor_debug.kerneldiff.judging.diff_report import DiffReport, InjectedFault, Verdict
from inductor_debug.kerneldiff.judging.sides import same


@dataclass
class FaultEffect:
    """The operations that one fault was put into, and those whose result it changed."""

    operations: set[Node] = field(default_factory=set)
    changed: set[Node] = field(default_factory=set)

    def note(self, node: Node, clean: Any, spoilt: Any) -> None:
        """Takes in one operation's result without the fault and with it."""
        self.operations.add(node)
        if node not in self.changed and _differ(clean, spoilt):
            self.changed.add(node)


def tell(effects: Mapping[str, FaultEffect], report: DiffReport) -> None:
    """Adds to `report` what became of each fault, as data and in words."""
    report.faults = [_outcome(fault, effect, report) for fault, effect in effects.items()]
    report.notes += map(_sentence, report.faults)


def _outcome(fault: str, effect: FaultEffect, report: DiffReport) -> InjectedFault:
    """Where operations were compared, a fault is found if one that it changed is blamed."""
    if report.nodes:
        names = {name for blame in report.blame for name in (blame.node, *blame.nodes)}
        found = any(node.name in names for node in effect.changed)
    else:
        found = bool(effect.changed) and report.verdict in (Verdict.SUSPICIOUS, Verdict.WRONG)
    return InjectedFault(fault, len(effect.operations), len(effect.changed), found)


def _sentence(outcome: InjectedFault) -> str:
    fault, operations, changed = outcome.fault, _counted(outcome.operations), _counted(outcome.changed)
    if not outcome.operations:
        return f"{fault} was put into no operation: none comes from there."
    if not outcome.changed:
        return f"{fault} was put into {operations} and changes no value here: there is nothing to find."
    if outcome.found:
        return f"{fault} changes the results of {changed}, and was found."
    return f"{fault} changes the results of {changed}, and was not found."


def _counted(count: int) -> str:
    return "1 operation" if count == 1 else f"{count} operations"


def _differ(clean: Any, spoilt: Any) -> bool:
    left, right = tensors_in(clean), tensors_in(spoilt)
    return len(left) != len(right) or not all(map(same, left, right))
