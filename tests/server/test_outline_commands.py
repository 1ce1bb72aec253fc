"""`inductorDebug.outline` and `inductorDebug.directive`: where classes lie, and what is written above them."""

from __future__ import annotations

import ast
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inductor_debug.engine.fixes.edits import TextEdit, applied
from inductor_debug.server.commands.directive_drafting import ExpressionError, arguments, draft
from inductor_debug.server.state.editor_texts import EditorDocument
from inductor_debug.source.directives import read_directives
from inductor_debug_schema import DirectiveDraft, FileOutline, from_wire
from server_harness import Editor

FILE = """\
import torch

# about the model
# inductor-debug: inputs=(torch.randn(8, 64),), init=(64, 10), train
@final
@dataclass(eq=False)
class Classifier(nn.Module):
    def __init__(self, width: int, classes, /, *, bias: bool = True, heads, act=torch.relu) -> None:
        super().__init__()

class Helper:
    def __init__(self,
                 size,  # how big
                 names: dict[str, int] = {}):
        pass

class Empty(Classifier): pass

def build(): return Empty()

if torch.cuda.is_available():
    class Fast(nn.Module): pass
"""


def drafted(text: str, name: str, *wishes: str) -> DirectiveDraft:
    document = EditorDocument("file:///a.py", "/a.py", 1, text)
    found = document.outline.definition(name)
    assert found is not None
    return draft(document, found, *wishes)


def written(text: str, name: str, *wishes: str) -> str:
    return applied(text, [TextEdit(edit.range, edit.text) for edit in drafted(text, name, *wishes).edits])


async def ask(editor: Editor, name: str, /, **options: Any) -> Any:
    params = {"command": f"inductorDebug.{name}", "arguments": [options]}
    return (await editor.request("workspace/executeCommand", params))["result"]


async def test_an_editor_is_told_where_classes_and_functions_lie(
    start_editor: Callable[..., Awaitable[Editor]], tmp_path: Path
) -> None:
    editor = await start_editor()
    uri = editor.open(tmp_path / "model.py", FILE)
    outline = from_wire(FileOutline, await ask(editor, "outline", uri=uri))
    assert [(entry.name, entry.kind.value, entry.top, entry.line) for entry in outline.entries] == [
        ("Classifier", "module", 4, 6),
        ("Helper", "class", 10, 10),
        ("Empty", "module", 16, 16),
        ("build", "function", 18, 18),
        ("Fast", "module", 21, 21),
    ]
    assert [entry.name for entry in outline.entries if entry.has_directive] == ["Classifier"]
    assert [entry.name for entry in outline.entries if entry.nested] == ["Fast"]
    assert outline.parses


async def test_while_the_text_does_not_parse_definitions_are_told_where_they_lie_now(
    start_editor: Callable[..., Awaitable[Editor]], tmp_path: Path
) -> None:
    editor = await start_editor()
    uri = editor.open(tmp_path / "model.py", FILE)
    await ask(editor, "outline", uri=uri)
    editor.change(uri, 2, {"text": f"x = (\n\n{FILE}"})
    outline = from_wire(FileOutline, await ask(editor, "outline", uri=uri))
    assert not outline.parses
    assert [(entry.name, entry.top) for entry in outline.entries][:2] == [("Classifier", 6), ("Helper", 12)]
    assert outline.entries[0].has_directive
    edits = (await ask(editor, "directive", uri=uri, name="Helper", inputs="x"))["edits"]
    assert edits[0]["range"]["start"]["line"] == 12


async def test_a_text_that_the_server_does_not_hold_is_sent_along(
    start_editor: Callable[..., Awaitable[Editor]],
) -> None:
    editor = await start_editor()
    cell = "vscode-notebook-cell:/a.ipynb#1"
    assert (await ask(editor, "outline", uri=cell, text="class A: pass\n"))["entries"][0]["name"] == "A"
    assert await ask(editor, "directive", uri=cell, text="class A: pass\n", name="Gone") is None
    refused = await editor.request(
        "workspace/executeCommand", {"command": "inductorDebug.outline", "arguments": [cell]}
    )
    assert "is not open" in refused["error"]["message"]


async def test_an_outline_that_is_too_long_for_a_message_says_how_much_is_left_out(
    start_editor: Callable[..., Awaitable[Editor]], tmp_path: Path
) -> None:
    editor = await start_editor()
    text = "".join(f"class Generated{number}: pass\n" for number in range(2000))
    uri = editor.open(tmp_path / "long.py", text)
    outline = from_wire(FileOutline, await ask(editor, "outline", uri=uri))
    assert outline.entries
    assert len(outline.entries) + outline.left_out == 2000


