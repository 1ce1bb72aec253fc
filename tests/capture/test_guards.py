"""Guards and recompilations: what the user is told of what compiled code relies on, and what compiles it again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from forked import Job, in_child
from inductor_debug.accelerators.profile import load_document
from inductor_debug.capture import session
from inductor_debug_schema import (
    ArtifactKind,
    ArtifactMade,
    Event,
    JobRequest,
    Severity,
    Stage,
    StageFinished,
    TargetSetting,
)

pytestmark = pytest.mark.torch

HEAD = """
import torch
from torch import nn

"""


def run(folder: Path, text: str, *, asked: bool = False, targets: tuple[TargetSetting, ...] = ()) -> Job:
    text = HEAD + dedent(text)
    path = str(folder / "model.py")
    request = JobRequest(
        job=1,
        path=path,
        text=text,
        project_root=str(folder),
        stages=[Stage.MOCK],
        profile=load_document("mock"),
        targets=list(targets),
        keep_guards=asked,
    )
    events: list[Event] = []

    def work() -> list[Event]:
        session.analyze(request, events.append)
        return events

    result, output = in_child(work)
    return Job(result, output, text, path)


def document(job: Job) -> dict[str, Any]:
    made = [event for event in job.events if isinstance(event, ArtifactMade) and event.title == "guards"]
    assert [event.kind for event in made] == [ArtifactKind.STATISTICS], job.output
    loaded = json.loads(made[0].content)
    assert isinstance(loaded, dict)
    return loaded


def told(job: Job, rule: str) -> list[tuple[str, str]]:
    """(marked expression, message) of the findings of a rule."""
    return sorted((job.marked(finding), finding.message) for finding in job.of(rule))


SIZES = """
# inductor-debug: inputs=[(torch.randn(8, 64),), (torch.randn(9, 64),), (torch.randn(10, 64),)]
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 64)

    def forward(self, x):
        return self.fc(x).relu()
"""


def test_a_size_that_changes_is_told_at_its_first_use(tmp_path: Path) -> None:
    """The third set fits the second version, whose size is symbolic."""
    job = run(tmp_path, SIZES)
    [finding] = job.of("recompile")
    assert job.marked(finding) == "self.fc(x)"
    assert finding.message == "`Net.forward` is compiled again for call 2: `x` has size 9 in dimension 0, not 8."
    assert (finding.severity, finding.count, finding.stage) == (Severity.WARNING, 1, Stage.MOCK)


def test_nobody_who_lists_one_set_pays_for_it(tmp_path: Path) -> None:
    job = run(tmp_path, SIZES.replace(", (torch.randn(9, 64),), (torch.randn(10, 64),)", ""))
    assert job.findings == []
    last = job.stages[-1]
    assert isinstance(last, StageFinished)
    assert last.report.notes == []
    assert not [event for event in job.events if isinstance(event, ArtifactMade)]


def test_every_failing_guard_is_told(tmp_path: Path) -> None:
    """Torch names the first alone, which is the size."""
    job = run(
        tmp_path,
        """
        # inductor-debug: inputs=[(torch.randn(4, 8), 1, None), (torch.randn(9, 8).half(), 2, [3.0])]
        def f(x, step, more):
            y = x.sin()
            if more is not None:
                y = y + more[0]
            return y * step
        """,
    )
    assert told(job, "recompile") == [
        ("more is not None", "`f` is compiled again for call 2: `more` is a list, not None."),
        (
            "x.sin",
            "`f` is compiled again for call 2: `x` is float16, not float32; `x` has size 9 in dimension 0, not 4.",
        ),
        ("y * step", "`f` is compiled again for call 2: `step` is 2, not 1."),
    ]


def test_a_constant_that_becomes_a_tensor_or_another_type_is_told(tmp_path: Path) -> None:
    """Compared with a number, a tensor is a tensor and no answer; `2.0 == 2` holds, and torch compiles again."""
    job = run(
        tmp_path,
        """
        # inductor-debug: inputs=[(torch.randn(4), 2.0, 3), (torch.randn(4), torch.ones(1), 3.0)]
        def f(x, scale, step):
            return x.sin() * scale * step
        """,
    )
    assert [message.partition(": ")[2] for _, message in told(job, "recompile")] == [
        "`scale` is a tensor, not 2.0.",
        "`step` is 3.0, not 3.",
    ]


def test_conditions_on_symbolic_numbers_are_guards(tmp_path: Path) -> None:
    job = run(
        tmp_path,
        """
        # inductor-debug: inputs=[(torch.randn(4), 5), (torch.randn(4), 7), (torch.randn(4), 2)]
        def f(x, n):
            return x * n if n > 3 else x
        """,
        asked=True,
    )
    graphs = document(job)["graphs"]
    conditions = [[guard["source"] for guard in graph["guards"] if guard["kind"] == "SHAPE"] for graph in graphs]
    assert conditions == [[], ["4 <= n"], ["n <= 3"]]


@pytest.mark.skipif(
    sys.version_info[:3] == (3, 13, 0), reason="Python 3.13.0 lets torch miss changed attributes (cpython#125608)"
)
def test_a_model_that_changes_itself_breaks_its_own_guards(tmp_path: Path) -> None:
    job = run(
        tmp_path,
        """
        # inductor-debug: inputs=(torch.randn(4),)
        class Counter(nn.Module):
            def __init__(self):
                super().__init__()
                self.calls = 0

            def forward(self, x):
                self.calls += 1
                return x * self.calls
        """,
        asked=True,
    )
    [(expression, message)] = told(job, "recompile")
    assert expression == "self.calls += 1"
    assert message == (
        "`self.calls` is another number in every call (0, 1, 2), so `Counter.forward` is compiled again for each."
    )


def test_a_condition_on_a_symbolic_size_is_told_at_its_line(tmp_path: Path) -> None:
    job = run(
        tmp_path,
        """
        # inductor-debug: inputs=[(torch.randn(8, 4),), (torch.randn(3, 4),)], dynamic
        def f(x):
            y = x.sin()
            if x.shape[0] > 5:
                y = y * 2
            return y
        """,
    )
    [(line, message)] = told(job, "recompile")
    assert line == "if x.shape[0] > 5:"
    assert message == "`f` is compiled again for call 2: `x.shape[0]` is 3, less than 6."


def test_sets_of_a_setting_count_as_well(tmp_path: Path) -> None:
    setting = TargetSetting("f", inputs="[(torch.randn(4), 1), (torch.randn(4), 2)]")
    job = run(tmp_path, "def f(x, step):\n    return x * step\n", targets=(setting,))
    assert told(job, "recompile") == [("x * step", "`f` is compiled again for call 2: `step` is 2, not 1.")]


def test_a_set_that_does_not_fit_the_signature_is_told_where_it_is_written(tmp_path: Path) -> None:
    job = run(
        tmp_path, "# inductor-debug: inputs=[(torch.randn(4),), (torch.randn(4), 2)]\ndef f(x):\n    return x * 2\n"
    )
    [finding] = job.of("capture-error")
    assert "cannot be called so" in finding.message
    assert job.marked(finding) == "[(torch.randn(4),), (torch.randn(4), 2)]"


def test_a_list_of_tensors_is_still_one_call(tmp_path: Path) -> None:
    job = run(tmp_path, "# inductor-debug: inputs=[torch.randn(4), torch.randn(4)]\ndef f(x, y):\n    return x * y\n")
    assert job.findings == []


DISABLED = """
@torch.compiler.disable
def mix(x):
    return x.sin() + x.cos()

