"""A study is run, and facts are taken from the JSON that its commands answer; nothing in them is written by hand."""

from __future__ import annotations

import importlib
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from inductor_debug import __version__
from inductor_debug.rules.amounts import in_bytes, in_seconds, in_thousands
from jinja2 import Environment, StrictUndefined

ROOT = Path(__file__).resolve().parents[3]
STUDIES = ROOT / "examples" / "case_studies"
COMMON = {
    "findings": "{0}.findings | length",
    "parameters": "in_thousands({0}.parameters)",
    "graphs": "{0}.graphs",
    "recompilations": "{0}.recompiles",
    "operations": "in_thousands({0}.columns[0].ops)",
    "flops": "in_thousands({0}.columns[0].flops)",
    "moved": "in_bytes({0}.columns[0].moved_bytes)",
    "peak": "in_bytes({0}.columns[0].peak_bytes)",
    "at_least": "in_seconds({0}.columns[0].seconds_at_least)",
}
"""CaseFacts of both files of every study, by expression over the row that the survey has of a file."""
_WORDS = {"in_bytes": in_bytes, "in_seconds": in_seconds, "in_thousands": in_thousands}
_PACKAGES = ("torch", "transformers")


class StudyError(Exception):
    """A study could not be run, or what it tells is no longer so; the message says which and why."""


@dataclass(frozen=True)
class CaseStudy:
    """A study as its folder has it: `runs` and `facts` by name, and the run `found_in` which `rule` finds something."""

    folder: Path
    title: str
    rule: str
    runs: Mapping[str, str]
    facts: Mapping[str, str]
    found_in: str

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        return self.folder.name


@dataclass(frozen=True)
class CaseFacts:
    """What runs said, in words and numbers, and the `versions` that said so."""

    versions: Mapping[str, str]
    told: Mapping[str, str]


def all_studies() -> Iterator[CaseStudy]:
    """The studies in this checkout."""
    parser = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    for path in sorted(STUDIES.glob("*/study.toml")):
        said = parser.loads(path.read_text(encoding="utf-8"))
        found_in = said.get("found_in", "survey")
        yield CaseStudy(path.parent, said["title"], said["rule"], said["runs"], said["facts"], found_in)


def run(study: CaseStudy) -> CaseFacts:
    """Runs a study and takes its facts.

    Raises:
        StudyError: a command failed, or the problem is not found before, or still found after.
    """
    answers = {name: _answer(study, name, words) for name, words in study.runs.items()}
    before, after = (_row(study, answers["survey"], name) for name in ("before.py", "after.py"))
    found = _findings(study, answers, "before.py")
    if not found:
        raise StudyError(f"{study.name}: before.py has no {study.rule} any more")
    if left := _findings(study, answers, "after.py"):
        raise StudyError(f"{study.name}: after.py still has {study.rule}: {left[0]['message']}")

    def row(answer: str, name: str) -> dict[str, Any]:
        return _row(study, answers[answer], name)

    known = {**answers, **_WORDS, "before": before, "after": after, "row": row}
    expressions = {
        **{f"{when}_{name}": text.format(when) for name, text in COMMON.items() for when in ("before", "after")},
        **study.facts,
    }
    environment = Environment(undefined=StrictUndefined)
    told = {name: str(environment.compile_expression(text, False)(**known)) for name, text in expressions.items()}
    place = found[0]["range"]["start"]
    told["message"] = found[0]["message"]
    told["place"] = f"{found[0]['path']}:{place['line'] + 1}:{place['character'] + 1}"
    told["severity"] = found[0]["severity"]
    return CaseFacts(versions_here(), told)


def versions_here() -> dict[str, str]:
    """What studies are run with."""
    packages = {name: metadata.version(name) for name in _PACKAGES}
    return {"inductor-debug": __version__, **packages, "Python": ".".join(map(str, sys.version_info[:3]))}


def kept(study: CaseStudy) -> CaseFacts | None:
    """The facts as they were last, if there are any."""
    try:
        document = json.loads((study.folder / "facts.json").read_text(encoding="utf-8"))
    except OSError:
        return None
    return CaseFacts(document["versions"], document["facts"])


def keep(study: CaseStudy, facts: CaseFacts) -> None:
    """Keeps facts beside the study."""
    document = {"versions": facts.versions, "facts": facts.told}
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    (study.folder / "facts.json").write_text(text, encoding="utf-8")


def changes(study: CaseStudy, facts: CaseFacts) -> list[str]:
    """What is told otherwise than last time, a line each."""
    last = kept(study)
    if last is None:
        return [f"{study.name}: never run before"]
    names = dict.fromkeys([*last.told, *facts.told])
    return [
        f"{study.name}: {name} was {last.told.get(name, 'not told')}, is {facts.told.get(name, 'not told')}"
        for name in names
        if last.told.get(name) != facts.told.get(name)
    ]


def _answer(study: CaseStudy, name: str, words: str) -> Any:
    """What a command of ours answers. Findings are no failure of it, nor is a file that was checked in part."""
    given = shlex.split(words)
    with tempfile.TemporaryDirectory() as scratch:
        if given[0] == "survey":
            given += ["--folder", scratch, "--no-page"]
        command = [sys.executable, "-m", "inductor_debug", *given, "--quiet"]
        ran = subprocess.run(command, cwd=study.folder, capture_output=True, text=True, check=False)
    try:
        return json.loads(ran.stdout)
    except ValueError:
        raise StudyError(f"{study.name}: {name} failed ({words}): {ran.stderr.strip()[-2000:]}") from None


def _row(study: CaseStudy, answer: Any, name: str) -> dict[str, Any]:
    for row in answer["rows"]:
        if row["path"] == name:
            return dict(row)
    raise StudyError(f"{study.name}: the survey has no row for {name}")


def _findings(study: CaseStudy, answers: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    findings = _row(study, answers[study.found_in], name)["findings"]
    return [finding for finding in findings if finding["rule"] == study.rule]
