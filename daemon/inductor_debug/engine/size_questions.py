"""What somebody asks of a document's sizes, and sets: answered from what its session knows, with refusals in words.

Which sizes are free takes another run of each target, so it is found when nobody types and nothing else runs.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from inductor_debug_schema import TargetSizes

from inductor_debug.accelerators.suggestions import unknown
from inductor_debug.engine.document_session import DocumentSession
from inductor_debug.engine.orders.orders import SIZES
from inductor_debug.engine.runner import Work

if TYPE_CHECKING:
    from inductor_debug.engine.results.merge import Results
    from inductor_debug.engine.whatif.changed_sizes import ResizedResults


class UnknownSizeNameError(Exception):
    """Nobody knows a size of that name; the message says which there are."""


Attempt = Callable[[Work, Callable[[], bool]], Awaitable["Results | None"]]
"""Runs work as a trial while it is of use; None where it came to nothing."""


async def seek_sizes(session: DocumentSession, attempt: Attempt) -> None:
    """Has a document's session know the free sizes of its targets, unless it does, or its text is not analysed."""

    def unknown() -> bool:
        held = session.held()
        return held is not None and not held.sizes_sought

    await session.settled()
    await session.paused()
    work = session.work_on([]) if unknown() else None
    results = await attempt(work.ordered(SIZES), unknown) if work is not None else None
    if results is not None:
        session.take_sizes(results)


def sizes_of(session: DocumentSession | None) -> list[TargetSizes]:
    """The free sizes of a document's targets as they are now, and how the targets do with them."""
    known = session.seen_sizes() if session is not None else {}
    return [_told(session, target, time.perf_counter()) for target in known] if session is not None else []


def set_sizes(session: DocumentSession | None, target: str, values: Mapping[str, int]) -> TargetSizes:
    """Sets sizes of a target for the session, all others as usual again.

    Raises:
        UnknownSizeError: the document has no such target, or the target no such size.
    """
    known = session.seen_sizes() if session is not None else {}
    if session is None or target not in known:
        there = f"; there are targets {', '.join(known)}" if known else ""
        raise UnknownSizeNameError(f"no free sizes are known of {target!r}{there}")
    names = [size.name for size in known[target].sizes]
    for name in values:
        if name not in names:
            raise UnknownSizeNameError(unknown(name, names, "size"))
    started = time.perf_counter()
    return _told(session, target, started, session.set_sizes(target, values))


def _told(session: DocumentSession, target: str, started: float, tried: ResizedResults | None = None) -> TargetSizes:
    sized = tried or session.sized(target)
    seen = session.seen_sizes().get(target)
    known = sized.results.sizes[target] if sized is not None else seen
    sizes = known.sizes if known is not None else []
    inputs = seen.inputs if seen is not None else ""
    for size in sizes:
        inputs = inputs.replace(f"{{{size.name}}}", str(size.value))
    latest = session.gate.latest
    report = latest.report.findings if latest is not None else []
    return TargetSizes(
        uri=session.document.uri,
        target=target,
        sizes=sizes,
        at_once=sized is not None,
        seconds=time.perf_counter() - started,
        findings=sum(finding.target == target for finding in report),
        peak_bytes=sized.peak.bytes if sized is not None else None,
        peak_exact=sized is None or sized.peak.exact,
        device_bytes=sized.device_bytes if sized is not None else None,
        inputs=inputs,
    )
