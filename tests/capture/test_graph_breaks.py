"""Graph breaks: told once each, at the expression that breaks, with its cause as a fact."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from capture_targets import build, excerpt
from forked import analyze
from inductor_debug.capture.dynamo.breaks.torch_kinds import cause_of
from inductor_debug.capture.dynamo.breaks.torch_words import torch_words
from inductor_debug.capture.dynamo.dynamo_breaks import stack_of_summaries
from inductor_debug.capture.stages.mock import run_mock
from inductor_debug.rules.words.break_words import sentence_of
from inductor_debug_schema import BreakCause, Finding, GraphBreak, Location, Severity, Stage
from torch._dynamo import graph_break_hints
from torch_release import RELEASE

pytestmark = pytest.mark.torch


def breaks(folder: Path, body: str, before: str = "", **options: bool) -> list[Finding]:
    lines = "\n".join("    " + line for line in body.strip().splitlines())
    target, sources = build(
        folder, f"{before}\ndef model(x):\n{lines}\ninputs = (torch.ones(4, requires_grad=True),)\n", **options
    )
    return [finding for finding in run_mock(target, sources).findings if finding.rule != "capture-error"]


def place_of(finding: Finding) -> str:
    return excerpt(Location(finding.path, finding.range))


def facts_of(finding: Finding) -> GraphBreak:
    assert isinstance(finding.facts, GraphBreak)
    return finding.facts


@pytest.mark.parametrize(
    ("body", "where", "cause", "subject"),
    [
        (
            "y = x + 1; torch._dynamo.graph_break(); return y",
            "torch._dynamo.graph_break()",
            BreakCause.REQUESTED,
            "",
        ),
        ("y = x + x.sum().item()\nreturn y * 2", "x.sum().item()", BreakCause.VALUE, "x.sum()"),
        ("import torch\nn = x.argmax()\nreturn torch.ones(n, 4)", "torch.ones(n, 4)", BreakCause.VALUE, "n"),
        ("import torch\nn = x.argmax()\nreturn torch.ones(n, n)", "torch.ones(n, n)", BreakCause.VALUE, ""),
        ("i = x.argmax()\nreturn [x[0, i:]]", "i:", BreakCause.VALUE, "i"),
        ("if float(x.mean()) > 0:\n    x = x + 1\nreturn x", "float(x.mean())", BreakCause.VALUE, "x.mean()"),
        ("if x.sum() > 0:\n    x = x + 1\nreturn x", "x.sum() > 0", BreakCause.BRANCH, "x.sum() > 0"),
        ("if (x > 0).any():\n    x = x + 1\nreturn x", "(x > 0).any()", BreakCause.BRANCH, "(x > 0).any()"),
        ("n = 2 if (x > 0).any() else 3\nreturn x * n", "(x > 0).any()", BreakCause.BRANCH, "(x > 0).any()"),
        ("while x.sum() < 0:\n    x = x + 1\nreturn x", "x.sum() < 0", BreakCause.BRANCH, "x.sum() < 0"),
        ("assert x.sum() > 0, f'{x}'\nreturn x", "x.sum() > 0", BreakCause.BRANCH, "x.sum() > 0"),
        ("y = x + 1\nprint('shape', y.shape)\nreturn y * 2", "print('shape', y.shape)", BreakCause.PRINT, ""),
        ("return x[x > 0] + 1", "x[x > 0]", BreakCause.SIZE, ""),
        ("x = x + 1\nimport time; time.time()\nreturn x", "time.time()", BreakCause.CLOCK, ""),
        ("torch.manual_seed(torch.initial_seed())\nreturn x", "torch.initial_seed()", BreakCause.RANDOM, ""),
        ("import warnings\nwarnings.warn('no')\nreturn x", "warnings.warn('no')", BreakCause.WARNING, ""),
        ("import logging\nlogging.info('no')\nreturn x", "logging.info('no')", BreakCause.LOGGING, ""),
        ("import sys\nsys.__stdout__.write('no')\nreturn x", "sys.__stdout__.write('no')", BreakCause.FILE, ""),
        ("import threading\nthreading.get_ident()\nreturn x", "threading.get_ident()", BreakCause.COMPILED_CODE, ""),
        (
            "y = torch.ones(4).requires_grad_()\nreturn x * y",
            "torch.ones(4).requires_grad_()",
            BreakCause.AUTOGRAD,
            "torch.ones(4)",
        ),
        ("return x.to_sparse().to_dense()", "x.to_sparse()", BreakCause.SPECIAL_TENSOR, ""),
    ],
)
def test_a_break_is_told_at_the_expression_that_breaks_with_its_cause(
    tmp_path: Path, body: str, where: str, cause: BreakCause, subject: str
) -> None:
    found = breaks(tmp_path, body, real=True)

    assert [(finding.rule, place_of(finding)) for finding in found][:1] == [("graph-break", where)]
    facts = facts_of(found[0])
    assert (facts.breaks_by, facts.expression, facts.subject) == (cause, where, subject)
    assert facts.registry_id.startswith("GB")
    assert (
        found[0].link == f"https://meta-pytorch.github.io/compile-graph-break-site/gb/{facts.registry_id.lower()}.html"
    )


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            "y = x + x.sum().item()\nreturn y * 2",
            "`x.sum().item()` needs the value of `x.sum()`, which is known only when the model runs, so the graph is "
            "split here.",
        ),
        (
            "import numpy as np\nreturn (x + 1).view(-1, np.prod([2, 2]))",
            "`(x + 1).view(-1, np.prod([2, 2]))` needs the value of `np.prod([2, 2])`, which is known only when the "
            "model runs, so the graph is split here.",
        ),
        (
            "if x.sum() > 0:\n    x = x + 1\nreturn x",
            "The value of `x.sum() > 0` decides which code runs next, so the graph is split here.",
        ),
        (
            "for _ in range(2):\n    print('a very long', 'text that nobody', 'wants to read in a', x.shape)\nreturn x",
            "`print(…)` prints while the model runs, so `model` is not compiled and runs eagerly.",
        ),
    ],
)
def test_a_break_is_one_plain_sentence(tmp_path: Path, body: str, sentence: str) -> None:
    assert [finding.message for finding in breaks(tmp_path, body, real=True)][:1] == [sentence]


def test_what_comes_after_a_break_is_not_called_from_it(tmp_path: Path) -> None:
    found = breaks(
        tmp_path,
        "return module(x)",
        before=(
            "class Model(nn.Module):\n    def forward(self, x):\n        x = x * 2\n        print('shape')\n"
            "        if x.sum() > 0:\n            x = x + 1\n        return self.more(x)\n"
            "    def more(self, x):\n        return x * x.max().item()\nmodule = Model()\n"
        ),
        real=True,
    )
    callers = {place_of(finding): [excerpt(Location(at.path, at.range)) for at in finding.related] for finding in found}

    assert callers["x.sum() > 0"] == callers["print('shape')"] == ["module(x)"]
    assert callers["x.max().item()"] == ["self.more(x)", "module(x)"]


def test_a_break_in_a_library_is_told_at_the_users_call_with_the_librarys_expression(tmp_path: Path) -> None:
    [finding] = breaks(tmp_path, "import copy\nreturn x + copy.deepcopy(x)", real=True)
    facts = facts_of(finding)

    assert place_of(finding) == "copy.deepcopy(x)"
    if RELEASE < (2, 12):  # it stopped before `copy.deepcopy`
        assert (facts.inside, facts.function) == ("", "copy.deepcopy")
        return
    assert (facts.inside, facts.function) == ("copy.deepcopy", "torch.Tensor.__deepcopy__")
    assert finding.message.startswith("Inside of `copy.deepcopy`, torch.compile cannot trace `copier(memo)`")


def test_calls_of_one_function_that_cannot_be_traced_have_one_cause(tmp_path: Path) -> None:
    before = "import time\n@torch.compiler.disable\ndef mix(x):\n    return x + 1"
    body = "x = mix(x)\na = time.time()\nx = mix(x * 2)\nb = time.time()\nif x.sum() > 0:\n    x = x * 2\nreturn x"
    causes = [finding.cause for finding in breaks(tmp_path, body, before, real=True) if finding.rule == "graph-break"]
    assert causes == ["model.mix", "time.time", "model.mix", "time.time", "branch in line 10"]


def test_the_asserts_of_a_function_have_one_cause(tmp_path: Path) -> None:
    body = "assert not torch.isnan(x).any()\ny = x * 2\nassert not torch.isnan(y).any()\n"
    body += "if y.sum() > 0:\n    y = y + 1\nreturn y"
    found = [finding for finding in breaks(tmp_path, body, real=True) if finding.rule == "graph-break"]
    assert [finding.cause for finding in found] == ["assert in model", "assert in model", "branch in line 5"]


def test_the_parts_of_one_condition_and_functions_of_math_have_one_cause(tmp_path: Path) -> None:
    body = "if x.min() < 0 or x.max() > 1:\n    x = x * 2\nif x.sum() > 0:\n    x = x + 1\nreturn x"
    found = [finding for finding in breaks(tmp_path, body, real=True) if finding.rule == "graph-break"]
    assert len(found) == 3
    assert [finding.cause for finding in found] == ["branch in line 2", "branch in line 2", "branch in line 4"]
    body = "import numpy as np\na = math.floor(np.log2(x.size(0)))\nb = math.ceil(np.log2(x.size(0)))\nreturn x * a * b"
    found = [finding for finding in breaks(tmp_path, body, "import math", real=True) if finding.rule == "graph-break"]
    assert [finding.cause for finding in found] == ["math", "math"]


def test_an_idiom_has_one_cause_in_each_function(tmp_path: Path) -> None:
    before = "def other(x, kept):\n    return x[kept]\n"
    body = "kept = x > 0\na = x[kept]\nb = x[kept] * a\nc = a.max().item()\nd = b.max().item()\n"
    body += "return other(x, kept), c, d"
    found = [finding for finding in breaks(tmp_path, body, before, real=True) if finding.rule == "graph-break"]
    causes = [finding.cause for finding in found]
    assert (len(found), causes.count("")) == (5, 2)
    assert causes[0] == causes[1] != causes[-1]


def test_several_stops_on_the_way_through_one_expression_are_one_break(tmp_path: Path) -> None:
    body = "import contextlib\nwith contextlib.redirect_stdout(None):\n    x = x + 1\nreturn x"
    [finding] = breaks(tmp_path, body, real=True)
    # Until torch 2.14 the whole frame was given up, since then only what is around the context.
    eager, effect = (
        ("", "the graph is split here") if RELEASE >= (2, 14) else ("model", "`model` is not compiled and runs eagerly")
    )
    assert (place_of(finding), facts_of(finding).eager) == ("contextlib.redirect_stdout(None)", eager)
    assert finding.message.endswith(f"so {effect}.")


def test_a_break_that_twelve_layers_repeat_is_told_once_with_its_callers(tmp_path: Path) -> None:
    found = breaks(
        tmp_path,
        "for _ in range(12):\n    x = layer(x)\nreturn x",
        before="def layer(x):\n    torch._dynamo.graph_break()\n    return x + 1\n",
    )

    [finding] = found
    assert place_of(finding) == "torch._dynamo.graph_break()"
    assert [item.message for item in finding.related] == ["called from model"]
    assert finding.message.endswith("so `model` is not compiled and runs eagerly.")
    assert facts_of(finding).eager == "model"


QUANTIZE = """
class Quantize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, gradient):
        raise RuntimeError("there are no gradients here")
