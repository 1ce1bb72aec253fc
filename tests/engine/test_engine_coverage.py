"""What did not run is never passed off as checked: each way a run may end, and what the user is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from desk import Desk, body
from inductor_debug.engine.results.merge import CarriedFindings, Ending, Results
from inductor_debug_schema import (
    Checked,
    Event,
    FileStatus,
    Finding,
    Finished,
    Held,
    Inferred,
    Loaded,
    Location,
    Position,
    Range,
    Severity,
    Shortfall,
    Stage,
    StageFinished,
    StageReport,
    StageState,
    TargetFound,
    TargetReport,
    UntakenBlock,
    UntakenSeen,
)

PATH = "/p/model.py"
LINE_12 = Range(Position(11, 8), Position(11, 20))
DONE, FAILED, SKIPPED = StageState.DONE, StageState.FAILED, StageState.SKIPPED
ERROR = Finding("capture-error", Severity.ERROR, "AttributeError: x", PATH, LINE_12, Stage.PREVIEW, "Net")
WARNING = Finding("dtype", Severity.WARNING, "float64", PATH, LINE_12, Stage.PREVIEW, "Net")
WITHOUT = Inferred(reason="it needs `params`")
WITH = Inferred(signature="x f32[s0, 8]")


def ended(
    stage: Stage,
    state: StageState,
    shortfall: Shortfall | None = None,
    *,
    ops: int = 0,
    finding: Finding | None = None,
    inferred: Inferred | None = None,
    path: str = PATH,
    notes: Sequence[str] = (),
) -> StageFinished:
    at_a_place = (Shortfall.VALUE, Shortfall.MEMORY, Shortfall.OPERATION, Shortfall.NOT_REACHED)
    at = Location(path, LINE_12) if shortfall in at_a_place else None
    report = StageReport(stage, state, 0.0, ops=ops, notes=list(notes), shortfall=shortfall, at=at)
    return StageFinished("Net", report, [finding] if finding is not None else [], inferred)


def preview(*args: object, **kwargs: object) -> StageFinished:
    return ended(Stage.PREVIEW, *args, **kwargs)  # type: ignore[arg-type]


def mock(*args: object, **kwargs: object) -> StageFinished:
    return ended(Stage.MOCK, *args, **kwargs)  # type: ignore[arg-type]


ENDINGS = [
    pytest.param([preview(DONE), mock(DONE)], Checked.YES, "", id="all went through"),
    pytest.param([preview(DONE, finding=WARNING), mock(DONE)], Checked.YES, "", id="with findings"),
    pytest.param([preview(FAILED, Shortfall.OPERATION), mock(DONE)], Checked.YES, "", id="the deeper look saw it all"),
    pytest.param(
        [preview(SKIPPED, Shortfall.NO_INPUTS, inferred=WITHOUT), mock(SKIPPED, Shortfall.NO_INPUTS, inferred=WITHOUT)],
        Checked.NO,
        "it needs `params`",
        id="no inputs",
    ),
    pytest.param(
        [preview(SKIPPED, Shortfall.NOT_REACHED)],
        Checked.NO,
        "the file was run up to line 12 alone",
        id="the file was left before",
    ),
    pytest.param(
        [preview(FAILED, ops=3, finding=ERROR), mock(FAILED)],
        Checked.PARTLY,
        "it ends with the error in line 12",
        id="the code raises",
    ),
    pytest.param(
        [preview(FAILED, finding=ERROR), mock(SKIPPED, Shortfall.NOT_BUILT)],
        Checked.NO,
        "it ends with the error in line 12",
        id="the constructor raises",
    ),
    pytest.param(
        [preview(SKIPPED, Shortfall.INPUTS, ops=2, inferred=WITH), mock(SKIPPED, Shortfall.INPUTS, inferred=WITH)],
        Checked.PARTLY,
        "its capture by torch.compile ended early: it does not run to its end with the inputs that were inferred",
        id="inferred inputs did not carry",
    ),
    pytest.param(
        [preview(FAILED, Shortfall.MEMORY, ops=9), mock(FAILED, Shortfall.MEMORY, ops=9)],
        Checked.PARTLY,
        "its capture by torch.compile ended early: line 12 looks at a tensor's value, and real tensors would take more "
        "memory than is allowed",
        id="looks at values, too large",
    ),
    pytest.param(
        [preview(DONE, ops=9), mock(FAILED, Shortfall.OPERATION, path="/p/helper.py")],
        Checked.PARTLY,
        "its capture by torch.compile ended early: torch cannot imitate the operation in helper.py:12, and it could "
        "not be run with real tensors",
        id="an operation in another file",
    ),
    pytest.param(
        [preview(SKIPPED, Shortfall.TORCH, notes=["torch 2.99 has no `torch._x`."]), mock(DONE, ops=9)],
        Checked.PARTLY,
        "its run ended early: torch 2.99 has no `torch._x`",
        id="torch lacks what a stage takes",
    ),
    pytest.param(
        [preview(DONE, ops=9), mock(FAILED)],
        Checked.PARTLY,
        "its capture by torch.compile was not seen to its end",
        id="failed without a word",
    ),
]


@pytest.mark.parametrize(("events", "checked", "why"), ENDINGS)
def test_how_stages_ended_says_how_much_was_checked(events: list[StageFinished], checked: Checked, why: str) -> None:
    results = Results(PATH, "", (Stage.PREVIEW, Stage.MOCK))
    results.accept(Loaded([TargetFound("Net", 0, "")], [], [], 0.0))
    for event in events:
        results.accept(event)
    results.accept(Finished(FileStatus.CLEAN))
    results.close()
    [target] = results.report([]).targets
    assert (target.checked, target.why) == (checked, why)


def test_a_run_that_breaks_off_leaves_what_it_had_not_come_to_unchecked() -> None:
    results = Results(PATH, "", (Stage.PREVIEW, Stage.MOCK))
    results.accept(Loaded([TargetFound(name, 0, "") for name in ("Net", "Late")], [], [], 0.0))
    results.accept(preview(DONE, ops=3))
    end = Finding("timeout", Severity.ERROR, "Stopped after 120 s.\nMore.", PATH, LINE_12, Stage.LOAD)
    results.fail(Ending(FileStatus.TIMEOUT, end), broken=True)
    assert [(target.name, target.checked, target.why) for target in results.targets()] == [
        ("Net", Checked.PARTLY, "Stopped after 120 s."),
        ("Late", Checked.NO, "Stopped after 120 s."),
    ]


LEFT_OUT = UntakenBlock(Range(Position(1, 4), Position(1, 9)), "mask", Held.NONE)


def test_a_run_that_left_code_out_is_checked_partly_unless_it_ended_early_anyway() -> None:
    def report(*events: Event) -> TargetReport:
        results = Results(PATH, "", (Stage.PREVIEW, Stage.MOCK))
        for event in (Loaded([TargetFound("Net", 0, "")], [], [], 0.0), *events):
            results.accept(event)
        results.accept(Finished(FileStatus.CLEAN))
        return results.report([]).targets[0]

    left = UntakenSeen("Net", [LEFT_OUT])
    whole = report(preview(DONE), left, mock(DONE))
    assert (whole.checked, whole.why, whole.untaken) == (Checked.PARTLY, "1 branch not taken: line 2", [LEFT_OUT])
    assert (
        report(preview(DONE, ops=1), left, mock(FAILED)).why == "its capture by torch.compile was not seen to its end"
    )
    assert report(preview(DONE), UntakenSeen("Net", []), mock(DONE)).checked is Checked.YES


def test_what_was_left_out_stays_at_its_text_until_a_run_tells_anew() -> None:
    old, new = "a\n    b + c\nd\n", "a\nnew\n    b + c\nd\n"
    results = Results(PATH, old, (Stage.PREVIEW,))
    for event in (Loaded([TargetFound("Net", 0, "")], [], [], 0.0), preview(DONE), UntakenSeen("Net", [LEFT_OUT])):
        results.accept(event)
    results.accept(Finished(FileStatus.CLEAN))
    carried = CarriedFindings.of(results).moved_to(new)

    running = Results(PATH, new, (Stage.PREVIEW,))
    running.accept(Loaded([TargetFound("Net", 0, "")], [], [], 0.0))
    running.accept(preview(DONE))
    [target] = running.targets(carried)
    assert [block.range.start.line for block in target.untaken] == [2]

    assert CarriedFindings.of(results).moved_to("a\nd\n").targets[0].untaken == []


async def test_a_check_and_an_editor_are_told_the_same(desk: Desk, tmp_path: Path) -> None:
    last = await desk.opened(body("x + BAD"))
    assert [target.checked for target in last.report.targets] == [Checked.YES]
    assert (await desk.engine.check(str(desk.path()))).targets == last.report.targets
