"""Judges every output, updated input and gradient of a backend against the reference and the exact result.

One leaf at a time, named by its path. What cannot be measured is told as it is (a missing gradient, another shape);
a difference is never made up for a side that failed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from inductor_debug.kerneldiff.execution.operation_arithmetic import at_least, unit_of
from inductor_debug.kerneldiff.execution.structure import Pair, kind_of
from inductor_debug.kerneldiff.judging.anchoring import Error, anchor, error_from, larger, rounding_error
from inductor_debug.kerneldiff.judging.diff_report import TensorResult, Verdict
from inductor_debug.kerneldiff.judging.verdict import SUSPICIOUS, times, verdict_of
from inductor_debug.kerneldiff.metrics.comparison_config import ComparisonConfig
from inductor_debug.kerneldiff.metrics.tensor_comparison import compare_tensors, plain

Values = dict[str, Any]
"""Leaves by their path."""
_LONGEST = 60
_MOVED = 3
"""Runs with another rounding of every operation that tell how large errors may be."""
_MOVED_EXACT = 8
"""Runs that tell where rounding decides about an integer: a tie falls the same way in all of them once in 256 times."""
_UNSEEN = 0.02
"""So a few of many ties may look decided."""
_INT32 = torch.iinfo(torch.int32)


@dataclass
class Anchors:
    """What the sides are measured with, leaf by leaf.

    `exact` is the model in higher precision, `base` the backend's precision at its best, `repeated` a second run of the
    reference. `moved` gives as many runs as it is asked for that round every operation a little differently;
    each costs as much as the model does, so they are made only where they decide. Each may lack leaves.
    """

    exact: Values = field(default_factory=dict)
    base: Values = field(default_factory=dict)
    repeated: Values = field(default_factory=dict)
    moved: Callable[[int], Sequence[Values]] = lambda count: ()
    unit: float = 0.0


def judge_pairs(
    found: Sequence[Pair],
    anchors: Anchors,
    config: ComparisonConfig,
    done: Callable[[TensorResult], None] = lambda result: None,
) -> list[TensorResult]:
    """One result for each leaf; `done` is told of each at once."""
    results = []
    for pair in found:
        results.append(_Leaf(pair, anchors, config).judge())
        done(results[-1])
    return results


class _Leaf:
    def __init__(self, pair: Pair, anchors: Anchors, config: ComparisonConfig) -> None:
        self._pair, self._anchors, self._config = pair, anchors, config

    def judge(self) -> TensorResult:
        pair = self._pair
        if pair.problem:
            return self._told(Verdict.WRONG, pair.problem)
        left, right = pair.reference, pair.actual
        if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
            return self._tensors(left, right)
        if type(left) is float and type(right) is float:
            return self._tensors(_scalar(left), _scalar(right))
        if isinstance(left, torch.Tensor) or isinstance(right, torch.Tensor):
            return self._told(Verdict.WRONG, f"the reference has {kind_of(left)} and the backend {kind_of(right)}")
        return self._told(*_told_apart(left, right))

    def _told(self, verdict: Verdict, why: str) -> TensorResult:
        pair = self._pair
        return TensorResult(
            pair.path,
            verdict,
            why,
            reference=_short(pair.reference),
            actual=_short(pair.actual),
            dtype=type(pair.reference).__name__,
        )

    def _tensors(self, left: torch.Tensor, right: torch.Tensor) -> TensorResult:
        comparison = compare_tensors(left, right, replace(self._config, check_device=self._config.checks_device(True)))
        if comparison.problem:
            return TensorResult(self._pair.path, Verdict.WRONG, comparison.problem.rstrip("."), comparison)
        if left.is_quantized:
            verdict = Verdict.PASS if comparison.passed else Verdict.WRONG
            return TensorResult(self._pair.path, verdict, "" if comparison.passed else "the values differ", comparison)
        if not (left.is_floating_point() or left.is_complex()):
            verdict, why = self._exactly_equal(left, right)
            return TensorResult(self._pair.path, verdict, why, comparison)
        ratio = self._ratio(left, right)
        verdict = verdict_of(ratio)
        why = times(ratio) if verdict is not Verdict.PASS else ""
        if why and comparison.worst:
            worst = comparison.worst[0]
            why += f"; {worst.actual:.6g} instead of {worst.reference:.6g} at {list(worst.index)}"
        return TensorResult(self._pair.path, verdict, why, comparison, ratio)

    def _ratio(self, left: torch.Tensor, right: torch.Tensor) -> float:
        path = self._pair.path
        exact = _like(self._anchors.exact.get(path), left)
        exact = left if exact is None else exact
        base = _like(self._anchors.base.get(path), left)
        base = left if base is None else base
        unit = at_least(max(unit_of(left.dtype), self._anchors.unit))
        expected = larger(error_from(exact, base), rounding_error(exact, unit))
        repeated = _like(self._anchors.repeated.get(path), left)
        if repeated is not None:
            expected = larger(expected, error_from(left, repeated))
        found = anchor(exact, expected, right, left, base)
        if found.ratio > SUSPICIOUS / 2:  # measured more closely well before it decides
            moved = [_like(values.get(path), left) for values in self._anchors.moved(_MOVED)]
            errors: list[Error] = [error_from(exact, tensor) for tensor in moved if tensor is not None]
            found = anchor(exact, larger(expected, *errors), right, left, base)
        return found.ratio

    def _exactly_equal(self, left: torch.Tensor, right: torch.Tensor) -> tuple[Verdict, str]:
        """Integers and booleans must be equal, except where rounding decides what they are (ties of an argmax)."""
        left, right = plain(left), plain(right.to(left.device))
        different = left != right
        count = int(different.sum())
        if count == 0:
            return Verdict.PASS, ""
        path = self._pair.path
        anchors = self._anchors
        others = [anchors.exact, anchors.base, anchors.repeated, *anchors.moved(_MOVED_EXACT)]
        unstable = torch.zeros_like(different)
        for values in others:
            other = values.get(path)
            if isinstance(other, torch.Tensor) and other.shape == left.shape:
                unstable |= (right == plain(other.to(device=right.device))) & ~beyond_int32(left)
        firm = int((different & ~unstable).sum())
        if firm <= _UNSEEN * count:
            return Verdict.PASS, f"{count} of {left.numel()} differ, where rounding decides (near ties)"
        return Verdict.WRONG, f"{firm} of {left.numel()} elements differ where rounding does not decide"


def beyond_int32(tensor: torch.Tensor) -> torch.Tensor:
    """Which elements a 32-bit integer cannot hold: what happens to those is no question of rounding."""
    if tensor.dtype is not torch.int64:
        return torch.zeros_like(tensor, dtype=torch.bool)
    return (tensor > _INT32.max) | (tensor < _INT32.min)


def _like(value: Any, tensor: torch.Tensor) -> torch.Tensor | None:
    """An anchor's value for a leaf, if it is of the same shape."""
    if type(value) is float:
        value = _scalar(value)
    return value if isinstance(value, torch.Tensor) and value.shape == tensor.shape else None


