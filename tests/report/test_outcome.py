"""How a run ends: what fails it, and what means that it could not do its job."""

from __future__ import annotations

from dataclasses import replace

import pytest
from inductor_debug.report.run_report import CheckedFile, ExitCode
from inductor_debug_schema import FileStatus, Finding, Inferred, Severity, StageState
from report_samples import checked, finding, result, span, target

PATH = "/project/model.py"
FAILED = target(state=StageState.FAILED)


def said(severity: Severity, rule: str = "dtype", target_name: str = "Model") -> Finding:
    return finding(PATH, span(0, 0, 1), severity=severity, rule=rule, target=target_name)


@pytest.mark.parametrize(
    ("file", "failing", "expected"),
    [
        (checked(PATH), Severity.WARNING, ExitCode.CLEAN),
        (checked(PATH, said(Severity.ERROR)), Severity.WARNING, ExitCode.FINDINGS),
        (checked(PATH, said(Severity.WARNING)), Severity.WARNING, ExitCode.FINDINGS),
        (checked(PATH, said(Severity.WARNING)), Severity.ERROR, ExitCode.CLEAN),
        (checked(PATH, said(Severity.INFORMATION)), Severity.WARNING, ExitCode.CLEAN),
        (checked(PATH, said(Severity.HINT)), Severity.WARNING, ExitCode.CLEAN),
        (checked(PATH, status=FileStatus.NO_TARGET, targets=[]), Severity.WARNING, ExitCode.CLEAN),
        (checked(PATH, status=FileStatus.TIMEOUT, targets=[]), Severity.ERROR, ExitCode.TROUBLE),
        (checked(PATH, status=FileStatus.TIMEOUT, targets=[target()]), Severity.ERROR, ExitCode.CLEAN),
        (
            checked(PATH, status=FileStatus.TIMEOUT, targets=[target(), replace(target(), stages=[])]),
            Severity.ERROR,
            ExitCode.TROUBLE,
        ),
        (
            checked(
                PATH,
                said(Severity.INFORMATION, "out-of-memory"),
                status=FileStatus.CRASHED,
                targets=[replace(target(), stages=[], inferred=Inferred())],
                explicit=True,
            ),
            Severity.WARNING,
            ExitCode.CLEAN,
        ),
        (
            checked(PATH, said(Severity.ERROR, "timeout"), status=FileStatus.TIMEOUT, targets=[]),
            Severity.WARNING,
            ExitCode.FINDINGS,
        ),
        (
            checked(PATH, said(Severity.ERROR, "timeout"), status=FileStatus.TIMEOUT, targets=[], explicit=True),
            Severity.WARNING,
            ExitCode.TROUBLE,
        ),
        (checked(PATH, status=FileStatus.CRASHED), Severity.ERROR, ExitCode.TROUBLE),
        (checked(PATH, status=FileStatus.FAILED, targets=[]), Severity.ERROR, ExitCode.TROUBLE),
        (checked(PATH, problem="no permission"), Severity.ERROR, ExitCode.TROUBLE),
        (
            checked(PATH, said(Severity.ERROR, "import-error"), status=FileStatus.FAILED, targets=[]),
            Severity.WARNING,
            ExitCode.FINDINGS,
        ),
        (
            checked(PATH, said(Severity.ERROR, "environment"), status=FileStatus.FAILED, targets=[]),
            Severity.WARNING,
            ExitCode.TROUBLE,
        ),
        (
            checked(
                PATH,
                replace(said(Severity.ERROR, "environment"), cause="write"),
                status=FileStatus.FAILED,
                targets=[],
            ),
            Severity.WARNING,
            ExitCode.FINDINGS,
        ),
        (
            checked(PATH, said(Severity.ERROR, "import-error"), status=FileStatus.FAILED, targets=[], explicit=True),
            Severity.WARNING,
            ExitCode.TROUBLE,
        ),
        (
            checked(PATH, said(Severity.ERROR, "import-error"), status=FileStatus.FAILED, targets=[], required=True),
            Severity.WARNING,
            ExitCode.TROUBLE,
        ),
        (
            checked(PATH, said(Severity.ERROR, "capture-error"), targets=[FAILED, target("Other")]),
            Severity.WARNING,
            ExitCode.TROUBLE,
        ),
    ],
)
def test_exit_codes(file: CheckedFile, failing: Severity, expected: ExitCode) -> None:
    assert result(file, failing=failing).exit_code() is expected


def test_trouble_outweighs_findings() -> None:
    files = (checked(PATH, said(Severity.ERROR)), checked(PATH, status=FileStatus.CRASHED))
    assert result(*files).exit_code() is ExitCode.TROUBLE


def test_a_failure_that_a_baseline_knows_does_not_fail_the_run() -> None:
    known = said(Severity.ERROR, "capture-error")
    file = checked(PATH, targets=[FAILED], status=FileStatus.FAILED, hidden=(known,))
    assert result(file).exit_code() is ExitCode.CLEAN


def test_a_new_failure_beside_a_known_one_does() -> None:
    known = said(Severity.ERROR, "capture-error")
    file = checked(
        PATH,
        said(Severity.ERROR, "capture-error", "Other"),
        targets=[FAILED, target("Other", state=StageState.FAILED)],
        status=FileStatus.FAILED,
        hidden=(known,),
    )
    assert file.unanalysed() == ["Other"]
