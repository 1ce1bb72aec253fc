"""The text of an issue, out of what a bug report gathered: Markdown with its checklist filled in.

It says only what was seen; what is missing is named as missing.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from inductor_debug_schema import BisectDocument, BisectRung, Finding, to_wire

from inductor_debug.rules.words.stage_names import stage_name
from inductor_debug.source.notebooks.reading import place_in_words

_LONGEST_SCRIPT = 12_000
"""Characters of a script that an issue shows; a longer one is only in the zip."""


@dataclass
class Facts:
    """What is known. `bisections` are the contract's documents; `files` are (name, what it is)."""

    tool: str
    accelerator: str | None
    title: str = ""
    finding: Finding | None = None
    targets: list[str] = field(default_factory=list)
    script: str | None = None
    verified: bool = False
    bisections: list[BisectDocument] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    files: list[tuple[str, str]] = field(default_factory=list)


def issue_text(facts: Facts) -> str:
    """The issue."""
    parts = [f"# {facts.title}", _what(facts), _reproducer(facts)]
    parts += [_bisection(document) for document in facts.bisections]
    parts += [_versions(facts), _checklist(facts), _files(facts)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _what(facts: Facts) -> str:
    finding = facts.finding
    if finding is None:
        where = f" for accelerator `{facts.accelerator}`" if facts.accelerator else ""
        return f"inductor-debug {facts.tool} found nothing{where}."
    start = finding.range.start
    lines = [
        f"- **rule**: `{finding.rule}` ({finding.severity.value})",
        f"- **where**: `{place_in_words(os.path.basename(finding.path), finding.path, start.line, start.character)}`",
        f"- **target**: `{finding.target or ', '.join(facts.targets)}`, stage `{stage_name(finding.stage)}`",
    ]
    if facts.accelerator:
        lines.append(f"- **accelerator**: `{facts.accelerator}`")
    if finding.op:
        count = f", {finding.count} times" if finding.count > 1 else ""
        lines.append(f"- **operation**: `{finding.op}`{count}")
    return "\n".join(lines)


def _reproducer(facts: Facts) -> str:
    if facts.script is None:
        return ""
    said = "It was run in a clean process and fails as described." if facts.verified else "It could not be verified."
    head = f"## Reproducer\n\nNeeds torch alone; exits 0 when the failure reproduces. {said}"
    if len(facts.script) > _LONGEST_SCRIPT:
        return f"{head} It is in `repro/repro.py`."
    return f"{head}\n\n```python\n{facts.script.rstrip()}\n```"


def _bisection(document: BisectDocument) -> str:
    rows = ["| backend | state | |", "|---|---|---|"]
    rows += [f"| {rung.backend} | {rung.state.value} | {_cell(rung.why)} |" for rung in document.ladder]
    lines = [f"## Bisection of {document.target}: {document.verdict.value}", "", *rows]
    if document.guilty is not None:
        guilty = to_wire(document.guilty)
        parts = ("backend", "part", "direction", "graph", "pass", "op", "node")
        known = [f"{name} `{guilty[name]}`" for name in parts if guilty[name]]
        lines += ["", f"Guilty: {', '.join(known)}"]
    if document.commands:
        lines += ["", "```", *document.commands, "```"]
    return "\n".join(lines)


def _versions(facts: Facts) -> str:
    known = {"inductor-debug": facts.tool, **facts.versions}
    return "\n".join(["## Versions", "", *(f"- {name}: {value}" for name, value in known.items())])


def _checklist(facts: Facts) -> str:
    boxes = [
        (facts.script is not None, "a minimal reproducer that needs torch alone"),
        (facts.verified, "the reproducer was run in a clean process"),
        (bool(facts.bisections), "the layer that goes wrong was looked for"),
        (bool(facts.versions), "versions of everything that matters"),
        (True, "home folders, user names and secrets were taken out"),
        (False, "I have searched existing issues (only you can tick this)"),
    ]
    boxes += [(True, _compared(rung)) for document in facts.bisections for rung in document.ladder]
    lines = [f"- [{'x' if done else ' '}] {words}" for done, words in boxes]
    lines += [f"- not there: {_line(missing)}" for missing in facts.missing]
    return "\n".join(["## Checklist", "", *lines])


def _compared(rung: BisectRung) -> str:
    """A rung's row of the comparison, with the versions that it ran with."""
    versions = ", ".join(f"{package} {version}" for package, version in rung.versions.items())
    return f"`{rung.backend}` ({versions or 'versions not known'}): {rung.state.value}; {_line(rung.why)}"


def _files(facts: Facts) -> str:
    return "\n".join(["## Files", "", *(f"- `{name}`: {about}" for name, about in facts.files)])


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")


def _line(text: str) -> str:
    return " ".join(text.split())
