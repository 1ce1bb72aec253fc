"""Finds the runs of a line in a timeline: those of its statement, else the moments just after what ran before it."""

from __future__ import annotations

from dataclasses import dataclass

from inductor_debug_schema import TensorTimeline, TimelineCall, TimelineStatement


@dataclass(frozen=True, slots=True)
class Visit:
    """One time at which a line was passed.

    `statement` is the index of the run of its statement. Where the line itself runs no operation it is the last one
    that ran before it, or -1 at the beginning of the function; `between` says so.
    """

    call: int
    statement: int
    between: bool


def visits_of(timeline: TensorTimeline, path: str, line: int) -> list[Visit]:
    """Every time at which the run passed a zero-based line of the file at `path`, in order; none where it never did."""
    calls = _calls_around(timeline, path, line)
    of_call: dict[int, list[tuple[int, TimelineStatement]]] = {number: [] for number in calls}
    for number, statement in enumerate(timeline.statements):
        if statement.call in of_call:
            of_call[statement.call].append((number, statement))
    hits = [
        (number, statement)
        for statements in of_call.values()
        for number, statement in statements
        if statement.start_line <= line <= statement.end_line
    ]
    if hits:
        innermost = max(statement.start_line for _, statement in hits)
        chosen = sorted(number for number, statement in hits if statement.start_line == innermost)
        return [Visit(timeline.statements[number].call, number, False) for number in chosen]
    return [Visit(call, _before(statements, line), True) for call, statements in of_call.items()]


def chosen(visits: list[Visit], timeline: TensorTimeline, wanted: int, module: str) -> int:
    """The visit to show: in the module that was last looked at, or in one around or inside it; else number `wanted`."""
    if module:
        modules = [timeline.calls[visit.call].module for visit in visits]
        same = [number for number, other in enumerate(modules) if other == module]
        inside = [number for number, other in enumerate(modules) if other.startswith(f"{module}.")]
        around = [number for number, other in enumerate(modules) if other and module.startswith(f"{other}.")]
        found = same or inside or around
        if found:
            return wanted if wanted in found else found[0]
    return min(max(wanted, 0), len(visits) - 1)


def _calls_around(timeline: TensorTimeline, path: str, line: int) -> list[int]:
    """The calls of the innermost function around a line."""
    around = [
        (number, call)
        for number, call in enumerate(timeline.calls)
        if call.path == path and call.start_line <= line <= call.end_line
    ]
    innermost = max((call.start_line for _, call in around), default=0)
    return [number for number, call in around if call.start_line == innermost]


def _before(statements: list[tuple[int, TimelineStatement]], line: int) -> int:
    """The last run of the nearest statement above a line; -1 where there is none."""
    above = [(statement.end_line, number) for number, statement in statements if statement.end_line < line]
    return max(above, default=(0, -1))[1]


def active_calls(timeline: TensorTimeline, call: int) -> list[tuple[int, TimelineCall]]:
    """A call and those that wait for it to end, innermost first."""
    found: list[tuple[int, TimelineCall]] = []
    while call >= 0:
        found.append((call, timeline.calls[call]))
        caller = timeline.calls[call].caller
        call = timeline.statements[caller].call if caller >= 0 else -1
    return found