def _scalar(value: float) -> torch.Tensor:
    """A number that came out of a tensor: what it was rounded to before is unknown, so float32 is assumed."""
    return torch.tensor(value, dtype=torch.float32)


def _told_apart(left: Any, right: Any) -> tuple[Verdict, str]:
    """What is to be said of two values that are no tensors."""
    if isinstance(left, Set) and isinstance(right, Set) and any(isinstance(item, torch.Tensor) for item in left):
        return Verdict.SUSPICIOUS, "the tensors of a set have no order to compare them in; return a list"
    alike = type(left) is type(right)
    try:
        same = bool(left == right) or bool(left != left and right != right)
    except Exception:  # arrays of other libraries, objects that refuse
        same = alike and repr(left) == repr(right)
        return (Verdict.PASS, "only its text was compared") if same else (Verdict.WRONG, "the values are not equal")
    if not same and alike and _compares_by_identity(left):
        return Verdict.PASS, "only its type was compared"
    return (Verdict.PASS, "") if same else (Verdict.WRONG, "the values are not equal")


def _compares_by_identity(value: Any) -> bool:
    return "__eq__" not in _defined(value)


def _defined(value: Any) -> set[str]:
    """The names that the value's classes define, `object` apart."""
    return {name for kind in type(value).__mro__[:-1] for name in vars(kind)}


def _short(value: Any) -> str:
    text = "a tensor" if isinstance(value, torch.Tensor) else repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
