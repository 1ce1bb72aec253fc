"""What a script passes to `torch.compile` runs eagerly, and its first call becomes a target."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import Job, analyze
from inductor_debug_schema import FileStatus, Severity, Stage

pytestmark = pytest.mark.torch


def job_of(tmp_path: Path, text: str, *stages: Stage) -> Job:
    header = "import torch\nfrom torch import nn\n"
    return analyze(tmp_path / "script.py", header + dedent(text), stages=stages or (Stage.PREVIEW,))


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ("f = torch.compile(lambda x: x + 1)\nf(torch.ones(2))", "<lambda>"),
        ("@torch.compile\ndef f(x): return x\nf(torch.ones(2))", "f"),
        ("@torch.compile(fullgraph=True, backend='x')\ndef f(x, *, y): return x\nf(torch.ones(2), y=1)", "f"),
        ("net = nn.Linear(2, 2)\ntorch.compile(net)(torch.ones(2))", "net"),
        ("net = nn.Linear(2, 2)\nnet.compile(dynamic=True)\nnet(torch.ones(2))", "net"),
        ("torch.compile(nn.Linear(2, 2))(torch.ones(2))", "Linear"),
        ("class M(nn.Module):\n def forward(self, x): return x\ntorch.compile(M())(torch.ones(2))", "M"),
        ("class M(nn.Module):\n @torch.compile\n def forward(self, x): return x\nM()(torch.ones(2))", "M"),
        ("class M(nn.Module):\n @torch.compile\n def encode(self, x): return x\nM().encode(torch.ones(2))", "M.encode"),
        ("class A:\n @torch.compile()\n def go(self, x): return x\nA().go(torch.ones(2))", "A.go"),
        ("from torch import compile\nf = compile(torch.relu)\nf(torch.ones(2))", "relu"),
        ("import functools\nf = torch.compile(functools.partial(torch.add, 1))\nf(torch.ones(2))", "partial"),
    ],
)
def test_every_way_to_compile_gives_a_target(tmp_path: Path, script: str, name: str) -> None:
    job = job_of(tmp_path, script)
    assert job.targets == [(name, "torch.compile")]
    assert job.status is FileStatus.CLEAN, job.findings


def test_the_compiled_module_can_be_used_like_the_module(tmp_path: Path) -> None:
    job = job_of(
        tmp_path,
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.width = 3
                self.linear = nn.Linear(3, 3)
            def forward(self, x):
                return self.linear(x)
            def extra(self):
                return self.width
        model = torch.compile(Model())
        assert isinstance(model, nn.Module) and model.extra() == 3 and len(list(model.parameters())) == 2
        model.eval()
        model.width = 5
        assert model.extra() == 5 and not model._orig_mod.training
        assert "_orig_mod.linear.weight" in model.state_dict()
        model.train()
        assert model.linear.training
        model.load_state_dict(model.state_dict())
        model(torch.ones(2, 3))
        """,
    )
    assert job.targets == [("Model", "torch.compile")]
    assert job.findings == []


def test_a_training_loop_does_not_go_on_for_ever(tmp_path: Path) -> None:
    job = job_of(
        tmp_path,
        """
        model = nn.Linear(4, 1)
        step = torch.compile(lambda x: model(x).sum())
        while True:
            step(torch.ones(2, 4)).backward()
        """,
    )
    assert job.status is FileStatus.CLEAN
    assert any("again and again" in note for note in job.loaded.notes)


def test_a_script_that_looks_at_values_is_left_at_once_when_its_targets_are_known(tmp_path: Path) -> None:
    job = job_of(
        tmp_path,
        """
        step = torch.compile(lambda x: x.sum())
        print("loss", step(torch.ones(2)).item())
        raise AssertionError("not reached")
        """,
    )
    assert job.status is FileStatus.CLEAN
    assert any("looks at values" in note for note in job.loaded.notes)


def test_a_call_that_needs_values_is_run_again_for_real(tmp_path: Path) -> None:
    job = job_of(
        tmp_path,
        """
        @torch.compile
        def step(x):
            if x.sum() > 0:
                return x.double()
            return x
        for _ in range(10 ** 9):
            step(torch.ones(2))
        """,
    )
    assert [(finding.rule, job.marked(finding)) for finding in job.findings] == [("dtype", "x.double()")]
    assert any("real tensors" in note for stage in job.stages for note in stage.report.notes)


def test_what_was_compiled_but_not_called_is_mentioned_and_given_inferred_inputs(tmp_path: Path) -> None:
    job = job_of(tmp_path, "model = torch.compile(nn.Linear(2, 2))\nif __name__ == '__main__':\n    model(1)\n")
    assert job.status is FileStatus.CLEAN
    assert [target.origin for target in job.loaded.targets] == ["inferred"]
    assert any("not called" in note for note in job.loaded.notes)


def test_an_exception_in_a_compiled_call_is_told_once(tmp_path: Path) -> None:
    job = job_of(tmp_path, "@torch.compile\ndef f(x):\n    return x @ torch.ones(7)\nf(torch.ones(2, 3))\n")
    assert [job.marked(finding) for finding in job.findings] == ["x @ torch.ones(7)"]
    assert job.status is FileStatus.FAILED


def test_a_disabled_compile_is_no_target(tmp_path: Path) -> None:
    job = job_of(tmp_path, "f = torch.compile(torch.relu, disable=True)\nf(torch.ones(2))\n")
    assert job.status is FileStatus.NO_TARGET


BOTH = (Stage.PREVIEW, Stage.MOCK)
MARKED = """
        @torch.compile
        def f(x):
            {body}

        x = torch.randn(10)
        torch._dynamo.mark_dynamic(x, 0)
        f(x)
        f(torch.randn(20))
        f(torch.randn(30))
        """


def test_a_size_that_the_script_marks_as_dynamic_is_compiled_once_for_all(tmp_path: Path) -> None:
    job = job_of(tmp_path, MARKED.format(body="return x * x.size()[0]"), *BOTH)
    assert job.findings == []
    assert any("compiled over 3 calls, 0 of them again" in note for stage in job.stages for note in stage.report.notes)


def test_what_takes_a_marked_size_for_a_number_is_told_where_it_does(tmp_path: Path) -> None:
    job = job_of(tmp_path, MARKED.format(body="return x * 10 if x.size()[0] == 10 else x"), *BOTH)
    [finding] = job.of("capture-error")
    assert job.marked(finding) == "x.size()[0] == 10"
    assert "needs a size as a number (10) that is marked with `torch._dynamo.mark_dynamic`" in finding.message


def test_an_iterator_is_given_to_each_run_as_it_was(tmp_path: Path) -> None:
    job = job_of(
        tmp_path,
        """
        @torch.compile
        def f(xs):
            return next(xs) + next(xs)

        f(iter([torch.tensor(1.0), torch.tensor(2.0)]))
        """,
        *BOTH,
    )
    assert [finding.rule for finding in job.findings if finding.severity is Severity.ERROR] == []
    assert {job.marked(finding) for finding in job.of("graph-break")} == {"next(xs)"}


def test_what_torch_compiles_of_its_own_is_nobodys_target(tmp_path: Path) -> None:
    job = job_of(
        tmp_path,
        """
        @torch.compile
        def f(x):
            return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))

        f(torch.ones(3, 3))
        """,
    )
    assert job.targets == [("f", "torch.compile")]
