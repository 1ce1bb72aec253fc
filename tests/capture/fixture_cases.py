"""Fixture pairs: a Python file, and the findings that one would expect from reading it.

A case is any `tests/fixtures/<topic>/<name>.py`. What is expected stands in comments of the file,

    y = x.double()  # expect: dtype "x.double()"

or, where comments would be in the way, in `<name>.expected.json` beside it. `tests/fixtures/README.md` explains both.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from forked import Job, excerpt
from inductor_debug.source.comments import comments
from inductor_debug_schema import Finding, Stage

FIXTURES = Path(__file__).parent.parent / "fixtures"
_EXPECT = re.compile(r"#\s*expect(?:@(?P<offset>[+-]\d+))?(?:\[(?P<stages>[\w,]+)\])?:\s*(?P<items>.+)")
_ITEM = re.compile(r'(?P<rule>[\w-]+)\s+"(?P<text>(?:[^"\\]|\\.)*)"(?:\s+x(?P<count>\d+))?')
_OPTION = re.compile(r"#\s*case:\s*(?P<options>.+)")
_RUN_RULES = {"graph-break": "mock", "recompile": "mock"}
_LOAD_RULES = {"syntax-error", "import-error", "directive"}

Row = tuple[int, str, str, str]
"""(one-based line, rule, excerpt with white space collapsed, stages)."""


@dataclass
class Expectation:
    """One finding that must be there. Fields that are None are not compared."""

    line: int
    rule: str
    text: str
    stages: str
    file: str | None = None
    severity: str | None = None
    message: str | None = None
    count: int | None = None
    related: list[str] = field(default_factory=list)

    @property
    def row(self) -> Row:
        return self.line, self.rule, collapse(self.text), self.stages


@dataclass
class Case:
    """A fixture and what is expected of it."""

    path: Path
    stages: tuple[Stage, ...] = (Stage.PREVIEW, Stage.MOCK)
    accelerator: str = "mock"
    status: str | None = None
    targets: list[str] | None = None
    torch: str = "0.0"
    """The oldest release that says what the file expects; older ones say it otherwise."""
    findings: list[Expectation] = field(default_factory=list)

    @property
    def text(self) -> str:
        return self.path.read_bytes().decode("utf-8")


def all_cases(folder: Path = FIXTURES) -> list[Path]:
    return sorted(path for path in folder.glob("*/*.py"))


def read_case(path: Path, expected: Path | None = None) -> Case:
    """Reads what is expected of the file at `path`: from `expected`, or from beside it, or from its comments."""
    beside = expected or path.with_suffix(".expected.json")
    if beside.exists():
        return _from_json(path, json.loads(beside.read_text(encoding="utf-8")))
    case = Case(path)
    found = comments(case.text)
    for comment in found:
        if match := _OPTION.match(comment.text):
            _set_options(case, dict(word.split("=", 1) for word in match.group("options").split()))
    for comment in found:
        if match := _EXPECT.match(comment.text):
            line = comment.line + 1 + int(match.group("offset") or 0)
            items = list(_ITEM.finditer(match.group("items")))
            assert items, f"{path.name}:{comment.line + 1}: not understood: {comment.text}"
            for item in items:
                count = item.group("count")
                case.findings.append(
                    Expectation(
                        line,
                        item.group("rule"),
                        json.loads(f'"{item.group("text")}"'),
                        _stages(case, item.group("rule"), match.group("stages")),
                        count=int(count) if count else None,
                    )
                )
    return case


def _set_options(case: Case, options: dict[str, Any]) -> None:
    for name, value in options.items():
        if name == "stages":
            names = value.split(",") if isinstance(value, str) else value
            case.stages = tuple(Stage(item) for item in names)
        elif name == "targets":
            case.targets = value.split(",") if isinstance(value, str) else value
        else:
            assert name in ("accelerator", "status", "torch"), f"{case.path.name}: unknown option {name}"
            setattr(case, name, value)


def _from_json(path: Path, document: dict[str, Any]) -> Case:
    case = Case(path)
    findings = document.pop("findings", [])
    _set_options(case, document)
    for entry in findings:
        stages = _stages(case, entry["rule"], entry.pop("stages", None))
        case.findings.append(Expectation(stages=stages, **entry))
    return case


def _stages(case: Case, rule: str, given: str | None) -> str:
    if given:
        return "+".join(given.split(","))
    if rule in _LOAD_RULES:
        return "load"
    return _RUN_RULES.get(rule) or "+".join(stage.value for stage in case.stages)


def collapse(text: str) -> str:
    return " ".join(text.split())


@dataclass
class Seen:
    """What the stages together say of one (rule, place)."""

    first: Finding
    text: str
    stages: list[str]

    @property
    def row(self) -> Row:
        return self.first.range.start.line + 1, self.first.rule, collapse(self.text), "+".join(self.stages)


def seen(job: Job) -> list[Seen]:
    """The job's findings, as the engine merges them."""
    found: dict[Any, Seen] = {}
    for finding in job.findings:
        key = (finding.rule, finding.path, finding.range)
        entry = found.setdefault(key, Seen(finding, job.marked(finding), []))
        if finding.stage.value not in entry.stages:
            entry.stages.append(finding.stage.value)
    return list(found.values())


