"""What an editor can ask about expressions: always at once, at the places of the present text."""

from __future__ import annotations

from desk import Desk
from fakes import facts_of
from inductor_debug.engine.results.known_expressions import ExpressionStore, KnownExpression
from inductor_debug.engine.results.merge import Results
from inductor_debug_schema import ExpressionsSeen, FileStatus, Finished, Loaded, Stage, TargetFound

SAVED = "class Model:\n    def forward(self, x):\n        return x + FACT\n"


def told(expressions: list[KnownExpression]) -> list[str]:
    """Expressions as `line:character rows stage`, with a mark on those of an older text."""
    return [
        f"{known.range.start.line}:{known.range.start.character} {known.fact.outputs[0].shape[0]} {known.stage.value}"
        + (" stale" if known.stale else "")
        for known in sorted(expressions, key=lambda known: known.range)
    ]


async def test_later_stages_refine_what_the_first_has_told(desk: Desk) -> None:
    desk.open(SAVED)
    uri = desk.uri()
    assert desk.engine.expressions(uri) == []
    await desk.settled()
    assert told(desk.engine.expressions(uri)) == ["2:19 2 mock"]
    assert desk.engine.expressions("file:///never/opened.py") == []


async def test_expressions_move_with_the_text_and_say_that_it_has_changed(desk: Desk) -> None:
    await desk.opened(SAVED)
    desk.type("import os\n" + SAVED)
    await desk.settled()
    assert told(desk.engine.expressions(desk.uri())) == ["3:19 2 mock stale"]
    desk.type(SAVED.replace("x + FACT", "x"))
    await desk.settled()
    assert desk.engine.expressions(desk.uri()) == []


async def test_while_a_run_goes_on_the_one_before_it_answers(desk: Desk) -> None:
    await desk.opened(SAVED)
    held = desk.pools.pool.hold()
    desk.type(SAVED.replace("return x +", "return 2 * x +"))
    await desk.pools.pool.reached()
    assert told(desk.engine.expressions(desk.uri())) == ["2:23 2 mock stale"]
    held.set()
    await desk.settled()
    assert told(desk.engine.expressions(desk.uri())) == ["2:23 2 mock"]


async def test_a_run_that_ends_badly_takes_nothing_away(desk: Desk) -> None:
    await desk.opened(SAVED)
    desk.type(SAVED.replace("FACT", "FACT - HANG"))
    await desk.settled()
    assert told(desk.engine.expressions(desk.uri())) == ["2:19 1 preview"]
    desk.type(SAVED.replace("FACT", "FACT - NOTORCH"))
    await desk.settled()
    assert told(desk.engine.expressions(desk.uri())) == ["2:19 1 preview stale"]


async def test_what_a_target_that_raises_does_not_reach_stays_as_it_was(desk: Desk) -> None:
    two = SAVED.replace("        return", "        x = x + 1\n        return")
    await desk.opened(two)
    desk.type(two.replace("x + 1", "x + BROKEN"))
    await desk.settled()
    assert told(desk.engine.expressions(desk.uri())) == ["3:19 2 mock stale"]


async def test_cached_results_know_their_expressions(desk: Desk) -> None:
    await desk.opened(SAVED)
    desk.type(SAVED.replace("FACT", "1"))
    await desk.settled()
    desk.type(SAVED)
    await desk.settled()
    assert len(desk.ran) == 2
    assert told(desk.engine.expressions(desk.uri())) == ["2:19 2 mock"]


def ended(path: str, text: str, *targets: str, where: str | None = None) -> Results:
    results = Results(path, text)
    results.accept(Loaded([TargetFound(target, 0, "fake") for target in targets], [], [], 0.0))
    for target in targets:
        for stage in (Stage.PREVIEW, Stage.MOCK):
            results.accept(ExpressionsSeen(target, stage, facts_of(where or path, "FACT", stage)))
    results.accept(Finished(FileStatus.CLEAN))
    return results


def test_two_targets_that_run_one_expression_are_told_together() -> None:
    store = ExpressionStore()
    store.take(ended("/a.py", "FACT", "train", "eval"))
    (known,) = store.at("/a.py", "FACT")
    assert known.targets == ("train", "eval")
    assert (known.fact.runs, known.fact.op_count, known.fact.ops) == (2, 2, {"aten.mul.Tensor": 2})


def test_a_helper_module_is_told_of_by_the_files_that_import_it() -> None:
    store = ExpressionStore()
    store.take(ended("/a.py", "import helper", "Model", where="/helper.py"))
    assert store.at("/a.py", "import helper") == []
    assert told(store.at("/helper.py", "\nFACT", known_as="FACT")) == ["1:0 2 mock stale"]


async def test_a_document_is_told_what_other_documents_know_of_it(desk: Desk) -> None:
    desk.open(SAVED)
    desk.open("FACT = 1\n", "helper.py")
    await desk.settled()
    await desk.settled("helper.py")
    desk.engine._sessions[desk.uri()].expressions.take(
        ended(str(desk.path()), SAVED, "Model", where=str(desk.path("helper.py")))
    )
    assert told(desk.engine.expressions(desk.uri("helper.py"))) == ["0:0 2 mock"]
