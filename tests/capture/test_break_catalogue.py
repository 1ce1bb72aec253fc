"""Every kind of graph break of torch's registry is judged, and those that ordinary code meets are told as it says.

The files in `tests/fixtures/catalogue/graph_breaks` are code as users write it. In them,

    return x * len(SIZES)  # breaks: GB6012 object "len(SIZES)"

says which kind torch has for a line, what that is to the user, and where the finding stands; `raises: "…"` that the
line raises, which is told in the place of a break.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import torch
from forked import Job, analyze
from inductor_debug.rules.words.break_kinds import BY_CALL, CAUSES, UNREACHED
from inductor_debug.rules.words.break_words import explanation_of, sentence_of
from inductor_debug_schema import BreakCause, GraphBreak, Stage
from torch_release import RELEASE

pytestmark = pytest.mark.torch

FOLDER = Path(__file__).parents[1] / "fixtures" / "catalogue" / "graph_breaks"
FILES = sorted(FOLDER.glob("*.py"))
REGISTRY = Path(torch.__file__).parent / "_dynamo" / "graph_break_registry.json"
EXPECTED = re.compile(r"# (?P<rule>breaks|raises): (?P<items>.+)$")
ITEM = re.compile(r"""(?:(?P<kind>GB\d{4}) (?P<cause>[\w-]+) )?(?P<quote>["'])(?P<text>.+?)(?P=quote)(?=, |$)""")

Row = tuple[int, str, str, str]
"""One-based line, kind, cause and text; no kind and no cause where the line raises."""


def expected(text: str) -> list[Row]:
    return sorted(
        (number, item["kind"] or "", item["cause"] or "", item["text"])
        for number, line in enumerate(text.split("\n"), 1)
        if (found := EXPECTED.search(line))
        for item in ITEM.finditer(found["items"])
    )


def told(job: Job) -> list[Row]:
    rows = []
    for finding in job.findings:
        line, text = finding.range.start.line + 1, job.marked(finding)
        if isinstance(finding.facts, GraphBreak):
            rows.append((line, finding.facts.registry_id, finding.facts.breaks_by.value, text))
        elif finding.rule in ("capture-error", "import-error"):
            rows.append((line, "", "", text))
    return sorted(rows)


@pytest.mark.skipif(RELEASE[:2] != (2, 13), reason="other releases trace more, or less")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_break_is_told_with_its_kind_its_cause_and_its_place(path: Path) -> None:
    job = analyze(path, stages=(Stage.MOCK,))
    assert told(job) == expected(job.text) != []
    for finding in job.findings:
        if isinstance(finding.facts, GraphBreak):
            assert finding.message == sentence_of(finding.facts)
            assert finding.link is not None
            assert finding.link.endswith(f"/{finding.facts.registry_id.lower()}.html")
            cause = CAUSES.get(finding.facts.registry_id)
            asked_of_the_call = cause in (None, BreakCause.METHOD, BreakCause.VALUE)
            told_further_out = finding.facts.breaks_by in (BreakCause.HOOK, BreakCause.MODULE)
            assert asked_of_the_call or told_further_out or finding.facts.breaks_by is cause
            assert finding.facts.registry_id not in UNREACHED


def test_every_kind_of_torchs_registry_is_judged_once() -> None:
    if RELEASE > (2, 13):
        pytest.skip("newer releases have kinds that nobody has read yet")
    known = json.loads(REGISTRY.read_text(encoding="utf-8"))
    assert sorted(set(known) - set(CAUSES) - set(UNREACHED) - BY_CALL) == []
    assert set(CAUSES).isdisjoint(UNREACHED)
    assert BY_CALL.isdisjoint({*CAUSES, *UNREACHED})


def test_every_kind_has_a_sentence() -> None:
    assert [kind for kind in (*CAUSES, *UNREACHED, *BY_CALL) if not explanation_of(kind).endswith(".")] == []
    assert explanation_of("GB0264") == "`…` makes a parameter while the model runs."
    assert explanation_of("dtype") == ""
