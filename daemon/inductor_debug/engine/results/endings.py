"""How a run that did not end by itself is told to the user: as one finding, where the run was when it ended.

Only words and places; the supervisor decides what happened.
"""

from __future__ import annotations

from inductor_debug_schema import FileStatus, Finding, Position, Range, Related, Severity, Stage

from inductor_debug.engine.pool.job_outcomes import JobEnd, JobOutcome
from inductor_debug.engine.results.merge import Ending, Results
from inductor_debug.engine.settings.settings import ConfigurationError, Settings
from inductor_debug.rules.words.stage_names import stage_name
from inductor_debug.source.text_lines import first_line_range, line_range, split_lines

CONFIGURATION_RULE = "configuration"
LOG_LINES = 12
"""Lines of a worker's log that a finding quotes."""

_STACKS = ("Fatal Python error", "Current thread", "Stack (", "Traceback (")
"""How a stack begins in a log, as faulthandler and Python write them; the first of these that is there is told."""

_MACHINERY = ("/inductor_debug/", "/site-packages/torch/")

_RULES = {
    JobOutcome.FINISHED: "crash",
    JobOutcome.CRASHED: "crash",
    JobOutcome.TIMEOUT: "timeout",
    JobOutcome.OUT_OF_MEMORY: "out-of-memory",
    JobOutcome.START_FAILED: "environment",
}
_LIMITS = (JobOutcome.TIMEOUT, JobOutcome.OUT_OF_MEMORY)
"""What our own limits end. Of a class that nobody declared a target that says nothing but that it was not checked."""
_MOST_GIVEN_UP = 3
"""Targets of a file that may cost it a process before its rest is given up with them."""
_STATUSES = {JobOutcome.TIMEOUT: FileStatus.TIMEOUT, JobOutcome.START_FAILED: FileStatus.FAILED}


def conclude(results: Results, end: JobEnd, settings: Settings, *, ordered: bool = False) -> None:
    """Settles `results`, whose run has ended with `end`; `ordered` where somebody asked for more than a check.

    Where a limit of ours ended a run that had seen all that was declared, what is left nobody asked for: it is not
    checked, which coverage tells; a finding would tell it twice.
    """
    if end.outcome is JobOutcome.FINISHED and results.status is not None:
        results.close()
        return
    cut_short = not ordered and end.outcome in _LIMITS and results.loaded and not results.owes
    ending = _ending(results, end, settings, told=not cut_short)
    results.fail(ending, broken=True)


def wants_numbers(results: Results, end: JobEnd) -> bool:
    """Whether symbols may have been what took too long, so that their target is run once more with numbers.

    Where it is, `results` say so from then on.
    """
    if end.outcome is not JobOutcome.TIMEOUT or end.of_all or results.running is None or not results.may_be_slowed:
        return False
    target, _ = results.running
    if target in results.fixed:
        return False
    results.fixed.append(target)
    results.running = None
    return True


def gives_up(results: Results, end: JobEnd, settings: Settings) -> bool:
    """Whether the rest of a file is worth another process, without the target in which this one ended.

    Where it is, that target is given up in `results`.
    """
    if end.outcome not in (*_LIMITS, JobOutcome.CRASHED) or end.of_all or results.running is None:
        return False
    target, _ = results.running
    # The parts of a class that nobody declared are looked at by themselves where the whole cannot be.
    rest = target not in results.declared or any(results.lacks(name) for name in results.lines if name != target)
    if not rest or len(results.given_up) == _MOST_GIVEN_UP:
        return False
    told = end.outcome not in _LIMITS or (target in results.declared and results.lacks(target))
    results.give_up(target, _ending(results, end, settings, told=told))
    return True


def _ending(results: Results, end: JobEnd, settings: Settings, *, told: bool) -> Ending:
    """How a run ended that did not by itself, at the line where it was."""
    span = line_range(results.text, end.line)
    finding = Finding(
        rule=_RULES[end.outcome],
        severity=Severity.ERROR if told else Severity.INFORMATION,
        message=_message(results, end, settings),
        path=results.path,
        range=span,
        stage=results.running[1] if results.running else Stage.LOAD,
        target=results.running[0] if results.running else "",
        related=_log(results.path, span, end.log_tail),
    )
    status = _STATUSES.get(end.outcome, FileStatus.CRASHED) if told else FileStatus.TIMEOUT
    return Ending(status, finding, told, end.outcome in _LIMITS, end.outcome is JobOutcome.TIMEOUT)


def configuration_finding(error: ConfigurationError, path: str, text: str) -> Finding:
    """A setting that cannot be used, told on the first line of the document it would have been used for."""
    related = []
    if error.path is not None:
        line = error.line or 0
        related = [Related(error.path, Range(Position(line, 0), Position(line, 0)), error.message)]
    return Finding(
        rule=CONFIGURATION_RULE,
        severity=Severity.ERROR,
        message=f"Not analysed, because a setting cannot be used: {error}",
        path=path,
        range=first_line_range(text),
        stage=Stage.LOAD,
        related=related,
    )


def internal_finding(error: BaseException, path: str, text: str) -> Finding:
    """A fault of ours."""
    message = f"inductor-debug itself failed ({type(error).__name__}: {error}). Its log has the details."
    return Finding("internal-error", Severity.ERROR, message, path, first_line_range(text), Stage.LOAD)


def _message(results: Results, end: JobEnd, settings: Settings) -> str:
    detail = end.detail.strip().rstrip(".")
    if end.outcome is JobOutcome.TIMEOUT:
        sets = "what `timeout` allows all of a file" if end.of_all else "the limit that `timeout` sets"
        return f"Stopped after {end.seconds:g} s of work {_where(results)}: {sets}."
    if end.outcome is JobOutcome.OUT_OF_MEMORY:
        limit = f"{settings.memory_limit / (1 << 30):.3g} GiB"
        return f"Stopped {_where(results)}: it used more than {limit} of memory, the limit that `memory_limit` sets."
    if end.outcome is JobOutcome.START_FAILED:
        return f"{detail or 'No worker could be started'}."
    return f"The process that analysed this file died {_where(results)}: {detail or 'it ended without an answer'}."


def _where(results: Results) -> str:
    if results.running is not None:
        target, stage = results.running
        return f"in the {stage_name(stage)} stage of {target}"
    return "between two stages" if results.loaded else "while the file was loaded"


def _log(path: str, span: Range, tail: str) -> list[Related]:
    """What the worker's log says of the end: the stack, where it has one, or its last lines."""
    lines = [line.rstrip() for line in split_lines(tail.strip()) if not line.startswith("Extension modules:")]
    stacks = (number for begin in _STACKS for number, line in enumerate(lines) if line.startswith(begin))
    first = next(stacks, None)
    told = lines[-LOG_LINES:] if first is None else _users(lines[first:])[:LOG_LINES]
    text = "\n".join(told).strip()
    return [Related(path, span, f"From the log of its process:\n{text}")] if text else []


def _users(stack: list[str]) -> list[str]:
    """A stack without the frames of torch and of this tool, which say nothing about the user's code."""
    return [line for line in stack if not (line.startswith("  File ") and any(part in line for part in _MACHINERY))]
