"""Carries out orders for one file: the engine, the progress line and the signals, for every command about a target.

Whatever ends the run, no worker is left when it returns. Nothing here prints results.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from inductor_debug_schema import (
    AcceleratorComparison,
    Event,
    FileReport,
    Progressed,
    SizeSetting,
    StageStarted,
)

from inductor_debug.cli.support import console
from inductor_debug.cli.support.batch_runner import Pools, on_signals, remark_on
from inductor_debug.cli.support.console import CommandError, InterruptedRunError
from inductor_debug.cli.support.size_arguments import require_sizes
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.orders.file_targets import FileTarget
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.orders.outcomes import OfferedTargets
from inductor_debug.engine.pool import supervisor
from inductor_debug.engine.pool.pool import PoolFactory
from inductor_debug.engine.settings.settings_ladder import Settings, SettingsResolver
from inductor_debug.engine.whatif.accelerators import usual_accelerators
from inductor_debug.report.run_report import Tool
from inductor_debug.rules.words.stage_names import stage_name

__all__ = [
    "Done",
    "Perform",
    "TargetError",
    "Tell",
    "compare_accelerators",
    "perform_order",
    "perform_orders",
]

T = TypeVar("T")
Perform = Callable[[Order], Awaitable[Performed]]
Tell = Callable[[str], None]


class TargetError(CommandError):
    """The file does not offer the target that was named, or none at all; the message says what it offers."""


@dataclass(frozen=True, slots=True)
class Done:
    """What came of an order, the settings it ran with, and the versions that it ran on."""

    performed: Performed
    settings: Settings
    tool: Tool


def perform_order(
    subject: FileTarget,
    order: Order,
    said: dict[str, Any],
    *,
    quiet: bool = False,
    pool_factory: PoolFactory | None = None,
    on_event: Callable[[Event], None] | None = None,
    sizes: Sequence[SizeSetting] = (),
) -> Done:
    """Runs `order` on the subject's file and target and returns what came of it. Remarks go to standard error.

    Args:
        subject: the file and target; the target replaces that of the order.
        order: what to do.
        said: what the command line says of settings (`target_arguments.said`).
        quiet: no progress line and no remarks.
        pool_factory: makes the worker pools, in place of real ones.
        on_event: told of every event as it comes.
        sizes: those of the inputs to set, for orders that can.

    Raises:
        ConfigurationError: the settings for the file cannot be used.
        InterruptedRunError: Ctrl-C or a polite kill.
        TargetError: the file loads and does not offer the target.
        UnknownSizeArgumentError: it has no free size of a name in `sizes`.
    """
    settings_for = SettingsResolver(command_line=said, environ=os.environ, sizes=sizes)
    settings = settings_for(subject.path)
    progress = console.Progress(0, enabled=not quiet)
    hear = _Listener(subject, progress, on_event)
    order = replace(order, target=subject.target)
    pools = Pools(pool_factory or partial(supervisor.WorkerPool, one_job=True))
    performed = asyncio.run(
        _in_engine(settings_for, pools, progress, lambda engine: engine.perform(subject.path, order, hear))
    )
    hear.require_target(performed.report)
    require_sizes(sizes, [performed.report])
    tool = pools.tool()
    if not quiet:
        for note in performed.notes:
            console.say(note)
        remark_on(tool)
    return Done(performed, settings, tool)


def perform_orders(
    subject: FileTarget,
    said: dict[str, Any],
    work: Callable[[Perform, Settings, Tell], Awaitable[T]],
    *,
    quiet: bool = False,
    pool_factory: PoolFactory | None = None,
    sizes: Sequence[SizeSetting] = (),
) -> T:
    """Runs `work`, which may carry out any number of orders on the subject's file, with one set of workers.

    Args:
        subject: the file; `work` says which target it means.
        said: what the command line says of settings (`target_arguments.said`).
        work: is given what carries out an order, the file's settings, and what shows a line of progress.
        quiet: no progress line.
        pool_factory: makes the worker pools, in place of real ones.
        sizes: those of the inputs to set, for orders that can.

    Raises:
        ConfigurationError: the settings for the file cannot be used.
        InterruptedRunError: Ctrl-C or a polite kill.
        TargetError: the file loads and does not offer the target that an order names.
    """
    settings_for = SettingsResolver(command_line=said, environ=os.environ, sizes=sizes)
    settings = settings_for(subject.path)
    progress = console.Progress(0, enabled=not quiet)

    def tell(words: str) -> None:
        progress.show(f"{subject.shown}: {words}")

    async def main(engine: Engine) -> T:
        async def perform(order: Order) -> Performed:
            hear = _Listener(subject, progress)
            performed = await engine.perform(subject.path, order, hear)
            hear.require_target(performed.report)
            return performed

        return await work(perform, settings, tell)

    pools = Pools(pool_factory or supervisor.WorkerPool)
    worked = asyncio.run(_in_engine(settings_for, pools, progress, main))
    if not quiet:
        remark_on(pools.tool())
    return worked


async def _in_engine(
    settings_for: Callable[[str], Settings],
    pools: Pools,
    progress: console.Progress,
    work: Callable[[Engine], Awaitable[T]],
) -> T:
    engine = Engine(settings_for=settings_for, listener=lambda update: None, pool_factory=pools.make, jobs=1)
    received: list[int] = []
    main = asyncio.ensure_future(work(engine))

    def interrupt(number: int) -> None:
        received.append(number)
        main.cancel()

    with on_signals(interrupt):
        try:
            worked = await main
        except asyncio.CancelledError:
            if not received:
                raise
        finally:
            progress.clear()
            await engine.shutdown()
    if received:  # also while the workers were ended: whoever runs several commands must not go on
        raise InterruptedRunError(received[0])
    return worked


def compare_accelerators(
    subject: FileTarget,
    names: Sequence[str] | None,
    said: dict[str, Any],
    *,
    quiet: bool = False,
    pool_factory: PoolFactory | None = None,
) -> AcceleratorComparison | FileReport:
    """Captures the subject once and judges that for the accelerators `names`, or the usual ones.

    Args:
        subject: the file and target.
        names: names of accelerators and paths of profiles.
        said: what the command line says of settings (`target_arguments.said`).
        quiet: no progress line.
        pool_factory: makes the worker pools, in place of real ones.

    Returns:
        The comparison, or the report of a run that failed.

    Raises:
        ConfigurationError: an accelerator or the settings for the file cannot be used.
        InterruptedRunError: Ctrl-C or a polite kill.
        TargetError: the file loads and does not offer the target.
    """
    settings_for = SettingsResolver(command_line=said, environ=os.environ)
    settings = settings_for(subject.path)
    wanted = names or usual_accelerators(settings, settings_for.accelerators.usually_compared(settings.interpreter))
    alternatives = [settings_for.for_accelerator(subject.path, name, folder=os.getcwd()) for name in wanted]
    progress = console.Progress(0, enabled=not quiet)
    hear = _Listener(subject, progress)
    pools = Pools(pool_factory or supervisor.WorkerPool)
    compared = asyncio.run(
        _in_engine(
            settings_for,
            pools,
            progress,
            lambda engine: engine.compare_accelerators(subject.path, subject.target, alternatives, hear),
        )
    )
    hear.require_target()
    if not quiet:
        remark_on(pools.tool())
    return compared


class _Listener:
    """Shows how far a run is, and knows which targets the file offers."""

    def __init__(
        self, subject: FileTarget, progress: console.Progress, on_event: Callable[[Event], None] | None = None
    ) -> None:
        self._subject, self._progress, self._on_event = subject, progress, on_event
        self._offered = OfferedTargets()

    def __call__(self, event: Event) -> None:
        self._offered.hear(event)
        self._progress.show(f"{self._subject.shown}: {_words(event)}")
        if self._on_event is not None:
            self._on_event(event)

    def require_target(self, report: FileReport | None = None) -> None:
        """Raises `TargetError` where the target that is meant is not among them."""
        missing = self._offered.missing(self._subject.target, report)
        if missing:
            raise TargetError(f"{self._subject.shown}: {missing}")


def _words(event: Event) -> str:
    if isinstance(event, Progressed):
        return f"{event.message} ({event.done}/{event.total})" if event.total else event.message
    if isinstance(event, StageStarted):
        return f"{event.target}, {stage_name(event.stage)}"
    return "running"
