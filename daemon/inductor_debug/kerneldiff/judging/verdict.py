"""From ratios to a verdict: pass, suspicious, wrong or failed, and why, in one sentence.

The thresholds come from measurements over 15 small models (perceptron, convolutions with batch norms in both modes,
GRU, loss over embeddings, norms, element-wise functions, transformer layers in both modes, cancelling sums,
reductions, masked attention, RMS norm, deep residual network), each with two seeds, forward and backward: Inductor
(C++) comes to ratios of at most 2.0 in float32 and 1.5 in bfloat16, aot_eager to 1.3, emulated arithmetic without
faults to 1.4, and 1.0 for a single operation. Of Inductor, only `expm1` came to more (200: it is computed as `exp(x) -
1`). Without `reordering`, clean gradients of batch norms and biases came to 29: eager's cascaded sums hardly err. The
mildest fault (results cut off three bits too early) comes to 5 and more for the operation, and to 3 to 17 for a model.
atol and rtol play no part: they are a view on the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from inductor_debug.kerneldiff.judging.diff_report import TensorResult, Verdict

SUSPICIOUS = 4.0
"""Ratios up to this one pass."""
SUSPICIOUS_ALONE = 3.0
"""The same for a single operation on given inputs, whose error is far better known."""
WRONG = 16.0
"""Ratios above this one are more than rounding explains."""
_NO_MORE = 1.05
_BEYOND = 1e6
"""Larger ratios come from results that should be exact, and say no more than that."""


def verdict_of(ratio: float) -> Verdict:
    """What a backend's error over the error to expect means."""
    if not ratio <= WRONG:
        return Verdict.WRONG
    return Verdict.PASS if ratio <= SUSPICIOUS else Verdict.SUSPICIOUS


def times(ratio: float) -> str:
    """A ratio in words."""
    if math.isinf(ratio):
        return "NaN or infinity in other places than they should be"
    if ratio > _BEYOND:
        return "more than a million times the error to expect"
    return f"{ratio:.2g} times the error to expect" if ratio < 100 else f"{ratio:,.0f} times the error to expect"


def off_by(ratio: float) -> str:
    """The same of operations, whose results are not looked at element by element."""
    if math.isinf(ratio):
        return "not the same, which no rounding explains (NaN or infinity, other integers, another shape or type)"
    return f"off by {times(ratio)}"


def overall(results: Sequence[TensorResult], baseline: str, deterministic: bool | None) -> tuple[Verdict, str]:
    """The verdict on all outputs and gradients, and the sentence that says why.

    Args:
        results: every output, updated input and gradient.
        baseline: what the error to expect was measured with ("eager in float32").
        deterministic: False where a side gives other results each time, which no backend is blamed for.
    """
    if not results:
        return Verdict.PASS, "There is nothing to compare: the model returns nothing and updates nothing."
    worst = max(results, key=_badness)
    count = sum(result.verdict is worst.verdict for result in results)
    others = f" ({count} of {len(results)} results are {worst.verdict.value})" if count > 1 else ""
    if worst.verdict is Verdict.PASS:
        return Verdict.PASS, _passed(results, baseline, deterministic) + _hardly_compared(results)
    sentence = f"{worst.name}: {worst.why}{others}."
    if deterministic is False and worst.ratio is not None and not math.isinf(worst.ratio):
        return (
            Verdict.SUSPICIOUS,
            f"The model gives other results each time it runs, so no backend is blamed for the difference: {sentence}",
        )
    return worst.verdict, sentence


def _badness(result: TensorResult) -> tuple[int, bool, float]:
    """Outputs say more than gradients, which inherit their errors; another shape or type more than any number."""
    ratio = result.ratio if result.ratio is not None else 0.0 if result.verdict is Verdict.PASS else math.inf
    return result.verdict.rank, not result.name.startswith("grad of "), ratio


def _passed(results: Sequence[TensorResult], baseline: str, deterministic: bool | None) -> str:
    what = f"All {len(results)} results" if len(results) > 1 else f"{results[0].name}"
    verb = "are" if len(results) > 1 else "is"
    if all(map(_is_equal, results)):
        return f"{what} {verb} equal to the reference's, to the last bit."
    largest = max((result.ratio for result in results if result.ratio is not None), default=0.0)
    error = f"at most {times(largest)}" if largest > _NO_MORE else "no more than the error to expect"
    if deterministic is False:
        return f"The model gives other results each time it runs; the backend's differ no more than those ({error})."
    return f"{what} {verb} as exact as {baseline} ({error})."


def _hardly_compared(results: Sequence[TensorResult]) -> str:
    """What passed although nobody can say that it is equal: functions, objects that refuse to be compared."""
    found = [result for result in results if result.comparison is None and result.ratio is None and result.why]
    return f" {found[0].name}{' and others' if len(found) > 1 else ''}: {found[0].why}." if found else ""


def _is_equal(result: TensorResult) -> bool:
    if result.comparison is None:
        return not result.ratio
    metrics = result.comparison.metrics
    return not metrics.max_abs and not metrics.nonfinite_mismatches