# inductor-debug: inputs=(torch.randn(4),)
def f(x):
    return mix(x.exp()) * 2
"""


@pytest.mark.parametrize("asked", [True, False])
def test_a_function_that_runs_eagerly_is_told_with_the_reason(tmp_path: Path, asked: bool) -> None:
    job = run(tmp_path, DISABLED, asked=asked)
    assert job.of("eager-fallback") == []
    [finding] = job.of("graph-break")
    assert "torch.compiler.disable" in finding.message
    assert [related.message for related in finding.related] == ["for the same reason `mix` runs eagerly"]


def test_a_function_given_up_after_too_many_versions_is_told(tmp_path: Path) -> None:
    sets = ", ".join(f"(torch.randn({', '.join('2' * rank)}),)" for rank in range(1, 11))
    job = run(tmp_path, f"# inductor-debug: inputs=[{sets}]\ndef f(x):\n    return x.sin()\n")
    messages = [message for _, message in told(job, "recompile")]
    assert any("was recompiled too often" in message for message in messages)
    [finding] = [found for found in job.of("recompile") if "compiled again" in found.message]
    assert finding.count >= 7
    assert "for call 2, and" in finding.message
    assert job.marked(finding) == "x.sin"
    assert [job.marked(found) for found in job.of("eager-fallback")] == ["x.sin()"]


def test_the_report_has_guards_with_their_expressions_and_counts_torchs_own(tmp_path: Path) -> None:
    job = run(tmp_path, SIZES, asked=True)
    report = document(job)
    assert (report["target"], report["sets"], report["frames"], len(report["recompiles"])) == ("Net", 3, 2, 1)
    first, second = report["graphs"]
    assert [(guard["kind"], guard["source"]) for guard in first["guards"]] == [("TENSOR_MATCH", "x")]
    assert first["bookkeeping_guards"] > 10
    start = first["guards"][0]["range"]["start"]
    assert job.text.split("\n")[start["line"]][start["character"] :].startswith("self.fc(x)")
    assert any(guard["kind"] == "SHAPE" for guard in second["guards"])
    broken = report["recompiles"][0]["broken"]
    assert [item["text"] for item in broken] == ["`x` has size 9 in dimension 0, not 8"]


def test_inferred_inputs_are_blamed_for_nothing(tmp_path: Path) -> None:
    job = run(tmp_path, SIZES.split("\n", 2)[2], asked=True)
    assert job.of("recompile") == []
