"""Whatever is typed, saved, cancelled or held up, in whatever order: what is shown in the end is what `check` says."""

from __future__ import annotations

import ast
import asyncio
import tempfile
from pathlib import Path

from desk import DONE, SAVED, Desk
from hypothesis import given, settings
from hypothesis import strategies as st
from inductor_debug.engine.text.documents import Document, Runnable
from inductor_debug.engine.text.top_level import TopLevel
from inductor_debug.source.parsing import unparsed

LINES = st.sampled_from(
    [
        "class Model:\n",
        "def build(x=1):\n",
        "    def forward(self, x):\n",
        "        return x + BAD\n",
        "        y = x * MOCK\n",
        "        return PREVIEW\n",
        "    x = 1\n",
        "    return BAD\n",
        "BAD = 1\n",
        "import os\n",
        "# inductor-debug: inputs=(1,)\n",
        "        z = '😀' + BAD  # inductor-debug: ignore[dtype]\n",
        "\n",
        "x = (\n",
        ")\n",
    ]
)


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, int, int, str]:
    """Replaces some lines of whatever text there is."""
    return "edit", draw(st.integers(0, 8)), draw(st.integers(0, 3)), "".join(draw(st.lists(LINES, max_size=3)))


STEPS = st.lists(
    st.one_of(
        edits(),
        edits(),
        edits(),
        st.just(("save", 0, 0, "")),
        st.just(("undo", 0, 0, "")),
        st.just(("turn", 0, 0, "")),
        st.just(("cancel", 0, 0, "")),
        st.just(("ask", 0, 0, "")),
    ),
    max_size=14,
)


def edited(text: str, first: int, count: int, lines: str) -> str:
    before = text.splitlines(keepends=True)
    return "".join([*before[:first], lines, *before[first + count :]])


async def play(desk: Desk, steps: list[tuple[str, int, int, str]]) -> str:
    """Does the steps; returns the text that is in the editor in the end."""
    text = saved = SAVED
    desk.open(SAVED)
    allowed = {SAVED}
    for kind, first, count, lines in steps:
        if kind == "edit":
            text = edited(text, first, count, lines)
            desk.type(text)
        elif kind == "save":
            saved = text
            desk.save()
        elif kind == "undo":
            text = saved
            desk.type(text)
        elif kind == "turn":
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        elif kind == "cancel":
            desk.engine.cancel()
        else:
            desk.engine.analyze(desk.uri(), "asked")
        if text == saved or same_top_level(saved, text):
            allowed.add(text)
    # Nothing runs that has top-level code which was not saved at that time.
    assert set(desk.ran) <= allowed
    return text


def same_top_level(saved: str, text: str) -> bool:
    """Whether both texts parse and differ inside of functions only."""

    class Blank(ast.NodeTransformer):
        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
            node.body = []
            return node

    try:
        return ast.dump(Blank().visit(ast.parse(saved))) == ast.dump(Blank().visit(ast.parse(text)))
    except SyntaxError:
        return False


async def story(folder: Path, steps: list[tuple[str, int, int, str]]) -> None:
    desk = Desk(folder)
    fresh = Desk(folder)
    try:
        text = await play(desk, steps)
        last = await desk.settled()
        generations = [update.generation for update in desk.updates]
        assert generations == sorted(generations)
        if last.state is DONE:
            await compare(desk, fresh, text)
        desk.save()
        assert (await desk.settled()).state is DONE
        await compare(desk, fresh, text)
        assert same_versions(desk)
    finally:
        await desk.engine.shutdown()
        await fresh.engine.shutdown()


async def compare(desk: Desk, fresh: Desk, text: str) -> None:
    """The findings shown for a document that is done are those that a fresh check of its text gives."""
    last = desk.engine.latest(desk.uri())
    assert last is not None
    before = desk.path().read_bytes()
    desk.write(text)
    report = await fresh.engine.check(str(desk.path()))
    desk.path().write_bytes(before)
    if unparsed(report.findings, str(desk.path())):
        assert last.report.findings[: len(report.findings)] == report.findings  # what was known before may follow
    else:
        assert last.report == report


def same_versions(desk: Desk) -> bool:
    versions = [update.version or 0 for update in desk.updates]
    return versions == sorted(versions)


@settings(max_examples=100, deadline=None)
@given(STEPS)
def test_after_the_last_edit_settles_the_findings_are_those_of_a_fresh_check(
    steps: list[tuple[str, int, int, str]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(story(Path(folder), steps))


FUNCTION_BODIES = st.lists(st.sampled_from(["x = BAD", "return 1", "def g(): return 2", "'doc'", "pass"]), min_size=1)


@settings(deadline=None)
@given(FUNCTION_BODIES, FUNCTION_BODIES)
def test_function_bodies_are_free_and_everything_else_is_not(old: list[str], new: list[str]) -> None:
    def text(lines: list[str], rest: str) -> str:
        return "class A:\n    def f(self):\n" + "".join(f"        {line}\n" for line in lines) + rest

    document = Document("u", "/p", 1, text(new, "x = 1\n"), text(old, "x = 1\n"))
    assert document.verdict() is Runnable.RUN
    document.text = text(new, "x = 2\n")
    assert document.verdict() is Runnable.WAIT


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, max_size=8), st.integers(0, 8), st.integers(0, 3), st.lists(LINES, max_size=3))
def test_one_statement_parsed_alone_gives_the_answer_of_the_whole_file(
    saved: list[str], first: int, count: int, lines: list[str]
) -> None:
    old = "".join(saved)
    new = edited(old, first, count, "".join(lines))
    assert (TopLevel(old).same_in(new) is True) == same_top_level(old, new)
