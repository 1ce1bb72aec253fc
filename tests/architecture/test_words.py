"""One word for one thing: what people read, in the daemon and in the extension, holds none of the words given up."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
DAEMON = ROOT / "daemon" / "inductor_debug"
EXTENSION = ROOT / "vscode-extension"
SPEAKING = ("cli", "engine", "kerneldiff", "report", "repro", "rules", "server")
GIVEN_UP = {
    r"\bmock (stage|capture|graph|findings?|run|backend)\b|\bmock:": "`mock` is an accelerator",
    r"\bpreview (stage|ended|run|failed|skipped)\b|\bthe preview\b": "the stage is the run",
    r"\baot stage\b|\bthe aot\b": "the stage is forward and backward",
    r"\binductor stage\b": "the stage is kernels",
    r"max error 0\b": "results without an error are equal to the last bit",
    r"\b1 times\b": "an error as large as expected is no multiple",
    r"UnknownError|GuessedConfiguration|NotInferable": "names of our classes mean nothing to anybody",
}
COMMAND_LINE_NAMES = re.compile(r"`[^`]*`|--\w[\w-]*|default: [\w,]+|\binductor-debug [\w-]+")
"""What is typed as it stands keeps the names of the wire."""


def test_nothing_that_the_daemon_says_holds_a_word_given_up() -> None:
    assert [*_complaints(_said_by_the_daemon())] == []


def test_nothing_that_the_extension_says_holds_a_word_given_up() -> None:
    assert [*_complaints(_said_by_the_extension())] == []


def test_the_words_given_up_would_be_found() -> None:
    assert [*_complaints([("here", "mock: 8 findings"), ("there", "max error 0, 1 times the error to expect")])]
    assert [*_complaints([("here", "checked for mock, with `--stages preview,mock`")])] == []


LINE_BESIDE_A_FILE = re.compile(r":\{[\w.\[\]]*\bline \+ 1\}")
WHERE_NO_CELL_CAN_BE = {
    "accelerators/document.py": "profiles are TOML",
    "cli/commands/measured/debug_run.py": "files that a debugger stops in are written by us",
    "engine/settings/settings.py": "settings are TOML",
    "report/survey/survey_page.py": "results of surveys carry the cell: their notebooks may be elsewhere",
    "source/notebooks/reading.py": "the one place that says it",
}


def test_lines_are_told_beside_their_file_by_one_function_that_knows_cells() -> None:
    """`reading.place_in_words`: what is put together by hand names lines that no user of a notebook sees."""
    found = {
        path.relative_to(DAEMON).as_posix()
        for path in DAEMON.rglob("*.py")
        if LINE_BESIDE_A_FILE.search(path.read_text(encoding="utf-8"))
    }
    assert found == set(WHERE_NO_CELL_CAN_BE)


def _complaints(said: Iterator[tuple[str, str]] | list[tuple[str, str]]) -> Iterator[str]:
    for place, text in said:
        shown = COMMAND_LINE_NAMES.sub(" ", text)
        for pattern, why in GIVEN_UP.items():
            if found := re.search(pattern, shown):
                yield f"{place}: {found[0]!r} in {text[:80]!r}: {why}"


def _said_by_the_daemon() -> Iterator[tuple[str, str]]:
    """Every text with a space in it that is no docstring; the benchmarks speak to ourselves."""
    for room in SPEAKING:
        for path in sorted((DAEMON / room).rglob("*.py")):
            if "bench" in path.parts:
                continue
            tree = ast.parse(path.read_text(encoding="utf-8"))
            alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                text = _text(node)
                if text and " " in text and id(node) not in alone:
                    yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}", text


def _text(node: ast.AST) -> str:
    """A text as it reads, with `{}` for what is put in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _said_by_the_extension() -> Iterator[tuple[str, str]]:
    for name in ("package.nls.json", "l10n/bundle.l10n.json"):
        for text in json.loads((EXTENSION / name).read_text(encoding="utf-8")).values():
            yield name, text
    for path in sorted((EXTENSION / "walkthrough").glob("*.md")):
        yield path.name, path.read_text(encoding="utf-8")
