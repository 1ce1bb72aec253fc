"""Findings about what compiles code again: state that changes, sizes that became numbers, guards that calls broke."""

from __future__ import annotations

from dataclasses import replace

from inductor_debug_schema import (
    Finding,
    Location,
    Recompilation,
    Related,
    Severity,
    SpecialisedSize,
    Stage,
    StateChange,
)

from inductor_debug.capture.dynamo.graph_breaks import frames_of
from inductor_debug.capture.failures.failures import innermost, place
from inductor_debug.capture.guards.changing_state import changing_state
from inductor_debug.capture.guards.guard_checks import NOT_SAID, readable
from inductor_debug.capture.guards.recompiles import Failure, Recompile, RecompilesSeen
from inductor_debug.capture.guards.state_findings import read_at, state_finding
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.stages.dynamo_run import DynamoRun
from inductor_debug.rules.recording.ops import Frame
from inductor_debug.rules.words.recompile_words import sentence_of_size

_MOST_TOLD = 4
_MOST_RELATED = 8
_HABIT = 2
"""Times that a size was compiled for again, from which on it is no start: torch tries any size after the first."""
_UNKNOWN = "torch does not say which guard failed"


def recompile_findings(run: DynamoRun, seen: RecompilesSeen) -> list[Finding]:
    """Findings for state that changes, expressions whose guards were broken, functions of which nothing is known."""
    named = [*_of_states(run, seen), *_of_sizes(run, seen)]
    explained = {(function, source) for function, source, _ in named}
    told: dict[tuple[str, Location], list[tuple[Recompile, list[Failure]]]] = {}
    for made in seen.recompiles:
        by_place: dict[Location, list[Failure]] = {}
        rest = [
            failure
            for failure in made.closest
            if not explained & {(made.function, source) for source in (failure.broken.guarded, *failure.made)}
        ]
        for failure in rest:
            # What no code made, torch's own state, is another one where the program makes the call.
            frames = failure.frames or seen.place_of(made.inputs)
            by_place.setdefault(_read(run, failure, frames), []).append(failure)
        nothing: dict[Location, list[Failure]] = {} if made.closest else {run.target.location: []}
        for location, failures in (by_place or nothing).items():
            told.setdefault((made.function, location), []).append((made, failures))
    return [
        *(finding for _, _, finding in named),
        *(_finding(run, seen, function, location, times) for (function, location), times in told.items()),
    ]


def _read(run: DynamoRun, failure: Failure, frames: tuple[Frame, ...]) -> Location:
    """Where code reads what a broken guard is about."""
    return read_at(run.sources, place(frames, run.target.location, "")[0], readable(failure.broken.source))


def _of_states(run: DynamoRun, seen: RecompilesSeen) -> list[tuple[str, str, Finding]]:
    """The findings about state that calls change, each with the function and the guards' source that it explains."""
    states: dict[tuple[str, str], dict[int, Failure]] = {}
    for made in seen.recompiles:
        for failure in made.closest:
            if failure.state is not None:
                states.setdefault((made.function, failure.broken.guarded), {}).setdefault(made.inputs, failure)
    for made in seen.recompiles:
        for failure in made.closest:
            for source, now in failure.made.items():
                # What was there for the first time is told with what it then changes to.
                if (later := states.get((made.function, source))) is not None and made.inputs not in later:
                    later[made.inputs] = replace(failure, state=now)
    found = []
    for (function, source), by_call in states.items():
        failures = dict(sorted(by_call.items()))
        known = [failure.state for failure in failures.values() if failure.state is not None]
        again = 1 < seen.calls <= len(failures)
        first = next(iter(failures.values()))
        by_program = bool(seen.place_of(min(failures))) and innermost(first.frames) is not None
        state = changing_state(known, every_call=again, by_program=by_program)
        if state is not None:
            asked = _specialised(run, seen, source)
            finding = state_finding(run, function, state, asked or first.frames)
            once = state.changes_in is StateChange.NUMBER and not again
            found.append((function, source, replace(finding, severity=Severity.INFORMATION) if once else finding))
    return found