"""


def test_what_raises_only_for_being_traced_is_no_error(tmp_path: Path) -> None:
    [finding] = breaks(tmp_path, "return Quantize.apply(x * 2) + 1", QUANTIZE)
    assert (finding.rule, finding.severity) == ("graph-break", Severity.WARNING)
    assert place_of(finding) == 'raise RuntimeError("there are no gradients here")'
    assert finding.message.startswith("This line raises an exception while torch.compile traces it, so")


def test_what_raises_is_told_where_it_does_alone_with_the_callers_that_it_ends(tmp_path: Path) -> None:
    parts = """
class Rounding(nn.Module):
    def forward(self, x):
        return Quantize.apply(x)

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.rounding = Rounding()

    def forward(self, x):
        return self.rounding(x * 2)

block = Block()
"""
    [finding] = breaks(tmp_path, "return torch.relu(block(x)) + 1", QUANTIZE + parts)
    assert place_of(finding) == 'raise RuntimeError("there are no gradients here")'
    assert facts_of(finding).eager == "model"
    eager = [item.message for item in finding.related if "eagerly" in item.message]
    assert eager == [f"for the same reason `{name}` runs eagerly" for name in ("Block.forward", "Rounding.forward")]


def test_a_hook_that_is_registered_while_the_model_runs_is_one_finding(tmp_path: Path) -> None:
    text = """
    import torch
    from torch import nn

    class Watched(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 8)
            self.registered = False

        def register(self):
            self.handle = self.layer.register_forward_hook(self.hook)
            self.registered = True

        def hook(self, _, given, result):
            self.seen = result.clone()

        def forward(self, x):
            if not self.registered:
                self.register()
            return self.layer(x), self.seen
    """
    job = analyze(tmp_path / "model.py", dedent(text), stages=(Stage.PREVIEW, Stage.MOCK), accelerator="none")
    found = [finding for finding in job.findings if finding.rule == "graph-break"]
    assert {finding.cause for finding in found} == {"hook"}
    assert found[0].message == (
        "`self.layer.register_forward_hook(self.hook)` uses a hook that torch.compile cannot trace, so the graph is "
        "split here."
    )


@pytest.mark.skipif(RELEASE < (2, 13), reason="torch 2.12 stops a second time, in what sets an attribute")
def test_a_module_that_is_built_while_the_model_runs_is_one_thing_to_mend(tmp_path: Path) -> None:
    text = """
    import torch
    from torch import nn

    class Projector(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.layers = nn.Sequential(*[layer for _ in range(2) for layer in (nn.Linear(width, width), nn.GELU())])
            print("built")

        def forward(self, x):
            return self.layers(x)

    # inductor-debug: inputs=(torch.ones(2, 8),)
    class Lazy(nn.Module):
        def __init__(self):
            super().__init__()
            self.projector = None

        def made(self, x):
            if self.projector is None:
                self.projector = Projector(x.shape[1])
            return self.projector

        def forward(self, x):
            return self.made(x)(x) + 1
    """
    job = analyze(tmp_path / "model.py", dedent(text), stages=(Stage.PREVIEW, Stage.MOCK), accelerator="none")
    [found] = [finding for finding in job.findings if finding.rule == "graph-break"]
    assert job.marked(found) == "Projector(x.shape[1])"
    assert found.message.startswith("`Projector(x.shape[1])` builds a module while the model runs, so ")


@pytest.mark.parametrize(
    ("before", "body", "cause"),
    [
        pytest.param(
            "def pairs(x):\n    print(x.shape)\n    return zip(x, x)\n",
            "return [a + b for a, b in pairs(x)][0]",
            "print(x.shape)",
            id="an iterator after a break",
        ),
        pytest.param(
            "def some(x):\n    return map(abs, [torch.nonzero(x)])\n",
            "return [[some(a), torch.nonzero(a > 1)] for a, _ in zip(x, x)]",
            "torch.nonzero(x)",
            id="a comprehension that goes on after a break",
        ),
    ],
)
def test_what_becomes_of_a_call_that_broke_is_no_cause_of_its_own(
    tmp_path: Path, before: str, body: str, cause: str
) -> None:
    found = breaks(tmp_path, body, before=before)
    assert [place_of(each) for each in found] == [cause]


def test_sizes_that_one_mask_decides_have_one_cause(tmp_path: Path) -> None:
    text = """
    import torch

    # inductor-debug: inputs=(torch.rand(4, 4), torch.rand(4, 4))
    def chosen(x, y):
        mask = x > 0
        return y[mask.nonzero().squeeze()], x[mask]
    """
    job = analyze(tmp_path / "model.py", dedent(text), stages=(Stage.PREVIEW, Stage.MOCK), accelerator="none")
    assert [job.marked(finding) for finding in job.findings] == ["mask.nonzero()", "x[mask]"]
    assert {finding.cause for finding in job.findings} == {"size in chosen"}


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


_STRIPES = """
import torch

def drop(x):
    start = torch.randint(low=0, high=x.shape[0], size=(1,))[0].item()
    return x[start:]
"""


def test_a_break_in_a_library_has_one_cause_whoever_calls_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of seventeen models that begin with the same layer of a library was told of it seventeen times."""
    library = tmp_path / "site-packages"
    library.mkdir()
    (library / "stripes_of_a_library.py").write_text(_STRIPES)
    monkeypatch.syspath_prepend(str(library))
    before = (
        "from stripes_of_a_library import drop\ndef first(x):\n    return drop(x)\ndef second(x):\n    return drop(x)"
    )
    found = breaks(tmp_path, "return first(x).sum() + second(x).sum()", before, real=True)
    assert [place_of(finding) for finding in found] == ["drop(x)", "drop(x)"]
    causes = {finding.cause for finding in found}
    assert len(causes) == 1
    assert "inside stripes_of_a_library.drop" in causes.pop()


def test_with_fullgraph_a_break_is_an_error(tmp_path: Path) -> None:
    target, sources = build(
        tmp_path, "def model(x):\n    torch._dynamo.graph_break()\n    return x\ninputs = (torch.ones(1),)\n"
    )
    target.fullgraph = True

    assert [finding.severity for finding in run_mock(target, sources).findings] == [Severity.ERROR]


def test_torchs_words_are_one_line_each_and_its_general_hints_are_the_severity() -> None:
    words = torch_words(
        "Unsupported thing",
        "It is\n    not supported at 0x7f00aa, see #12345.",
        ["Do\nthis, as https://github.com/pytorch/vision/pull/678 does.", *graph_break_hints.SUPPORTABLE],
    )

    assert words.explanation == "It is not supported, see pytorch/pytorch#12345."
    assert words.hints == ("Do this, as pytorch/vision#678 does.",)
    assert (words.severity, words.caused_earlier) == (Severity.INFORMATION, False)
    assert torch_words("A", "", graph_break_hints.CAUSED_BY_EARLIER_GRAPH_BREAK).caused_earlier


@pytest.mark.parametrize(
    "condition", ["count > 1 and x.sum() > 3", "count > 9 or x.sum() > 3", "not (count > 9 or x.sum() > 3)"]
)
def test_of_a_condition_the_part_that_looks_at_values_is_told(condition: str, tmp_path: Path) -> None:
    body = f"count = x.shape[0]\nif {condition}:\n    return x + 1\nreturn x"
    assert [place_of(finding) for finding in breaks(tmp_path, body)] == ["x.sum() > 3"]


def test_of_two_nested_breaks_the_first_is_the_one_to_fix(tmp_path: Path) -> None:
    body = "for _ in range(3):\n    if x.sum() > 0:\n        x = x + 1\nreturn x"

    assert [facts_of(finding).torch_kind for finding in breaks(tmp_path, body, real=True)] == [
        "Data-dependent branching"
    ]


def test_a_kind_that_torch_does_not_register_has_a_general_sentence(tmp_path: Path) -> None:
    facts = GraphBreak(cause_of("A new kind", None), "f(x)", torch_kind="A new kind")

    assert (
        sentence_of(facts)
        == "torch.compile cannot trace `f(x)` (torch calls this “A new kind”), so the graph is split here."
    )


def test_what_goes_through_recurrent_layers_is_none_of_them(tmp_path: Path) -> None:
    before = "module = nn.Module()\nmodule.gates = nn.GRU(4, 4)\n"
    [layer] = breaks(tmp_path, "return module.gates(x[None])[0]", before=before)
    [around] = breaks(tmp_path, "return x * next(module.parameters()).sum()", before=before)
    through = "`{}` goes through layers that torch.compile does not capture (RNN, GRU, LSTM)"
    if RELEASE >= (2, 15):  # which leaves the layer alone out, and of what is around it no longer says what it meets
        assert layer.message == f"{through.format('module.gates(x[None])')}, so the graph is split here."
        assert place_of(around) == "next(module.parameters())"
        return
    eagerly = "so `model` is not compiled and runs eagerly."
    layers = "torch.compile does not capture layers such as `module.gates` (RNN, GRU, LSTM)"
    assert layer.message == f"{layers}, {eagerly}"
    assert around.message == f"{through.format('next(module.parameters())')}, {eagerly}"


def test_summaries_without_an_end_line_give_lines_only() -> None:
    import traceback

    summary = traceback.FrameSummary("model.py", 3, "forward", lookup_line=False)
    [frame] = stack_of_summaries([summary])

    assert tuple(frame.positions) == (3, None, None, None)


def test_a_function_runs_not_eagerly_for_the_view_that_a_split_graph_hands_on(tmp_path: Path) -> None:
    text = """
    import torch
    from math import exp
    from torch.autograd import Variable

    def gaussian(size):
        line = torch.Tensor([exp(-(x - size // 2) ** 2 / 4.5) for x in range(size)])
        return line / line.sum()

    def window(size):
        line = gaussian(size).unsqueeze(1)
        return Variable(line.mm(line.t()).expand(3, 1, size, size).contiguous())

    # inductor-debug: inputs=(torch.randn(2, 3, 32, 32),)
    def blurred(x):
        return torch.nn.functional.conv2d(x, window(11), groups=3)
    """
    job = analyze(tmp_path / "model.py", dedent(text), stages=(Stage.PREVIEW, Stage.MOCK), accelerator="none")
    (finding,) = job.findings
    assert (finding.rule, job.marked(finding).partition("(")[0]) == ("graph-break", "Variable")
    assert [place.message for place in finding.related if "eagerly" in place.message] == []