def compare(case: Case, job: Job) -> None:
    """Fails with both lists side by side where the findings are not those expected."""
    actual = sorted(seen(job), key=lambda entry: entry.row)
    expected = sorted(case.findings, key=lambda item: item.row)
    if sys.version_info < (3, 11):
        actual, expected = _by_line(actual, expected, job)
    told = "\n".join(f"{finding.rule}: {finding.message}" for finding in job.findings)
    notes = "\n".join(note for event in job.stages for note in event.report.notes)
    missing = [item.row for item in expected if item.row not in [entry.row for entry in actual]]
    extra = [entry.row for entry in actual if entry.row not in [item.row for item in expected]]
    table = "\n".join([*(f"missing    {row}" for row in missing), *(f"unexpected {row}" for row in extra)])
    assert not table, f"\n{table}\n\n{told}\n{notes}\n{job.output}"
    for item, entry in zip(expected, actual, strict=True):
        _compare_details(item, entry, job)
    if case.status is not None:
        assert job.status.value == case.status
    if case.targets is not None:
        assert [name for name, _ in job.targets] == case.targets


def _by_line(actual: list[Seen], expected: list[Expectation], job: Job) -> tuple[list[Seen], list[Expectation]]:
    """Python 3.10 knows no columns: in code that Dynamo rewrote, a finding may stand at its whole line.

    Where it does in one stage, all that is expected of its rule on that line is compared by the line.
    """
    lines = job.text.split("\n")
    whole = {
        entry.row[:2]
        for entry in actual
        if entry.first.path == job.path and entry.text == lines[entry.first.range.start.line].strip()
    }
    merged = {key: Seen(next(entry.first for entry in actual if entry.row[:2] == key), "", []) for key in whole}
    for entry in actual:
        if entry.row[:2] in whole:
            stages = merged[entry.row[:2]].stages
            stages += [stage for stage in entry.stages if stage not in stages]
    wanted = {item.row[:2]: replace(item, text="") for item in expected if item.row[:2] in whole}
    found = [entry for entry in actual if entry.row[:2] not in whole] + list(merged.values())
    sought = [item for item in expected if item.row[:2] not in whole] + list(wanted.values())
    return sorted(found, key=lambda entry: entry.row), sorted(sought, key=lambda item: item.row)


def _compare_details(item: Expectation, entry: Seen, job: Job) -> None:
    finding = entry.first
    if item.file is not None:
        assert Path(finding.path).name == item.file
    if item.severity is not None:
        assert finding.severity.value == item.severity, finding.message
    if item.message is not None:
        assert item.message in finding.message
    if item.count is not None:
        assert finding.count == item.count, finding.message
    places = [collapse(_related_text(job, related)) for related in finding.related]
    for text in item.related:
        assert collapse(text) in places, f"not among the related places {places}"


def _related_text(job: Job, related: Any) -> str:
    text = job.text if related.path == job.path else Path(related.path).read_text(encoding="utf-8")
    return excerpt(text, related)
