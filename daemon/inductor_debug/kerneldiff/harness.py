"""`KernelDiffHarness`: does a backend compute what the model means, and if not, which expression is to blame?

It runs both sides on the same inputs, weights and random numbers, measures them from the model in higher precision,
judges, and looks for the operation at fault. What a side raises is a result of the comparison. The model is afterwards
as it was before.
"""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from inductor_debug.accelerators.document import ProfileError
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.targets.script_target import target_of
from inductor_debug.kerneldiff.comparison import Comparison
from inductor_debug.kerneldiff.emulation.backends import BackendLike, UnknownBackendError, not_compared, resolve
from inductor_debug.kerneldiff.execution.side_runs import SideRun
from inductor_debug.kerneldiff.execution.structure import Pair
from inductor_debug.kerneldiff.judging.comparison_settings import ComparisonSettings
from inductor_debug.kerneldiff.judging.diff_report import DiffReport, Verdict
from inductor_debug.kerneldiff.metrics.comparison_config import ComparisonConfig


@dataclass(frozen=True)
class SideResult:
    """What one side gave.

    `output` is what the model returned, its tensors detached; iterators have been run into lists. `gradients` are those
    of inputs and parameters by name, where gradients are compared. `error` is what it raised, None where nothing was;
    then `output` is None if the forward raised. `seconds` is how long it took, compilation included.
    """

    output: Any
    gradients: dict[str, torch.Tensor]
    error: BaseException | None
    seconds: float


class KernelDiffHarness:
    """Compares what two backends make of one model.

    Args:
        model: a module or function.
        example_inputs: a tuple or list of positional arguments, a dictionary of keyword arguments, or the one argument.
        reference_backend: what is right; a backend's name or a callable.
        test_backend: what is asked about: the name of a backend or accelerator, an accelerator's TOML file, or any
            callable `(GraphModule, example inputs) -> callable`.
        comparison_config: tolerances of the atol/rtol view; the verdict does not depend on them.
        model_name: what reports call it.
        gradients: compare gradients of inputs and parameters as well; None does so for models in training mode.
        runs: how often to compare, each time with another seed.
        seed: the first one.
        nodes: compare every operation, where the backend lets one.
        inject: faults to put into a transparent backend's arithmetic (`FAULT` or `FAULT@LINE`), to test this tool.
        time_limit: seconds that looking for the operation at fault may take.
        progress: told what is being done, in words.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        example_inputs: Any,
        reference_backend: BackendLike = "eager",
        test_backend: BackendLike = "inductor",
        comparison_config: ComparisonConfig | None = None,
        model_name: str | None = None,
        *,
        gradients: bool | None = None,
        runs: int = 1,
        seed: int = 0,
        nodes: bool = True,
        inject: Sequence[str] = (),
        time_limit: float = 120.0,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self._target = target_of(model, example_inputs, name=model_name or "")
        self._reference, self._test = reference_backend, test_backend
        self._settings = ComparisonSettings(
            config=comparison_config or ComparisonConfig(),
            gradients=self._target.training if gradients is None else gradients,
            runs=max(runs, 1),
            seed=seed,
            nodes=nodes,
            inject=tuple(inject),
            time_limit=time_limit,
            progress=progress or _unheard,
        )
        self._sources = SourceMap(os.getcwd(), _own_text(model))
        self._comparison: Comparison | None = None

    def compare(self, generate_visualizations: bool = False) -> DiffReport:
        """Runs the comparison. Compiled models are kept for the next call.

        Args:
            generate_visualizations: also draw PNGs into `visualizations/`; needs matplotlib.

        Raises:
            MatplotlibUnavailableError: pictures are wanted and matplotlib is not installed.
        """
        started = time.perf_counter()
        try:
            comparison = self._opened()
        except (UnknownBackendError, ProfileError, ValueError) as error:
            return refused(self._target.name, self._reference, self._test, error)
        report = comparison.run()
        report.seconds["total"] = time.perf_counter() - started
        if generate_visualizations:
            report.pictures = draw(report, comparison.compared, "visualizations")
        return report

    def run_reference(self) -> SideResult:
        """Runs the reference alone, on the inputs and random numbers that `compare` gives it.

        Raises:
            ProfileError: an accelerator's profile cannot be read.
            UnknownBackendError: there is no backend of a name that was given.
            ValueError: the inputs can be used only once, or a fault cannot be put in.
        """
        return _told(self._opened().run_reference())

    def run_test(self) -> SideResult:
        """Runs the backend that is asked about alone, on the inputs and random numbers that `compare` gives it.

        Raises:
            ProfileError: an accelerator's profile cannot be read.
            UnknownBackendError: there is no backend of a name that was given.
            ValueError: the inputs can be used only once, or a fault cannot be put in.
        """
        return _told(self._opened().run_test())

    def _opened(self) -> Comparison:
        if self._comparison is None:
            reference, test = resolve(self._reference), resolve(self._test)
            self._comparison = Comparison(self._target, reference, test, self._settings, self._sources)
        return self._comparison


def _told(ran: SideRun) -> SideResult:
    gradients = {leaf.path: leaf.value for leaf in ran.gradients}
    return SideResult(ran.outputs[0] if ran.outputs else None, gradients, ran.error, ran.seconds)


def draw(report: DiffReport, compared: Sequence[Pair], folder: str) -> list[str]:
    """Writes the pictures of a comparison into `folder`; returns their absolute paths.

    Raises:
        MatplotlibUnavailableError: matplotlib is not installed.
    """
    from inductor_debug.kerneldiff.plots.pictures import file_name, pictures_of

    os.makedirs(folder, exist_ok=True)
    paths = []
    for title, picture in pictures_of(report, compared):
        paths.append(os.path.abspath(os.path.join(folder, file_name(title))))
        with open(paths[-1], "wb") as stream:
            stream.write(picture)
    return paths


def refused(target: str, reference: BackendLike, test: BackendLike, error: Exception) -> DiffReport:
    """The report of a comparison that could not begin."""
    return DiffReport(target, name_of(reference), name_of(test), Verdict.FAILED, not_compared(error))


def name_of(backend: BackendLike) -> str:
    """What reports call a backend that may not exist."""
    if isinstance(backend, str | os.PathLike):
        return os.fspath(backend)
    return getattr(backend, "__name__", type(backend).__name__)


def _own_text(model: Callable[..., Any]) -> dict[str, str]:
    """The file that defines the model, which is the user's wherever it lies, unless it is an installed library."""
    try:
        path = inspect.getsourcefile(type(model) if isinstance(model, torch.nn.Module) else model)
        if path is None or "site-packages" in path or "dist-packages" in path:
            return {}
        with open(path, encoding="utf-8") as stream:
            return {os.path.abspath(path): stream.read()}
    except (TypeError, OSError, UnicodeDecodeError):
        return {}


def _unheard(message: str) -> None:
    """What is done where no progress is asked for: nothing."""
