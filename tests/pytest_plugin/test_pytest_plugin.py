"""What the pytest plugin gives to a project's tests: assertions about models, tests of files, snapshots."""

from __future__ import annotations

import importlib
import os

import pytest
import torch  # noqa: F401 - the runs within this one must not load it anew

for module in ("compile_reports", "model_items", "plugin", "shared_engine", "snapshots"):
    importlib.import_module(f"inductor_debug.pytest_plugin.{module}")  # nor these

HOME = os.environ.get("HOME")
pytest_plugins = ["pytester"]
pytestmark = pytest.mark.torch

NETS = """
import torch
from torch import nn


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x):
        return torch.relu(self.layer(x))


class Split(Whole):
    def forward(self, x):
        x = super().forward(x)
        print("here")
        return x.double()


def faulty(graph, inputs):
    for node in graph.graph.nodes:
        if node.target is torch.relu:
            node.target = torch.abs
    graph.recompile()
    return graph.forward
"""
SOUND = """
import torch


# inductor-debug: inputs=(torch.randn(4),)
def f(x):
    return x.sin()
"""
ASSERTING = """
import pytest
import torch
from inductor_debug import NotCheckedError, NoSourceError
from nets import Split, Whole

X = torch.randn(3, 8)


def test_whole(compile_report):
    report = compile_report(Whole(), (X,))
    assert (report.graphs, report.graph_breaks, report.recompilations) == (1, 0, 0)
    assert report.findings == []
    assert report.checked
    assert report.statistics[0].by_op["aten.relu.default"] == 1


def test_split(compile_report):
    report = compile_report(Split(), (X,))
    assert report.graph_breaks == 0


def test_sizes(compile_report):
    report = compile_report(Whole(), [(X,), (X[:2],), (torch.randn(5, 8),)])
    assert report.recompilations == 1
    assert "size 2" in report.recompiles[0].broken[0].text


@pytest.mark.inductor_debug(accelerator="mock")
def test_marked(compile_report):
    assert [finding.rule for finding in compile_report(Split(), (X,)).failures] == ["graph-break", "dtype"]


def test_of_a_file(compile_report):
    with pytest.raises(RuntimeError, match="unknown target .Splt."):
        compile_report("nets.py::Splt")
    assert compile_report("nets.py::Split").operations > 1


def test_what_is_not_seen_is_no_number(compile_report):
    report = compile_report(Whole(), (X[:, 1:],))
    assert [finding.rule for finding in report.findings] == ["capture-error"]
    with pytest.raises(NotCheckedError, match="not seen to its end"):
        report.graph_breaks
    with pytest.raises(NotCheckedError):
        report.recompilations


def test_a_local_class(compile_report):
    class Local(Whole):
        pass

    with pytest.raises(NoSourceError, match="define it at the top of a module"):
        compile_report(Local(), (X,))


def test_numerics(compile_report):
    report = compile_report(Whole(), (X,))
    assert report.numerics("aot_eager").passed
    assert report.numerics("faulty").passed
"""
ALONE = ("-p", "no:xdist", "-p", "no:asyncio")
"""Without the plugins that our own tests need."""


def run(project: pytest.Pytester, *words: str) -> pytest.RunResult:
    """Runs the tests of a project in this process."""
    return project.runpytest(*ALONE, *words)


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with models; its tests are run in this process, with workers of a warm zygote."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(pytester.path / "cache"))
    if HOME is not None:
        monkeypatch.setenv("HOME", HOME)  # pytester's own is none that a zygote was started with
    pytester.makepyprojecttoml('[tool.inductor-debug]\naccelerator = "none"\n[tool.pytest.ini_options]\n')
    pytester.makepyfile(nets=NETS)
    pytester.syspathinsert()
    return pytester


def test_models_are_asserted_on_and_a_failure_shows_the_findings(project: pytest.Pytester) -> None:
    project.makepyfile(test_nets=ASSERTING)
    result = run(project, "test_nets.py")
    result.assert_outcomes(passed=6, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*assert 1 == 0*",
            "*where 1 = <CompileReport: 1 finding (1 warning) in 1 file*.graph_breaks",
            "*inductor-debug: Split*",
            "nets.py:*: warning[[]graph-break[]]*",
            "*inductor-debug: Whole, numerics*",
            "*wrong*",
            "FAILED test_nets.py::test_split*",
            "FAILED test_nets.py::test_numerics*",
        ]
    )