def test_a_class_says_what_it_cannot_be_made_without() -> None:
    assert drafted(FILE, "Classifier").required == ["width", "classes", "heads"]
    assert drafted(FILE, "Helper").required == ["size"]
    assert drafted(FILE, "Empty").required == []


def test_a_directive_that_is_there_is_read() -> None:
    there = drafted(FILE, "Classifier")
    assert (there.inputs, there.init) == ("(torch.randn(8, 64),)", "(64, 10)")
    assert (drafted(FILE, "Empty").inputs, drafted(FILE, "Empty").init) == (None, None)


def test_a_new_directive_stands_above_the_decorators_and_keeps_what_else_was_said() -> None:
    text = written(FILE, "Classifier", "torch.randn(2, 64)", "")
    assert "\n# about the model\n# inductor-debug: inputs=(torch.randn(2, 64),), train\n@final\n" in text
    assert "\n# inductor-debug: inputs=(x, y), init=(3,)\nclass Helper:\n" in written(FILE, "Helper", "x, y", "3")


def test_directives_over_several_lines_and_comments_become_one() -> None:
    above = "# inductor-debug: inputs=(torch.randn(8,\n#     64),),\n#   eval\n# why\n# inductor-debug: dynamic\n"
    text = f"{above}class A: pass\n"
    assert drafted(text, "A").inputs == "(torch.randn(8, 64),)"
    assert written(text, "A", "x") == "# inductor-debug: inputs=(x,), eval, dynamic\n# why\nclass A: pass\n"


def test_comments_that_silence_rules_or_name_an_entry_are_left_alone() -> None:
    text = "# inductor-debug: entry=A(3)\n# inductor-debug: ignore[dtype]\nclass A: pass\n"
    directive = "# inductor-debug: inputs=(x,)\nclass A: pass\n"
    assert written(text, "A", "x") == text.replace("class A: pass\n", directive)


@pytest.mark.parametrize(
    ("typed", "made"),
    [
        ("torch.randn(8, 64)", "(torch.randn(8, 64),)"),
        ("a, b", "(a, b)"),
        ("(a, b)", "(a, b)"),
        ("(a,)", "(a,)"),
        ("(a)", "((a),)"),
        ("(a), (b)", "((a), (b))"),
        ("(f)(a), g(b)", "((f)(a), g(b))"),
        ("{'x': torch.ones(2)}", "{'x': torch.ones(2)}"),
        ("[(a,), (b,)]", "[(a,), (b,)]"),
        ("(a, b),", "((a, b),)"),
        ("*a, b", "(*a, b)"),
        ("torch.ones(2),", "(torch.ones(2),)"),
        ("()", "()"),
        ("f(')')", "(f(')'),)"),
        ("lambda: 1, 2", "(lambda: 1, 2)"),
    ],
)
def test_what_is_typed_becomes_arguments(typed: str, made: str) -> None:
    assert arguments(typed) == made


@pytest.mark.parametrize(
    "typed",
    ["f(x", "f(x))", "x = 1", "a b", "x # all", "[x] # all", "a\nb", "\0", "x), train, (y", "x)(y", "**x", "(" * 5000],
)
def test_what_is_no_expression_is_refused_with_a_reason(typed: str) -> None:
    with pytest.raises(ExpressionError, match=r"\w+ .*\.$"):
        arguments(typed)
    assert drafted(FILE, "Helper", typed).edits == []


@given(
    st.lists(
        st.sampled_from(["f(x, y)", "'a, #b'", "{1: (2,)}", "x[1:2]", "lambda a, b: a", "-1.5e3", "(3)"]), min_size=1
    )
)
def test_what_is_written_is_read_back_as_the_same_arguments(values: list[str]) -> None:
    text = written("class A: pass\n", "A", ", ".join(values))
    (directive,), faults = read_directives(text)
    assert faults == []
    tree = directive.arguments["inputs"].tree.body
    wanted = ast.parse(f"({', '.join(values)},)", mode="eval").body
    if not (len(values) == 1 and isinstance(ast.parse(values[0], mode="eval").body, ast.Dict)):
        assert ast.unparse(tree) == ast.unparse(wanted)
