"""Graph breaks: told once each, at the expression that breaks, with what torch knows about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from capture_targets import build, excerpt
from inductor_debug.capture.dynamo_breaks import RawBreak, stack_of_summaries
from inductor_debug.capture.graph_breaks import explain
from inductor_debug.capture.mock import run_mock
from inductor_debug_schema import Finding, Location, Severity

pytestmark = pytest.mark.torch


def breaks(folder: Path, body: str, before: str = "", **options: bool) -> list[Finding]:
    lines = "\n".join("    " + line for line in body.strip().splitlines())
    target, sources = build(
        folder, f"{before}\ndef model(x):\n{lines}\ninputs = (torch.ones(4, requires_grad=True),)\n", **options
    )
    return [finding for finding in run_mock(target, sources).findings if finding.rule != "capture-error"]


def place_of(finding: Finding) -> str:
    return excerpt(Location(finding.path, finding.range))


@pytest.mark.parametrize(
    ("body", "where", "severity", "words"),
    [
        (
            "y = x + 1; torch._dynamo.graph_break(); return y",
            "torch._dynamo.graph_break()",
            "warning",
            "Graph break: Call",
        ),
        ("y = x + x.sum().item()\nreturn y * 2", "x.sum().item()", "warning", "Tensor.item()"),
        ("if x.sum() > 0:\n    x = x + 1\nreturn x", "x.sum() > 0", "warning", "Data-dependent branching"),
        ("while x.sum() < 0:\n    x = x + 1\nreturn x", "x.sum() < 0", "warning", "Data-dependent branching"),
        ("assert x.sum() > 0, f'{x}'\nreturn x", "x.sum() > 0", "warning", ""),
        ("y = x + 1\nprint('shape', y.shape)\nreturn y * 2", "print('shape', y.shape)", "warning", "`print`"),
        ("return x[x > 0] + 1", "x[x > 0]", "warning", "Dynamic shape operator"),
        ("x = x + 1\nimport time; time.time()\nreturn x", "time.time()", "warning", ""),
    ],
)
def test_a_break_is_told_at_the_expression_that_breaks(
    tmp_path: Path, body: str, where: str, severity: str, words: str
) -> None:
    found = breaks(tmp_path, body, real=True)

    assert [(finding.rule, place_of(finding)) for finding in found] == [("graph-break", where)]
    assert found[0].severity.value in (severity, "information")
    assert words in found[0].message
    assert found[0].message.startswith("Graph break: ")
    assert "\n" not in found[0].message
    assert (found[0].link or "").startswith("https://")


def test_calls_of_one_function_that_cannot_be_traced_have_one_cause(tmp_path: Path) -> None:
    before = "import time\n@torch.compiler.disable\ndef mix(x):\n    return x + 1"
    body = "x = mix(x)\na = time.time()\nx = mix(x * 2)\nb = time.time()\nif x.sum() > 0:\n    x = x * 2\nreturn x"
    causes = [finding.cause for finding in breaks(tmp_path, body, before, real=True) if finding.rule == "graph-break"]
    assert causes == ["<function mix>", causes[1], "<function mix>", causes[1], ""]
    assert "time" in causes[1]


def test_a_break_that_twelve_layers_repeat_is_told_once_with_its_callers(tmp_path: Path) -> None:
    found = breaks(
        tmp_path,
        "for _ in range(12):\n    x = layer(x)\nreturn x",
        before="def layer(x):\n    torch._dynamo.graph_break()\n    return x + 1\n",
    )

    [finding] = found
    assert place_of(finding) == "torch._dynamo.graph_break()"
    assert [item.message for item in finding.related] == ["called from model"]
    assert "`model` cannot be resumed after it" in finding.message


def test_two_breaks_of_a_kind_are_two_findings(tmp_path: Path) -> None:
    found = breaks(tmp_path, "y = x + 1\nprint(1)\ny = y + 1\nprint(2)\nreturn y")

    assert [place_of(finding) for finding in found] == ["print(1)", "print(2)"]


def test_a_function_compiled_too_often_is_told(tmp_path: Path) -> None:
    found = breaks(
        tmp_path,
        "for n in range(12):\n    x = part(x, str(n))\nreturn x",
        before="def part(x, name):\n    torch._dynamo.graph_break()\n    return x * len(name + name)\n",
    )

    recompile = next(finding for finding in found if finding.rule == "recompile")
    assert place_of(recompile) == "part(x, str(n))"
    assert recompile.severity is Severity.WARNING
    assert "`part` was recompiled too often" in recompile.message


def test_a_break_inside_torchs_own_code_is_told_at_the_call_of_it(tmp_path: Path) -> None:
    found = breaks(
        tmp_path,
        "optimizer.zero_grad()\nmodule(x).sum().backward()\noptimizer.step()\nreturn x",
        before="module = nn.Linear(4, 4)\noptimizer = torch.optim.SGD(module.parameters(), lr=0.1)\n",
    )

    assert {place_of(finding) for finding in found} == {
        "optimizer.zero_grad()",
        "module(x).sum().backward()",
        "optimizer.step()",
    }


def test_with_fullgraph_a_break_is_an_error(tmp_path: Path) -> None:
    target, sources = build(
        tmp_path, "def model(x):\n    torch._dynamo.graph_break()\n    return x\ninputs = (torch.ones(1),)\n"
    )
    target.fullgraph = True

    assert [finding.severity for finding in run_mock(target, sources).findings] == [Severity.ERROR]


def test_a_message_is_taken_apart() -> None:
    text = (
        "Failed to handle graph break gracefully. Skipping the function and falling back to eager. Graph break "
        "encountered:\n\nUnsupported thing\n  Explanation: It is\n    not supported at 0x7f00aa.\n  Hint: Do this.\n"
        "  Hint: Please report an issue to PyTorch.\n\n  Developer debug context: secret\n\n For more details about "
        "this graph break, please visit: https://example.org/gb0001.html"
    )
    explanation = explain(RawBreak("Unsupported thing", text, ()))

    assert (explanation.kind, explanation.text) == ("Unsupported thing", "It is not supported.")
    assert explanation.hints == ("Do this.", "Please report an issue to PyTorch.")
    assert explanation.link == "https://example.org/gb0001.html"
    assert explanation.skipped
    assert not explanation.caused_earlier


def test_the_first_of_two_nested_breaks_is_the_one_to_fix() -> None:
    first = "First\n  Explanation: One.\n\n  Developer debug context: a"
    second = "Second\n  Explanation: Two.\n\n  Developer debug context: b"
    text = f"{first}\n\n*** While handling this graph break, another graph break occurred: ***\n\n{second}"

    assert explain(RawBreak("Second", text, ())).kind == "First"


def test_an_unknown_form_of_message_is_shown_as_it_is() -> None:
    assert explain(RawBreak("", "generic_jump TensorVariable()", ())).text == "generic_jump TensorVariable()"


def test_summaries_without_an_end_line_give_lines_only() -> None:
    import traceback

    summary = traceback.FrameSummary("model.py", 3, "forward", lookup_line=False)
    [frame] = stack_of_summaries([summary])

    assert tuple(frame.positions) == (3, None, None, None)
