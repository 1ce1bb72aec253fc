"""The fixture `compile_report`: reports to assert on, and what is shown of them where a test fails."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import pytest
from inductor_debug_schema import DiffOptions

from inductor_debug.pytest_plugin.shared_engine import MARKER, SharedEngine
from inductor_debug.pytest_plugin.snapshots import SnapshotFiles, snapshot_of
from inductor_debug.scripting.check_report import CheckReport, check_with
from inductor_debug.scripting.numerics_report import NumericsReport, numerics_with

_SETTINGS = ("accelerator", "stages", "allow", "timeout")


class CompileReporter:
    """Checks models for one test; call it with a model and its inputs, or with the name of a file's target."""

    def __init__(self, engine: SharedEngine, node: pytest.Item) -> None:
        self._engine = engine
        self._marked = _marked(node)
        self._snapshots = SnapshotFiles(node)
        self._made: list[tuple[str, CheckReport | NumericsReport]] = []

    def __call__(
        self,
        subject: str | os.PathLike[str] | Callable[..., Any],
        inputs: Any = None,
        *,
        accelerator: str | None = None,
        stages: Sequence[str] | None = None,
        allow: Sequence[str] | None = None,
        timeout: float | None = None,
    ) -> CompileReport:
        """Checks a subject, as `inductor_debug.check` does.

        Args:
            subject: `"model.py::Net"`, or a module or function of this process.
            inputs: for one of this process, the arguments of a call, or a list of tuples for several calls.
            accelerator: checked for, in place of what the marker, the command line and pyproject.toml say.
            stages: looked at beside the run and the capture: `"aot"`, `"inductor"`.
            allow: what the code may do to the world.
            timeout: seconds.

        Raises:
            NoSourceError: a subject that no other process could build, such as a class of a function.
            OrderFailedError: the file offers no such target.
            ConfigurationError: settings cannot be used.
        """
        given = {"accelerator": accelerator, "stages": stages, "allow": allow, "timeout": timeout}
        known = {**self._marked, **{name: value for name, value in given.items() if value is not None}}
        looked_at = known.pop("stages", ())
        said = self._engine.said(known)
        report = check_with(self._engine.thread, subject, inputs, said, stages=looked_at)
        told = {field.name: getattr(report, field.name) for field in fields(report)}
        made = CompileReport(**told, reporter=self, subject=subject, inputs=inputs, said=said)
        self._made.append((_name(subject), made))
        return made

    def compared(self, report: CompileReport, options: DiffOptions) -> NumericsReport:
        """Has the subject of a report compared."""
        numerics = numerics_with(self._engine.thread, report.subject, report.inputs, options, report.said)
        self._made.append((f"{_name(report.subject)}, numerics", numerics))
        return numerics

    def compare_snapshot(self, report: CompileReport, name: str) -> None:
        """Compares a report with its snapshot.

        Raises:
            AssertionError: it differs, or there is none.
        """
        __tracebackhide__ = True
        self._snapshots.compare(snapshot_of(report), name)

    def sections(self) -> list[tuple[str, str]]:
        """What pytest shows where the test fails."""
        return [(f"inductor-debug: {name}", str(report)) for name, report in self._made]


@dataclass(frozen=True, repr=False)
class CompileReport(CheckReport):
    """What a check of a model told, in a test.

    Attributes:
        reporter: the fixture that made it.
        subject: what was checked.
        inputs: the inputs that it was given.
        said: the settings that were said.
    """

    reporter: CompileReporter
    subject: Any
    inputs: Any
    said: dict[str, Any]

    def numerics(
        self, backend: str = "inductor", *, reference: str = "eager", gradients: bool = False
    ) -> NumericsReport:
        """Whether a backend computes what the model means: `assert report.numerics("inductor").passed`.

        Args:
            backend: one of `torch.compile`'s by name, a function of the file, or an accelerator.
            reference: the backend that is right.
            gradients: whether gradients are compared, too.
        """
        options = DiffOptions(backend=backend, reference=reference, gradients=gradients or None)
        return self.reporter.compared(self, options)

    def assert_snapshot(self, name: str = "") -> None:
        """Holds it to what it was: the operations, graphs, breaks, recompilations and findings.

        The snapshot is a file beside the test, in `__compile_reports__`; `pytest --inductor-debug-update` writes it.

        Args:
            name: tells several snapshots of a test apart.

        Raises:
            AssertionError: something is not what it was; the message shows what.
            NotCheckedError: it was not seen to its end.
        """
        __tracebackhide__ = True
        self.reporter.compare_snapshot(self, name)


def _marked(node: pytest.Item) -> dict[str, Any]:
    """What the markers of a test say, the nearest before those of its class and module."""
    known: dict[str, Any] = {}
    for mark in node.iter_markers(MARKER):
        unknown = [*map(str, mark.args), *(name for name in mark.kwargs if name not in _SETTINGS)]
        if unknown:
            raise pytest.UsageError(f"the marker {MARKER} takes {', '.join(_SETTINGS)} by name, not {unknown[0]}")
        known = {**mark.kwargs, **known}
    return known


def _name(subject: Any) -> str:
    if isinstance(subject, (str, os.PathLike)):
        return os.fspath(subject)
    return str(getattr(subject, "__name__", type(subject).__name__))
