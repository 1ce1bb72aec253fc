"""What a user at an editor sees while opening, typing, saving and closing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from desk import DONE, FAILED, SAVED, STALE, Desk, body, brief
from inductor_debug.engine.results.analysis import AnalysisState
from inductor_debug_schema import FileStatus, Stage


async def test_an_opened_file_is_analysed_stage_by_stage(desk: Desk) -> None:
    last = await desk.opened(SAVED.replace("BAD", "BAD + MOCK"))
    assert desk.states()[0] == "queued"
    assert desk.states()[-1] == "done"
    assert set(desk.states()[1:-1]) == {"running"}
    preview = [brief(update.report) for update in desk.updates if update.stage is Stage.PREVIEW]
    assert preview[-1] == ["dtype 2:19-22"]
    assert brief(last.report) == ["dtype 2:19-22", "dtype 2:25-29"]
    assert last.report.status is FileStatus.FINDINGS
    assert [report.stage for report in last.report.targets[0].stages] == [Stage.PREVIEW, Stage.MOCK]
    assert {update.generation for update in desk.updates} == {1}
    assert last.cause == "opened"


async def test_text_inside_a_function_is_analysed_before_it_is_saved(desk: Desk) -> None:
    await desk.opened()
    desk.type(body("x * 2"))
    last = await desk.settled()
    assert (last.state, brief(last.report), last.version) == (DONE, [], 2)
    assert desk.ran == [SAVED, body("x * 2")]


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(SAVED + "print('unsaved')\n", id="statement"),
        pytest.param(SAVED.replace("x):", "x=print('unsaved')):"), id="default"),
        pytest.param(SAVED.replace("x):", "x: print('unsaved')):"), id="annotation"),
        pytest.param(SAVED.replace("    def", "    @decorated\n    def"), id="decorator"),
        pytest.param(SAVED.replace("    def", "    size = 3\n    def"), id="class body"),
        pytest.param(SAVED.replace("class Model", "class Model(Base)"), id="base class"),
        pytest.param(SAVED.replace("class Model:", "class Renamed:"), id="name"),
        pytest.param("# inductor-debug: inputs=(run(),)\n" + SAVED, id="directive"),
        pytest.param(SAVED + "act = lambda: 3\n", id="lambda"),
        pytest.param("import os\n" + SAVED, id="import"),
    ],
)
async def test_unsaved_top_level_code_waits_for_the_save(desk: Desk, edit: str) -> None:
    await desk.opened()
    desk.type(edit)
    waiting = await desk.settled()
    assert waiting.state is STALE
    assert "save" in waiting.cause
    assert desk.ran == [SAVED]
    assert [finding.rule for finding in waiting.report.findings] == ["dtype"]
    desk.save()
    assert (await desk.settled()).state is DONE
    assert desk.ran == [SAVED, edit]


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(body("x + BAD  # inductor-debug: ignore[dtype]"), id="ignore comment"),
        pytest.param(SAVED.replace("        return", '        "doc"\n        return'), id="docstring"),
        pytest.param(
            SAVED.replace("        return", "        def inner(y=3):\n            y\n        return"),
            id="inner function",
        ),
        pytest.param("# (a, comment)\n\n" + SAVED, id="comment"),
    ],
)
async def test_edits_that_change_no_top_level_code_run_at_once(desk: Desk, edit: str) -> None:
    await desk.opened()
    desk.type(edit)
    assert (await desk.settled()).state is DONE
    assert desk.ran == [SAVED, edit]


@pytest.mark.parametrize(
    ("edit", "line"),
    [
        pytest.param("# a comment\n\n" + SAVED, 4, id="comment"),
        pytest.param(SAVED.replace("        return", "\n        return"), 3, id="blank line"),
        pytest.param(SAVED.replace("\n", "\r\n"), 2, id="line ends"),
    ],
)
async def test_edits_that_say_nothing_are_answered_without_a_run(desk: Desk, edit: str, line: int) -> None:
    await desk.opened()
    desk.type(edit)
    last = await desk.settled()
    assert (last.state, brief(last.report)) == (DONE, [f"dtype {line}:19-22"])
    assert desk.ran == [SAVED]


async def test_a_directive_that_moves_to_another_class_waits_for_the_save(desk: Desk) -> None:
    directive = "# inductor-debug: inputs=(1,)\n"
    classes = "class A:\n    pass\n", "class B:\n    pass\n"
    await desk.opened(directive + classes[0] + classes[1])
    desk.type(classes[0] + directive + classes[1])
    assert (await desk.settled()).state is STALE


async def test_unsaved_text_that_does_not_parse_shows_where_and_keeps_what_was_known(desk: Desk) -> None:
    await desk.opened()
    desk.type("\n" + body("x + BAD +"))
    update = desk.engine.latest(desk.uri())
    assert update is not None
    assert (update.state, brief(update.report)) == (STALE, ["dtype 3:19-22"])
    update = await desk.told(lambda update: len(update.report.findings) > 1)
    assert (update.state, brief(update.report)) == (STALE, ["syntax-error 3:23-24", "dtype 3:19-22"])
    desk.type("\n" + body("x + BAD + x"))
    last = await desk.settled()
    assert (last.state, brief(last.report)) == (DONE, ["dtype 3:19-22"])


async def test_unsaved_top_level_code_is_not_run_and_what_needs_no_run_is_told(desk: Desk) -> None:
    right = "class Net(nn.Module):\n    def forward(self, x):\n        return self.fc(x)\n"
    wrong = right.replace("(self, x)", "(x)")
    await desk.opened(right)
    desk.type(wrong)
    update = await desk.told(lambda update: len(update.report.findings) > 0)
    assert (update.state, brief(update.report)) == (STALE, ["capture-error 1:8-15"])
    desk.type(right)
    last = await desk.settled()
    assert (last.state, brief(last.report)) == (DONE, [])
    assert desk.ran == [right]


async def test_saved_text_that_does_not_parse_keeps_what_was_known_too(desk: Desk) -> None:
    first = await desk.opened()
    desk.save("\n" + body("x + BAD +"))
    last = await desk.settled()
    assert (last.state, brief(last.report)) == (DONE, ["syntax-error 3:23-24", "dtype 3:19-22"])
    assert (await desk.engine.check(str(desk.path()))).findings == last.report.findings[:1]
    assert [(target.name, target.line, target.stages) for target in last.report.targets] == [
        (target.name, target.line + 1, target.stages) for target in first.report.targets
    ]
    assert desk.ran == [SAVED]


async def test_an_opened_text_that_does_not_parse_has_failed(desk: Desk) -> None:
    last = await desk.opened(body("x + BAD +"))
    assert (last.state, last.report.status, brief(last.report)) == (DONE, FileStatus.FAILED, ["syntax-error 2:23-24"])


async def test_errors_of_an_unfinished_statement_are_not_shown_while_it_is_typed(desk: Desk) -> None:
    await desk.opened()
    seen = len(desk.updates)
    desk.keep_typing()
    for typed in ("x + BAD + BRO", "x + BAD + BROKEN", "x + BAD + BROKEN(", "x + BAD + BROKEN()"):
        desk.type(body(typed))
        await asyncio.sleep(0.1)
    assert desk.ran == [SAVED, *map(body, ("x + BAD + BRO", "x + BAD + BROKEN", "x + BAD + BROKEN()"))]
    assert {tuple(brief(update.report)) for update in desk.updates[seen:]} == {("dtype 2:19-22",)}
    desk.pause()
    assert brief((await desk.settled()).report) == ["dtype 2:19-22", "capture-error 2:25-31"]
    desk.keep_typing()
    seen = len(desk.updates)
    desk.type("\n" + desk.text())
    await desk.settled()
    assert {tuple(brief(update.report)) for update in desk.updates[seen:]} == {
        ("dtype 3:19-22", "capture-error 3:25-31")
    }


async def test_a_mended_error_goes_at_once_and_comes_back_only_when_the_typing_pauses(desk: Desk) -> None:
    await desk.opened(body("x + BROKEN"))
    desk.type(body("x"))
    mended = await desk.settled()
    seen = len(desk.updates)
    desk.type(body("x + BROKEN"))
    assert (mended.report.findings, brief((await desk.settled()).report)) == ([], ["capture-error 2:19-25"])
    assert brief(desk.updates[seen].report) == []
    assert len(desk.ran) == 2


async def test_syntax_errors_are_counted_in_utf16(desk: Desk) -> None:
    desk.open("s = '😀😀' $\n")
    assert brief((await desk.settled()).report) == ["syntax-error 0:11-12"]


async def test_a_new_edit_kills_the_job_of_the_old_one_and_nothing_of_it_is_delivered(desk: Desk) -> None:
    await desk.opened()
    release = desk.pools.pool.hold()
    desk.type(body("x + BAD + MOCK"))
    await desk.pools.pool.reached()
    desk.type(body("x + PREVIEW"))
    seen = len(desk.updates)
    release.set()
    last = await desk.settled()
    assert brief(last.report) == ["dtype 2:19-26"]
    assert {update.generation for update in desk.updates[seen:]} == {last.generation}
    assert desk.pools.pool.killed == [2]


@pytest.mark.parametrize("closing", [False, True])
async def test_a_worker_that_talks_on_after_it_was_killed_is_not_heard(desk: Desk, closing: bool) -> None:
    await desk.opened()
    desk.pools.pool.stubborn = True
    desk.pools.pool.hold()
    desk.type(body("BAD + MOCK"))
    await desk.pools.pool.reached()
    session = desk.engine._sessions[desk.uri()]
    desk.engine.close(desk.uri()) if closing else desk.engine.cancel()
    seen = len(desk.updates)
    await session.ended()
    assert desk.pools.pool.killed == [2]
    assert len(desk.updates) == seen


async def test_a_worker_that_will_not_die_does_not_disturb_the_next(desk: Desk) -> None:
    await desk.opened()
    desk.pools.pool.stubborn = True
    desk.pools.pool.hold()
    desk.type(body("BAD + MOCK"))
    await desk.pools.pool.reached()
    desk.type(body("x + PREVIEW"))
    last = await desk.settled()
    assert (last.state, brief(last.report), last.generation) == (DONE, ["dtype 2:19-26"], 3)
    assert "stale" not in desk.states()


async def test_a_save_does_not_wait_for_the_typing_to_pause(desk: Desk) -> None:
    await desk.opened()
    desk.type(body("x + 1"))
    desk.type(body("x + 2"))
    waiting = desk.engine.latest(desk.uri())
    desk.save()
    started = desk.engine.latest(desk.uri())
    assert waiting is not None
    assert started is not None
    assert (started.generation, started.cause) == (waiting.generation + 1, "saved")


async def test_a_new_version_of_the_same_text_does_not_start_again(desk: Desk) -> None:
    await desk.opened()
    release = desk.pools.pool.hold()
    desk.type(body("x"))
    await desk.pools.pool.reached()
    desk.type(body("x"))
    release.set()
    last = await desk.settled()
    assert (last.state, last.version) == (DONE, 3)
    assert desk.pools.pool.killed == []


async def test_a_burst_of_edits_runs_once_for_the_first_and_once_for_the_last(desk: Desk) -> None:
    await desk.opened()
    for number in range(20):
        desk.type(body(f"x + {number}"))
    last = await desk.settled()
    assert (last.state, last.report.findings) == (DONE, [])
    assert desk.ran[-1] == body("x + 19")
    assert len(desk.ran) <= 3


async def test_findings_of_stages_that_have_not_run_again_stay_where_their_text_is(desk: Desk) -> None:
    await desk.opened(body("x + BAD + MOCK"))
    desk.updates.clear()
    desk.type(body("x + 1 + BAD + MOCK"))
    await desk.settled()
    assert all(brief(update.report) == ["dtype 2:23-26", "dtype 2:29-33"] for update in desk.updates)


async def test_a_mended_line_loses_its_squiggle_with_the_first_stage(desk: Desk) -> None:
    await desk.opened(body("BAD + MOCK"))
    desk.updates.clear()
    desk.type(body("fine + MOCK"))
    await desk.settled()
    preview_ended = [brief(update.report) for update in desk.updates if update.stage is Stage.PREVIEW][-1]
    assert preview_ended == ["dtype 2:22-26"]


async def test_unchanged_text_is_answered_from_cache(desk: Desk) -> None:
    await desk.opened()
    desk.type(body("x"))
    await desk.settled()
    desk.type(SAVED)
    update = desk.engine.latest(desk.uri())
    assert update is not None
    assert (update.state, brief(update.report)) == (DONE, ["dtype 2:19-22"])
    for _ in range(3):
        desk.save()
        assert (await desk.settled()).state is DONE
    assert desk.ran == [SAVED, body("x")]


async def test_saving_what_is_being_analysed_does_not_start_it_again(desk: Desk) -> None:
    await desk.opened()
    release = desk.pools.pool.hold()
    desk.type(body("x"))
    await desk.pools.pool.reached()
    desk.save()
    release.set()
    assert (await desk.settled()).state is DONE
    assert desk.ran == [SAVED, body("x")]
    assert desk.pools.pool.killed == []


async def test_a_document_that_is_not_on_disk_waits_for_the_save(desk: Desk) -> None:
    desk.open(on_disk=None)
    assert (await desk.settled()).state is STALE
    assert desk.ran == []
    desk.save()
    assert (await desk.settled()).state is DONE


async def test_an_untitled_document_is_never_run(desk: Desk) -> None:
    desk.engine.open("untitled:1", "", 1, SAVED)
    desk.engine.save("untitled:1")
    update = await desk.engine.settled("untitled:1")
    assert update is not None
    assert update.state is STALE
    assert desk.ran == []


async def test_a_document_restored_with_unsaved_changes_is_compared_with_the_disk(desk: Desk) -> None:
    desk.open(SAVED + "launch()\n", on_disk=SAVED)
    assert (await desk.settled()).state is STALE
    assert desk.ran == []


async def test_on_save_waits_for_the_save_and_lets_a_running_job_finish(tmp_path: Path) -> None:
    desk = Desk(tmp_path, trigger="onSave")
    await desk.opened()
    desk.type(body("x"))
    assert (await desk.settled()).state is STALE
    release = desk.pools.pool.hold()
    desk.save(body("BAD"))
    await desk.pools.pool.reached()
    desk.type("\n" + body("BAD"))
    release.set()
    last = await desk.settled()
    assert desk.updates[-2].state is DONE
    assert (last.state, brief(last.report)) == (STALE, ["dtype 3:15-18"])
    assert desk.ran == [SAVED, body("BAD")]
    await desk.engine.shutdown()


async def test_manual_runs_by_command_only_and_never_unsaved_top_level_code(tmp_path: Path) -> None:
    desk = Desk(tmp_path, trigger="manual")
    desk.open()
    desk.type(body("x"))
    desk.save()
    assert (await desk.settled()).state is STALE
    assert desk.ran == []
    desk.engine.analyze(desk.uri(), "asked")
    assert (await desk.settled()).state is DONE
    desk.type(SAVED + "launch()\n")
    desk.engine.analyze(desk.uri(), "asked")
    assert (await desk.settled()).state is STALE
    assert desk.ran == [body("x")]
    await desk.engine.shutdown()


async def test_the_command_runs_past_the_cache(desk: Desk) -> None:
    await desk.opened()
    desk.engine.analyze(desk.uri(), "asked")
    last = await desk.settled()
    assert (last.state, last.cause) == (DONE, "asked")
    assert desk.ran == [SAVED, SAVED]


async def test_a_closed_document_says_nothing_more(desk: Desk) -> None:
    await desk.opened()
    release = desk.pools.pool.hold()
    desk.type(body("x"))
    await desk.pools.pool.reached()
    seen = len(desk.updates)
    desk.engine.close(desk.uri())
    release.set()
    assert await desk.engine.settled(desk.uri()) is None
    assert len(desk.updates) == seen
    desk.engine.change(desk.uri(), 9, "x = 1")
    desk.engine.save(desk.uri())
    desk.engine.analyze(desk.uri(), "asked")
    assert len(desk.updates) == seen


async def test_cancelling_keeps_what_is_known_and_the_next_edit_runs(desk: Desk) -> None:
    await desk.opened()
    release = desk.pools.pool.hold()
    desk.type(body("x + BAD + 1"))
    await desk.pools.pool.reached()
    desk.engine.cancel()
    release.set()
    last = await desk.settled()
    assert (last.state, brief(last.report)) == (AnalysisState.CANCELLED, ["dtype 2:19-22"])
    desk.type(body("x"))
    assert (await desk.settled()).state is DONE
    desk.engine.cancel()
    assert desk.updates[-1].state is DONE


async def test_restart_forgets_and_analyses_again(desk: Desk) -> None:
    await desk.opened()
    await desk.engine.restart()
    assert (await desk.settled()).state is DONE
    assert desk.ran == [SAVED, SAVED]
    assert desk.pools.made[0].closes == 1


async def test_shutdown_closes_every_pool_and_later_calls_do_nothing(desk: Desk) -> None:
    await desk.opened()
    desk.pools.pool.hold()
    desk.type(body("x"))
    await desk.pools.pool.reached()
    await desk.engine.shutdown()
    assert desk.pools.pool.killed == [2]
    assert desk.pools.pool.closes == 1
    desk.open()
    assert await desk.engine.settled(desk.uri()) is None


async def test_a_listener_that_fails_does_not_end_the_analysis(desk: Desk) -> None:
    def fail(update: object) -> None:
        raise RuntimeError("listener")

    desk.engine._listener = fail
    desk.open()
    assert (await desk.settled()).state is DONE


async def test_an_excluded_or_foreign_file_is_not_run_when_opened(tmp_path: Path) -> None:
    desk = Desk(tmp_path, exclude=["generated"])
    for name in ("generated/model.py", ".venv/lib/site-packages/torch/nn.py"):
        desk.path(name).parent.mkdir(parents=True)
        desk.open(name=name)
        assert (await desk.settled(name)).report.status is FileStatus.NO_TARGET
    assert desk.ran == []
    await desk.engine.shutdown()


async def test_a_setting_that_cannot_be_used_is_told_in_the_document_and_nothing_runs(desk: Desk) -> None:
    desk.write('[tool.inductor-debug]\naccelerator = "mock"\nstagse = ["mock"]\n', "pyproject.toml")
    last = await desk.opened()
    assert last.state is FAILED
    (finding,) = last.report.findings
    assert finding.rule == "configuration"
    assert "stages" in finding.message
    assert (finding.related[0].path, finding.related[0].range.start.line) == (str(desk.path("pyproject.toml")), 2)
    desk.write('[tool.inductor-debug]\nstages = ["mock"]\n', "pyproject.toml")
    desk.engine.files_changed([str(desk.path("pyproject.toml"))])
    last = await desk.settled()
    assert (last.state, last.report.targets[0].stages[0].stage) == (DONE, Stage.MOCK)
