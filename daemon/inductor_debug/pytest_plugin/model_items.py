"""Tests that `--inductor-debug` makes of files with models: they pass where `inductor-debug check` would.

What was not checked is never passed over in silence: where nothing was, the test is skipped with the reason, and where
only a part was, its report says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

from inductor_debug.pytest_plugin.shared_engine import MARKER, shared_engine
from inductor_debug.report.run_report import ExitCode
from inductor_debug.scripting.carrying_out import OrderFailedError
from inductor_debug.scripting.check_report import CheckReport, check_with


class ModelsError(Exception):
    """A file has findings that fail it, or could not be analysed; the message is the report."""


class ModelFile(pytest.File):
    """A file with models, which is one test."""

    def collect(self) -> Iterable[pytest.Item]:
        """The one test."""
        yield ModelItem.from_parent(self, name="inductor-debug")


class ModelItem(pytest.Item):
    """Checks the models of a file."""

    def __init__(self, **known: Any) -> None:
        super().__init__(**known)
        self.funcargs: dict[str, Any] = {}  # which other plugins ask every test for
        self.add_marker(MARKER)

    def runtest(self) -> None:
        """Checks them.

        Raises:
            ModelsError: findings fail the file.
        """
        engine = shared_engine(self.config)
        try:
            report = check_with(engine.thread, os.path.relpath(self.path), None, engine.said())
        except OrderFailedError as error:
            pytest.skip(str(error))
        code = report.result.exit_code()
        if code is not ExitCode.CLEAN:
            raise ModelsError(str(report))
        self._tell_coverage(report)

    def _tell_coverage(self, report: CheckReport) -> None:
        if report.checked:
            return
        if not any(file.ran for file in report.result.files):
            pytest.skip(str(report).strip().splitlines()[-1])
        self.add_report_section("call", "inductor-debug", str(report))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The report, without a traceback of ours."""
        if isinstance(excinfo.value, ModelsError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Where it stands, and what it is called."""
        return self.path, None, f"models of {self.path.name}"
