"""Has orders carried out for a script, by an engine of its own, whose workers are gone when it returns.

It waits, also inside of a notebook, whose own loop goes on. It prints nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from inductor_debug_schema import Event, Progressed

from inductor_debug.engine.engine import Engine
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.orders.outcomes import OfferedTargets, failure
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug.scripting.engine_thread import EngineThread
from inductor_debug.scripting.subjects import Subject

T = TypeVar("T")
Tell = Callable[[str], None]


class OrderFailedError(RuntimeError):
    """Nothing came of an order: the file offers no such target, could not be run, crashed or took too long."""


def settings_for(subject: Subject, said: dict[str, Any]) -> SettingsResolver:
    """The settings of a subject, as far as the caller did not say others.

    Raises:
        ConfigurationError: they cannot be used.
    """
    resolver = SettingsResolver(command_line={**said, "entry": [subject.entry] if subject.entry else None})
    resolver(subject.file.path)
    return resolver


async def carried_out(
    engine: Engine, subject: Subject, order: Order, tell: Tell | None, *, one: bool = False
) -> Performed:
    """Has an order carried out; `tell` is given a line whenever there is progress. `one` target has to be meant.

    Raises:
        OrderFailedError: nothing came of it.
    """
    performed = await run_on(engine, subject, order, tell, one=one)
    why = failure(performed) if not performed.answers and not performed.artifacts else None
    if why:
        raise OrderFailedError(f"{subject.file.shown}: {why}")
    return performed


async def run_on(engine: Engine, subject: Subject, order: Order, tell: Tell | None, *, one: bool = False) -> Performed:
    """As `carried_out`, for who wants to know how a run failed, too.

    Raises:
        OrderFailedError: the subject is not there.
    """
    offered = OfferedTargets()

    def hear(event: Event) -> None:
        offered.hear(event)
        if one and not order.target and len(offered.names) > 1:
            task.cancel()
        if tell is not None and isinstance(event, Progressed):
            tell(event.message)

    task = asyncio.ensure_future(engine.perform(subject.file.path, order, hear, text=subject.text))
    try:
        performed = await task
    except asyncio.CancelledError:
        if not one or len(offered.names) < 2:
            raise
        raise OrderFailedError(
            f"{subject.file.shown} offers several targets: name one of {', '.join(offered.names)}, as in "
            f"{subject.file.shown}::{offered.names[0]}"
        ) from None
    why = offered.missing(order.target, performed.report)
    if why:
        raise OrderFailedError(f"{subject.file.shown}: {why}")
    return performed


def in_engine(resolver: SettingsResolver, work: Callable[[Engine], Coroutine[Any, Any, T]]) -> T:
    """Runs `work` with an engine and waits for what it gives. Ctrl-C ends its workers, too."""
    with EngineThread() as opened:
        return opened.run(resolver, work)
