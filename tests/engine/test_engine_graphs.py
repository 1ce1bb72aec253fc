"""Graphs that a check has captured are there for who wants to see them, while the text is the one that was checked."""

from __future__ import annotations

from desk import SAVED, Desk, body
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug_schema import Stage

ORDER = Order(target="Model", stages=(Stage.MOCK,), keep_graphs=True)


async def held(desk: Desk, order: Order = ORDER) -> Performed | None:
    return await desk.engine.held(str(desk.path()), order)


async def test_the_graph_of_the_check_is_there_without_another_run(desk: Desk) -> None:
    await desk.opened(SAVED)
    shown = await held(desk)
    assert shown is not None
    assert [made.content for made in shown.artifacts] == [SAVED.encode()]
    assert [reference.bytes for reference in shown.references] == [len(SAVED.encode())]
    assert [finding.rule for finding in shown.report.findings] == ["dtype"]
    assert desk.ran == [SAVED]


async def test_a_check_that_goes_on_is_waited_for(desk: Desk) -> None:
    desk.open(SAVED)
    shown = await held(desk)
    assert shown is not None
    assert desk.ran == [SAVED]


async def test_an_edit_has_the_graph_of_the_edited_text(desk: Desk) -> None:
    await desk.opened(SAVED)
    desk.type(body("x * 2"))
    shown = await held(desk)
    assert shown is not None
    assert shown.artifacts[0].content == body("x * 2").encode()


async def test_there_is_none_where_the_check_was_not_of_this_text_stage_or_target(desk: Desk) -> None:
    assert await held(desk) is None, "nothing is open"
    await desk.opened(SAVED)
    assert await held(desk, Order(target="Model", stages=(Stage.MOCK, Stage.AOT))) is None
    assert await held(desk, Order(target="Other", stages=(Stage.MOCK,))) is None
    desk.type(SAVED + "print('unsaved')\n")
    await desk.settled()
    assert await held(desk) is None, "unsaved top-level code does not run, so it has no graph"


async def test_only_the_latest_results_keep_graphs(desk: Desk) -> None:
    await desk.opened(SAVED)
    for number in range(20):
        desk.type(body(f"x * {number}"))
        await desk.settled()
    desk.type(SAVED)
    await desk.settled()
    assert await held(desk) is None, "its findings come from the cache, its graphs are gone"
    assert desk.ran.count(SAVED) == 1
