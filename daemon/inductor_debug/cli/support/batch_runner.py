"""Runs the engine over many files at once and hands the results back in the order of the files.

The event loop lives here and nowhere else in the command line. Whatever ends the run, the workers are gone when it
returns. Nothing here prints results.
"""

from __future__ import annotations

import asyncio
import contextlib
import platform
import signal
import sys
import time
import traceback
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inductor_debug_schema import FileReport, FileStatus

from inductor_debug import __version__
from inductor_debug.cli.support import console
from inductor_debug.cli.support.console import InterruptedRunError, Progress
from inductor_debug.cli.support.file_arguments import FolderFile
from inductor_debug.cli.support.fixing import Fixing, fix
from inductor_debug.cli.support.running.beside import Beside, checked_beside
from inductor_debug.cli.support.running.places import AT_ONCE, CheckPlace, RunPlace
from inductor_debug.cluster.cluster_errors import ClusterError
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.pool.pool import Pool, PoolFactory
from inductor_debug.engine.results.analysis import AnalysisUpdate
from inductor_debug.engine.results.kept_runs import NOT_ASKED, Versions
from inductor_debug.engine.settings.settings_ladder import ConfigurationError, Settings
from inductor_debug.report.run_report import CheckedFile, MadeBeside, Tool
from inductor_debug.rules.words.stage_names import stage_name
from inductor_debug.system import tried_versions

if TYPE_CHECKING:
    from inductor_debug.engine.fixes.fixed_files import FixedFile


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """What to run: files, their settings, how many at once, what makes the worker pools, and whether to keep graphs.

    `fixing` asks for fixes, too, `beside` for what else is to be made of files. `keeps_runs` lets what earlier commands
    learned stand in for running. With a `place` files are checked there, as many at once as it sees fit.
    """

    candidates: Sequence[FolderFile]
    settings_for: Callable[[str], Settings]
    jobs: int
    pool_factory: PoolFactory
    keep_graphs: bool = False
    fixing: Fixing | None = None
    keeps_runs: bool = True
    place: CheckPlace | None = None
    beside: Beside | None = None


def run(plan: BatchPlan, progress: Progress, on_file: Callable[[CheckedFile], None]) -> Tool:
    """Checks all files; calls `on_file` for each, in their order, as soon as it and all before it are done.

    Raises:
        InterruptedRunError: Ctrl-C or a polite kill.
        ConfigurationError: a file's settings cannot be used.
        ClusterError: the cluster cannot be had, or is gone.
    """
    return asyncio.run(_run(plan, progress, on_file))


async def _run(plan: BatchPlan, progress: Progress, on_file: Callable[[CheckedFile], None]) -> Tool:
    pools = Pools(plan.pool_factory)
    if plan.place is not None:
        place = plan.place
        elsewhere = replace(plan, jobs=AT_ONCE)
        await until_interrupted(_check_all(elsewhere, place, progress, on_file), place, progress.clear)
        return pools.tool(place.versions)
    engine = Engine(
        settings_for=plan.settings_for,
        listener=lambda update: None,
        pool_factory=pools.make,
        jobs=plan.jobs,
        keeps_runs=plan.keeps_runs,
    )
    await until_interrupted(_check_all(plan, engine, progress, on_file), engine, progress.clear)
    return pools.tool(engine.versions)


