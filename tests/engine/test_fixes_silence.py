"""Comments that silence: a text with its finding between « and », and the text with the comment."""

from __future__ import annotations

import re

import pytest
from inductor_debug.engine.fixes.edits import applied
from inductor_debug.engine.fixes.silence import silence, without_idle
from inductor_debug.engine.results.policy import apply_policy
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.engine.text.source_facts import source_of
from inductor_debug_schema import Finding, IdleIgnore, Position, Range, Severity, Stage
from test_fixes import marked

TAG = "  # inductor-debug: ignore"
SILENCED = [
    ("y = «x.double()»", f"y = x.double(){TAG}[dtype]"),
    ("y = «x.double()»\r\nz = 1\r\n", f"y = x.double(){TAG}[dtype]\r\nz = 1\r\n"),
    ("y = «x.double()»   \n", f"y = x.double(){TAG}[dtype]   \n"),
    ("y = «x.double()»  # why not", f"y = x.double()  # why not{TAG}[dtype]"),
    ("y = «x.double()»  # type: ignore", f"y = x.double()  # type: ignore{TAG}[dtype]"),
    (f"y = «x.double()»{TAG}[layout]", f"y = x.double(){TAG}[layout, dtype]"),
    (f"y = «x.double()»{TAG}[layout,]", f"y = x.double(){TAG}[layout, dtype]"),
    (f"y = «x.double()»  # note{TAG}[layout] so", f"y = x.double()  # note{TAG}[layout, dtype] so"),
    (
        f"y = f(  # note{TAG}[rank]\n    «x\n    .double()»)",
        f"y = f(  # note{TAG}[rank]\n    x{TAG}[dtype]\n    .double())",
    ),
    ("y = «f(\n    x,\n    1,\n)»\n", f"y = f({TAG}[dtype]\n    x,\n    1,\n)\n"),
    ("y = «x + \\\n    1»\n", f"y = x + \\\n    1{TAG}[dtype]\n"),
    ('y = «f("""a\nb""")»\n', f'y = f("""a\nb"""){TAG}[dtype]\n'),
    ('y = g(\n    "#", «f("""a\nb""", "#")»)\n', f'y = g(\n    "#", f("""a\nb""", "#")){TAG}[dtype]\n'),
    ("y = f('''a\n«b»''' + \\\n  c)\n", None),
    ('y = f(a, """b\nc {«d»} e\nf""")\n', None),
    ("# inductor-debug: inputs=(«torch.randn(8, 63)»,)\n", None),
    ("y = «x.double()» + \\\n  z + \\\n  w\n", None),
    ("\ty = '😀😀' + «x.double()»; '😀'\n", f"\ty = '😀😀' + x.double(); '😀'{TAG}[dtype]\n"),
    ("y = '#' + «x.double()»", f"y = '#' + x.double(){TAG}[dtype]"),
    ("a = 1\ry = «x.double()»\rb = 2\r", f"a = 1\ry = x.double(){TAG}[dtype]\rb = 2\r"),
    ("\ufeffy = «x.double()»\n", f"\ufeffy = x.double(){TAG}[dtype]\n"),
    ("def f(:\n    return «x.double()»\n", f"def f(:\n    return x.double(){TAG}[dtype]\n"),
]


@pytest.mark.parametrize(("text", "expected"), SILENCED)
def test_a_comment_silences_a_finding(text: str, expected: str | None) -> None:
    plain, finding = marked(text, "dtype")
    edit = silence(plain, finding)
    after = None if edit is None else applied(plain, [edit])
    assert after == expected
    if after is not None:
        assert shown(after, finding) == []


def shown(text: str, finding: Finding) -> list[Finding]:
    """What policy shows of a finding."""
    settings = Settings("/p")
    return apply_policy(
        [finding], path=finding.path, settings=settings, source_for=lambda _: source_of(text), complete=False
    )


@pytest.mark.parametrize("rule", ["syntax-error", "configuration", "unused-ignore", "environment"])
def test_what_no_comment_can_silence_is_not_offered_one(rule: str) -> None:
    text, finding = marked("y = «x»", rule)
    assert silence(text, finding) is None


def test_a_finding_beyond_the_end_of_the_text_is_left_alone() -> None:
    span = Range(Position(7, 0), Position(7, 4))
    assert silence("y = 1\n", Finding("dtype", Severity.WARNING, "m", "/p/m.py", span, Stage.MOCK)) is None


REMOVED = [
    ("y = x  «# inductor-debug: ignore[dtype]»\nz\n", ["dtype"], "y = x\nz\n"),
    ("y = x  «# inductor-debug: ignore[dtype]» as it is needed\r\nz\r\n", ["dtype"], "y = x\r\nz\r\n"),
    ("y = x  «# inductor-debug: ignore[dtype, layout]» why", ["dtype"], "y = x  # inductor-debug: ignore[layout] why"),
    ("y = x  «# inductor-debug: ignore[a,b , c]»", ["a", "c"], "y = x  # inductor-debug: ignore[b]"),
    ("y = x  «# inductor-debug: ignore[a, b]»", ["a", "b"], "y = x"),
    ("y = x  «# inductor-debug: ignore»", [], "y = x"),
    ("y = x  # note  «# inductor-debug: ignore[dtype]»", ["dtype"], "y = x  # note"),
    ("y = x  «# inductor-debug: ignore[dtype]»  # noqa", ["dtype"], "y = x  # noqa"),
    ("a\n    «# inductor-debug: ignore[dtype]»\nb\n", ["dtype"], "a\nb\n"),
    ("a\r\n«# inductor-debug: ignore[dtype]»", ["dtype"], "a"),
    ("«# inductor-debug: ignore[dtype]»", ["dtype"], ""),
    ("x = '😀'  «# inductor-debug: ignore[dtype]»\n", ["dtype"], "x = '😀'\n"),
    ("\ufeff«# inductor-debug: ignore[dtype]»\nx\n", ["dtype"], "\ufeffx\n"),
]


@pytest.mark.parametrize(("text", "idle", "expected"), REMOVED)
def test_what_silences_nothing_is_removed(text: str, idle: list[str], expected: str) -> None:
    plain, finding = marked(text, "unused-ignore", IdleIgnore(idle))
    edit = without_idle(plain, finding)
    assert edit is not None
    assert applied(plain, [edit]) == expected


def test_a_comment_that_is_gone_is_not_removed() -> None:
    text, finding = marked("y = «x # inductor-debug: ignore[dtype]»", "unused-ignore")
    assert without_idle(text, finding) is None
    assert without_idle(re.sub("#.*", "", text), finding) is None