def test_a_snapshot_is_written_once_and_then_shows_what_changed(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_kept="""
        import torch
        from nets import Whole

        def test_kept(compile_report):
            compile_report(Whole(), (torch.randn(3, 8),)).assert_snapshot()
        """
    )
    first = run(project)
    first.stdout.fnmatch_lines(["*there is no snapshot __compile_reports__?test_kept?test_kept.txt*"])
    assert run(project, "--inductor-debug-update").ret == 0
    snapshot = project.path / "__compile_reports__" / "test_kept" / "test_kept.txt"
    assert "aten.relu.default" in snapshot.read_text(encoding="utf-8")
    nets = project.path / "nets.py"
    nets.write_text("# a line above changes nothing\n" + nets.read_text(encoding="utf-8"), encoding="utf-8")
    assert run(project).ret == 0
    changed = nets.read_text(encoding="utf-8").replace("return torch.relu(", "print(x)\n        return torch.tanh(")
    nets.write_text(changed, encoding="utf-8")
    result = run(project)
    result.stdout.fnmatch_lines(
        ["*-graph breaks: 0", "*+graph breaks: 1", "*+  graph-break at `print(x)`*", "*-  aten.relu.default*"]
    )


def test_files_with_models_are_tests_that_fail_as_check_does(project: pytest.Pytester) -> None:
    project.makepyfile(
        sound=SOUND,
        odd="import torch\n\n\nclass Odd(torch.nn.Module):\n    def forward(self, x):\n        return x.undefined(3)\n",
        helper="import os\n",
    )
    assert run(project).ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result = run(project, "--inductor-debug", "-v")
    result.assert_outcomes(passed=1, failed=1, skipped=1)
    result.stdout.fnmatch_lines(["*nets.py::inductor-debug FAILED*", "*sound.py::inductor-debug PASSED*"])
    result.stdout.fnmatch_lines(["nets.py:*: warning[[]graph-break[]]*"])
    assert "helper.py" not in result.stdout.str()
    chosen = run(project, "--inductor-debug", "-m", "inductor_debug", "sound.py")
    chosen.assert_outcomes(passed=1)


def test_an_accelerator_is_chosen_for_the_whole_run(project: pytest.Pytester) -> None:
    project.makepyfile(
        wide="import torch\n\n# inductor-debug: inputs=(torch.randn(4),)\ndef f(x):\n    return x.double()\n"
    )
    run(project, "--inductor-debug", "wide.py").assert_outcomes(passed=1)
    result = run(project, "--inductor-debug", "--inductor-debug-accelerator", "mock", "wide.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["wide.py:5:12: warning[[]dtype[]]*"])


def test_a_marker_that_says_what_it_cannot_is_an_error(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.inductor_debug(acelerator="mock")
        def test_it(compile_report):
            pass
        """
    )
    result = run(project)
    result.stdout.fnmatch_lines(["*takes accelerator, stages, allow, timeout by name, not acelerator*"])


def test_a_run_without_our_tests_loads_nothing_of_ours(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_it():
            ours = {name for name in sys.modules if name.split(".")[0] in ("torch", "inductor_debug_schema")}
            assert ours == set()
            assert "inductor_debug.pytest_plugin.plugin" in sys.modules
        """
    )
    pytester.runpytest_subprocess(*ALONE).assert_outcomes(passed=1)


def test_checking_files_loads_no_torch_into_the_process_of_the_tests(project: pytest.Pytester) -> None:
    project.makeconftest(
        """
        import sys

        def pytest_sessionfinish(session):
            print("torch loaded:", "torch" in sys.modules)
        """
    )
    folder = project.mkdir("models")
    (folder / "sound.py").write_text(SOUND, encoding="utf-8")
    result = project.runpytest_subprocess(*ALONE, "-s", "--inductor-debug", "models")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*torch loaded: False*"])
