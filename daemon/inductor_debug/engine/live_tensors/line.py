"""The document about one line: which run of it is meant, what is alive then, and how that compares to the peak."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from inductor_debug_schema import LineTensors, MemoryNow, MemoryPeak, TensorRow, TensorTimeline

from inductor_debug.accelerators.profile import Profile
from inductor_debug.engine.live_tensors.lookup import Visit, chosen, visits_of
from inductor_debug.engine.live_tensors.moment import curve_of, memory_over, moment_of, step_of, storage_alive
from inductor_debug.engine.live_tensors.rows import Describer
from inductor_debug.engine.live_tensors.tensor_places import TensorPlaces
from inductor_debug.source.text_changes import difference

ROWS = 60
"""Rows of a document, so that it fits into a message."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: a zero-based line of the present text of the file at `path`.

    `target` is preferred to others that run the line, the run in `module` or else number `call` to other runs of it.
    Rows are told from number `first` on, at most `rows` of them.
    """

    path: str
    line: int
    target: str = ""
    call: int = 0
    module: str = ""
    first: int = 0
    rows: int = ROWS


@dataclass(frozen=True, slots=True)
class RanTimeline:
    """A target's run: its timeline, and the text that ran as the file at `path`."""

    timeline: TensorTimeline
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class KnownTimeline:
    """What there is to answer from.

    `runs` has the run that knows the tensors of each target; `text` is the present text of the file that is asked
    about, `text_of` gives that of files which were only imported, None where it is not known. `profile` is the
    accelerator, called `accelerator`, None where none was chosen.
    """

    runs: Mapping[str, RanTimeline]
    text: str
    text_of: Callable[[str], str | None]
    profile: Profile | None = None
    accelerator: str = ""

    def ran_as(self, run: RanTimeline, path: str) -> str | None:
        """The text of a file that ran."""
        return run.text if path == run.path else self.text_of(path)


def line_tensors(question: Question, known: KnownTimeline) -> LineTensors:
    """The tensors at a line; with `why` alone where no run passed it."""
    found: dict[str, tuple[RanTimeline, list[Visit]]] = {}
    for target, run in known.runs.items():
        ran = known.ran_as(run, question.path)
        line = question.line if ran is None else difference(known.text, ran).moved_line(question.line)
        visits = visits_of(run.timeline, question.path, line)
        if visits:
            found[target] = run, visits
    if not found:
        return LineTensors(question.path, question.line, why=_why(question, known), accelerator=known.accelerator)
    target = question.target if question.target in found else next(iter(found))
    run, visits = found[target]
    number = chosen(visits, run.timeline, question.call, question.module)
    return _Document(question, known, run, target).of(visits, number, list(found))


class _Document:
    def __init__(self, question: Question, known: KnownTimeline, run: RanTimeline, target: str) -> None:
        self._question = question
        self._known = known
        self._target = target
        self._timeline = run.timeline
        ran = known.ran_as(run, question.path)
        self._edit = None if ran is None else difference(ran, known.text)
        self._places = TensorPlaces(self._timeline, question.path, self._edit, lambda path: known.ran_as(run, path))

    def of(self, visits: list[Visit], number: int, targets: list[str]) -> LineTensors:
        timeline, visit, question = self._timeline, visits[number], self._question
        moment = moment_of(timeline, visit)
        describer = Describer(timeline, visit, moment, self._places, self._known.profile)
        rows = describer.rows()
        memory = memory_over(timeline)
        call = timeline.calls[visit.call]
        start, end = self._lines(visit)
        alive = [storage for storage in timeline.storages if storage_alive(storage, moment)]
        return LineTensors(
            path=question.path,
            line=question.line,
            target=self._target,
            targets=targets,
            call=number,
            calls=len(visits),
            module=call.module,
            function=call.function,
            start_line=start,
            end_line=end,
            rows=rows[question.first : question.first + question.rows],
            first=question.first,
            row_count=len(rows),
            memory=MemoryNow(sum(storage.bytes for storage in alive), _kinds(rows), describer.device_bytes(rows)),
            line_peak=self._peak(memory, moment.first, moment.last),
            peak=self._peak(memory, 0, len(memory)),
            curve=curve_of(memory),
            here=step_of(moment.op, timeline.operations),
            exact=all(storage.exact for storage in alive),
            symbols=dict(timeline.symbols),
            accelerator=self._known.accelerator,
            outdated=self._edit is not None and bool(self._edit.hunks),
        )

    def _lines(self, visit: Visit) -> tuple[int, int]:
        if visit.statement < 0:
            start = end = self._timeline.calls[visit.call].start_line
        else:
            statement = self._timeline.statements[visit.statement]
            start, end = statement.start_line, statement.end_line
        if self._edit is None:
            return start, end
        return self._edit.moved_line(start), self._edit.moved_line(end)

    def _peak(self, memory: list[int], first: int, last: int) -> MemoryPeak | None:
        if first >= last:
            return None
        highest = max(range(first, last), key=lambda op: memory[op])
        return MemoryPeak(memory[highest], self._places.of_op(highest))


def _kinds(rows: list[TensorRow]) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in rows:
        if row.counted:
            found[row.kind] = found.get(row.kind, 0) + row.storage_bytes
    return found


def _why(question: Question, known: KnownTimeline) -> str:
    """Why there is nothing to show, in a sentence."""
    if not known.runs:
        return "Nothing in this file was run, so nothing is known of its tensors."
    ran = ", ".join(known.runs)
    return f"No run passes this line: it is outside of the functions that {ran} called when it was checked."