async def _check_all(
    plan: BatchPlan, place: CheckPlace, progress: Progress, on_file: Callable[[CheckedFile], None]
) -> None:
    gate = asyncio.Semaphore(plan.jobs)
    tasks = [asyncio.ensure_future(_check(plan, candidate, place, gate, progress)) for candidate in plan.candidates]
    try:
        for task in tasks:
            checked = await asyncio.shield(task)  # so that an interrupt ends all of them in one step, below
            progress.clear()
            on_file(checked)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _check(
    plan: BatchPlan, candidate: FolderFile, place: CheckPlace, gate: asyncio.Semaphore, progress: Progress
) -> CheckedFile:
    settings = plan.settings_for(candidate.path)

    def show(update: AnalysisUpdate) -> None:
        progress.show(f"{candidate.shown}: {stage_name(update.stage) if update.stage else update.state.value}")

    problem = candidate.problem
    report = FileReport(path=candidate.path, status=FileStatus.FAILED)
    fixed: FixedFile | None = None
    made = MadeBeside()
    async with gate:
        started = time.perf_counter()
        if problem is None:
            progress.show(candidate.shown)
            try:
                if plan.beside is not None and isinstance(place, Engine):
                    report, made = await checked_beside(place, candidate.path, plan.beside, show, progress.show)
                else:
                    report = await place.check(candidate.path, show, keep_graphs=plan.keep_graphs)
                if plan.fixing is not None and isinstance(place, Engine):
                    progress.show(f"{candidate.shown}: trying fixes")
                    fixed, problem = await fix(place, report, settings, plan.fixing)
                    if plan.fixing.writes and fixed is not None and fixed.fixes:
                        report = await place.check(candidate.path, show, keep_graphs=plan.keep_graphs)
            except (ConfigurationError, ClusterError):
                raise
            except Exception as error:  # our own fault: say so, and let the other files have their results
                traceback.print_exc()
                problem = f"inductor-debug itself failed: {type(error).__name__}: {error}"
        progress.step()
        seconds = time.perf_counter() - started
    return CheckedFile(
        shown=candidate.shown,
        report=report,
        accelerator=settings.chosen_accelerator,
        seconds=seconds,
        explicit=candidate.explicit,
        problem=problem,
        required=settings.require_targets,
        fixed=fixed,
        made=made,
    )


class Pools:
    """Makes worker pools and remembers them, to ask for the versions they found."""

    def __init__(self, factory: PoolFactory) -> None:
        self._factory = factory
        self._pools: list[tuple[str, Pool]] = []

    def make(self, *, interpreter: str, project_root: str, log_path: Path) -> Pool:
        """A pool, as a `PoolFactory` makes it."""
        pool = self._factory(interpreter=interpreter, project_root=project_root, log_path=log_path)
        self._pools.append((interpreter, pool))
        return pool

    def tool(self, known: Versions = NOT_ASKED) -> Tool:
        """The versions that are known, else of the first interpreter that told them, else of our own without torch."""
        if known.torch:
            return Tool("inductor-debug", __version__, known.torch, known.python)
        for _, pool in self._pools:
            if pool.torch_version:
                return Tool("inductor-debug", __version__, pool.torch_version, pool.python_version)
        if all(interpreter == sys.executable for interpreter, _ in self._pools):
            from importlib import metadata  # slow, and seldom needed

            with contextlib.suppress(metadata.PackageNotFoundError):
                torch = metadata.version("torch")
                return Tool("inductor-debug", __version__, torch, platform.python_version())
        return Tool("inductor-debug", __version__)


def remark_on(tool: Tool) -> None:
    """Says, once in a run, that its torch or its Python is none that we were tried with."""
    remark = tried_versions.remark_on(tool.torch, tool.python)
    if remark is not None:
        console.say(remark)


async def until_interrupted(work: Coroutine[Any, Any, None], place: RunPlace, clear: Callable[[], None]) -> None:
    """Awaits `work`; whatever ends it, `clear` is called then and the workers of `place` are gone.

    Raises:
        InterruptedRunError: Ctrl-C or a polite kill.
    """
    received: list[int] = []
    main = asyncio.ensure_future(work)

    def interrupt(number: int) -> None:
        received.append(number)
        main.cancel()

    with on_signals(interrupt):
        try:
            await main
        except asyncio.CancelledError:
            if not received:
                raise
        finally:
            clear()
            await place.shutdown()
    if received:
        raise InterruptedRunError(received[0])


@contextlib.contextmanager
def on_signals(act: Callable[[int], None]) -> Iterator[None]:
    """Calls `act` in the event loop on Ctrl-C and on a polite kill, where the platform lets a loop handle signals."""
    loop = asyncio.get_running_loop()
    handled = []
    for number in (signal.SIGINT, signal.SIGTERM):
        # Windows has no signal handlers in loops, and only the main thread may set them: asyncio.run's own must do.
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, act, number)
            handled.append(number)
    try:
        yield
    finally:
        for number in handled:
            loop.remove_signal_handler(number)
