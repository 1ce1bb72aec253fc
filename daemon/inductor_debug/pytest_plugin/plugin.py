"""What pytest calls: options, the marker, the fixture, and which files become tests of themselves.

It is loaded by every pytest of an environment that has the package: nothing of ours is imported before it is used.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from inductor_debug.pytest_plugin.compile_reports import CompileReporter
    from inductor_debug.pytest_plugin.model_items import ModelFile

_REPORTER = pytest.StashKey["CompileReporter"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds our options."""
    group = parser.getgroup("inductor-debug", "checks of PyTorch models by inductor-debug")
    group.addoption(
        "--inductor-debug",
        action="store_true",
        help="check the models of the Python files that are collected, too: a test for each file",
    )
    group.addoption(
        "--inductor-debug-accelerator",
        metavar="NAME|FILE.toml",
        help="the accelerator that models are checked for (default: what pyproject.toml says)",
    )
    group.addoption(
        "--inductor-debug-update",
        action="store_true",
        help="write the snapshots of `compile_report(...).assert_snapshot()` anew instead of comparing with them",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Makes our marker known."""
    config.addinivalue_line(
        "markers",
        "inductor_debug(accelerator=None, stages=(), allow=None, timeout=None): how `compile_report` checks in this "
        "test; tests that `--inductor-debug` makes of files have it, too",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ModelFile | None:
    """With `--inductor-debug`, files that define or compile a model are tests."""
    if not parent.config.getoption("--inductor-debug") or file_path.suffix != ".py":
        return None
    from inductor_debug.pytest_plugin.model_items import ModelFile
    from inductor_debug.pytest_plugin.shared_engine import shared_engine

    engine = shared_engine(parent.config)
    named = file_path in [Path(str(words).split("::")[0]).absolute() for words in parent.config.args]
    if not engine.offers_models(file_path, parent.config.rootpath, named=named):
        return None
    file: ModelFile = ModelFile.from_parent(parent, path=file_path)
    return file


@pytest.fixture
def compile_report(request: pytest.FixtureRequest) -> CompileReporter:
    """Checks a model and answers with what was found.

    A test says `report = compile_report(Net(), (torch.randn(2, 64),))`, and then `assert report.graph_breaks == 0`, or
    `report.recompilations`, `report.findings`, `report.numerics().passed`, `report.assert_snapshot()`. It runs in
    worker processes. What a test that fails was told, pytest shows.
    """
    from inductor_debug.pytest_plugin.compile_reports import CompileReporter
    from inductor_debug.pytest_plugin.shared_engine import shared_engine

    reporter = CompileReporter(shared_engine(request.config), request.node)
    request.node.stash[_REPORTER] = reporter
    return reporter


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that fails shows the reports that it asked for."""
    report = yield
    reporter = item.stash.get(_REPORTER, None)
    if reporter is not None and report.when == "call" and report.failed:
        report.sections.extend(reporter.sections())
    return report