def _of_sizes(run: DynamoRun, seen: RecompilesSeen) -> list[tuple[str, str, Finding]]:
    """The findings about sizes that code turns into numbers, as `_of_states`."""
    sizes: dict[tuple[str, str], list[Failure]] = {}
    for made in seen.recompiles:
        for failure in made.closest:
            if failure.broken.now is not None:
                sizes.setdefault((made.function, failure.broken.guarded), []).append(failure)
    found = []
    for (function, guarded), failures in sizes.items():
        frames = _specialised(run, seen, guarded)
        if len(failures) < _HABIT or not frames:
            continue
        first = failures[0].broken
        numbers = [
            *([first.expected] if first.expected is not NOT_SAID else []),
            *(each.broken.now for each in failures),
        ]
        found.append(
            (function, guarded, _size_finding(run, function, first.size_name, list(map(str, numbers)), frames))
        )
    return found


def _size_finding(run: DynamoRun, function: str, name: str, seen: list[str], frames: tuple[Frame, ...]) -> Finding:
    where, related = place(frames, run.target.location, "inside {}")
    facts = SpecialisedSize(run.sources.excerpt(where), name, list(dict.fromkeys(seen)))
    return Finding(
        rule="recompile",
        severity=Severity.WARNING,
        message=sentence_of_size(function, facts),
        path=where.path,
        range=where.range,
        stage=Stage.MOCK,
        target=run.target.name,
        count=len(seen),
        related=related[:_MOST_RELATED],
        facts=Recompilation(function, given_up=False, size=facts),
    )


def _specialised(run: DynamoRun, seen: RecompilesSeen, source: str) -> tuple[Frame, ...]:
    """Where a size or number became a constant; nothing where it never did, or not in the project's code."""
    found = next((each for each in seen.specialised if each.source == source), None)
    frames = frames_of(found.stack, run.sources) if found is not None else ()
    return frames if innermost(frames) is not None else ()


def _finding(
    run: DynamoRun,
    seen: RecompilesSeen,
    function: str,
    location: Location,
    times: list[tuple[Recompile, list[Failure]]],
) -> Finding:
    first, failures = times[0]
    texts = list(dict.fromkeys(failure.broken.text for failure in failures)) or [_UNKNOWN]
    why = "; ".join(texts[:_MOST_TOLD]) + (f"; and {len(texts) - _MOST_TOLD} more" if len(texts) > _MOST_TOLD else "")
    again = f", and {len(times) - 1} more time{'s' if len(times) > 2 else ''} for later ones" if len(times) > 1 else ""
    target = run.target
    related = [
        Related(other.path, other.range, f"also: {failure.broken.text}")
        for failure in first.closest
        if failure.frames and (other := _read(run, failure, failure.frames)) != location
    ]
    if failures:
        related = [*place(failures[0].frames, target.location, "inside {}")[1], *related]
    called = _called(seen, first.inputs, location, target)
    return Finding(
        rule="recompile",
        # Torch compiles for a first call as it is; what one other call asks for is how things start.
        severity=Severity.INFORMATION if seen.place_of(first.inputs) and len(times) == 1 else Severity.WARNING,
        message=f"`{function}` is compiled again for call {first.inputs}{again}: {why}.",
        path=location.path,
        range=location.range,
        stage=Stage.MOCK,
        target=target.name,
        count=len(times),
        related=[*([called] if called is not None else []), *related][:_MOST_RELATED],
        facts=Recompilation(function, given_up=False),
    )


def _called(seen: RecompilesSeen, number: int, told: Location, target: BuiltTarget) -> Related | None:
    """Where the program makes a call, by its number from 1, unless it is told of there."""
    frames = seen.place_of(number)
    where = place(frames, target.location, "")[0]
    if innermost(frames) is None or where == told:
        return None
    return Related(where.path, where.range, f"call {number} of those that differ is made here")
