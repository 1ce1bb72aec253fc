"""Reads the results of runs side by side: names of leaves, pairs to compare, the worst of several runs.

Nothing is run and nothing is judged here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.kerneldiff.execution.settled import settled
from inductor_debug.kerneldiff.execution.side_runs import SideRun, of_call
from inductor_debug.kerneldiff.execution.structure import Pair, flatten, pairs
from inductor_debug.kerneldiff.judging.diff_report import TensorResult
from inductor_debug.kerneldiff.judging.output_judging import Values


def all_of(ran: SideRun) -> Any:
    """Everything that a run gave, as one structure."""
    return [ran.outputs, ran.inputs, ran.buffers, [leaf.value for leaf in ran.gradients]]


def values(ran: SideRun) -> Values:
    """Every leaf of a run by the name that results have."""
    found: Values = {}
    for index, (output, inputs) in enumerate(zip(ran.outputs, ran.inputs, strict=False)):
        found |= {leaf.path: leaf.value for leaf in flatten(output, of_call("output", index, ran.calls))}
        for leaf in flatten(inputs, "inputs"):
            found[of_call(input_name(leaf.path), index, ran.calls)] = leaf.value
    found |= {buffer_name(name): value for name, value in ran.buffers.items()}
    return found | {leaf.path: leaf.value for leaf in ran.gradients}


def input_name(path: str) -> str:
    """What results call an updated input: `inputs[0][1]` and `inputs[1]['mask']` as the call has them."""
    name = (
        path.replace("inputs[0]", "args", 1) if path.startswith("inputs[0]") else path.replace("inputs[1]", "kwargs", 1)
    )
    return f"{name} after the call"


def buffer_name(name: str) -> str:
    """What results call an updated buffer, such as the running statistics of a normalisation."""
    return f"buffer {name} after the call"


def updated_buffers(target: BuiltTarget, reference: SideRun, actual: SideRun) -> list[Pair]:
    """Buffers that either side wrote to; the target's own must have been put back."""
    before = {} if target.module is None else dict(target.module.named_buffers())
    found = []
    for name in dict.fromkeys([*reference.buffers, *actual.buffers]):
        left, right = reference.buffers.get(name), actual.buffers.get(name)
        original = before.get(name)
        if original is None or left is None or right is None or not (same(original, left) and same(original, right)):
            problem = "" if left is not None and right is not None else "only one side has it"
            found.append(Pair(buffer_name(name), left, right, problem))
    return found


def output_pairs(reference: SideRun, actual: SideRun) -> list[Pair]:
    """What both sides gave, call by call."""
    both = enumerate(zip(reference.outputs, actual.outputs, strict=False))
    return [
        pair for index, (left, right) in both for pair in pairs(left, right, of_call("output", index, reference.calls))
    ]


def updated_inputs(target: BuiltTarget, reference: SideRun, actual: SideRun) -> list[Pair]:
    """Inputs that either side wrote to."""
    found = []
    for index, call in enumerate(target.calls):
        before = flatten(settled(call), "")
        after = pairs(reference.inputs[index], actual.inputs[index], "inputs")
        for original, pair in zip(before, after, strict=False):
            tensor = original.value
            if pair.problem or not isinstance(tensor, torch.Tensor):
                continue
            if not (same(tensor, pair.reference) and same(tensor, pair.actual)):
                found.append(replace(pair, path=of_call(input_name(pair.path), index, reference.calls)))
    return found


def gradient_pairs(reference: SideRun, actual: SideRun) -> list[Pair]:
    """The gradients of both sides by name; one that is missing on a side is a problem, unless it is all zeros there.

    What no output depends on has no gradient in eager, and may have a gradient of zeros once it is compiled.
    """
    others = {leaf.path: leaf.value for leaf in actual.gradients}
    found = []
    for leaf in reference.gradients:
        value = others.get(leaf.path)
        problem = ""
        if (leaf.value is None) != (value is None):
            there = leaf.value if value is None else value
            if not bool(there.any()):
                found.append(Pair(leaf.path, there, there))
                continue
            problem = "only the reference has a gradient" if value is None else "only the backend has a gradient"
        found.append(Pair(leaf.path, leaf.value, value, problem))
    return found


def stopped_early(ran: SideRun) -> bool:
    """Whether a run has no outputs."""
    return ran.error is not None and ran.phase == "forward"


def same(left: Any, right: Any) -> bool:
    """Whether two tensors are equal to the last bit, NaNs included; what is no tensor always is."""
    if not (isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor)):
        return True
    if left.shape != right.shape or left.dtype != right.dtype or left.layout != right.layout:
        return False
    if left.is_quantized:
        return torch.equal(left, right)
    left, right = left.to_dense(), right.to_dense()
    if left.is_floating_point() or left.is_complex():
        return bool(((left == right) | (left.isnan() & right.isnan())).all())
    return torch.equal(left, right)


def worst_of(runs: list[list[TensorResult]]) -> list[TensorResult]:
    """For every leaf the worst run's result, with the ratios of all runs."""
    by_name: dict[str, list[TensorResult]] = {}
    for results in runs:
        for result in results:
            by_name.setdefault(result.name, []).append(result)
    worst = []
    for results in by_name.values():
        chosen = max(results, key=lambda result: (result.verdict.rank, result.ratio or 0.0))
        spread = tuple(result.ratio for result in results if result.ratio is not None)
        worst.append(replace(chosen, spread=spread))
    return worst
