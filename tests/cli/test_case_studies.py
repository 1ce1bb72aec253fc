"""Case studies: pages say what runs said, and a number that changed, or a problem that is gone, is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("jinja2")

from inductor_debug_benchmarks.case_studies import studies
from inductor_debug_benchmarks.case_studies.pages import pages_of
from inductor_debug_benchmarks.case_studies.studies import (
    CaseFacts,
    StudyError,
    all_studies,
    changes,
    keep,
    kept,
    run,
    versions_here,
)

STUDIES = {study.name: study for study in all_studies()}


def test_pages_are_what_the_kept_facts_say() -> None:
    assert {path.stem for path in pages_of(list(STUDIES.values()))} == {"index", *STUDIES}
    for path, text in pages_of(list(STUDIES.values())).items():
        assert path.read_text(encoding="utf-8") == text, "npm run case-studies writes them"


def test_a_number_that_changed_is_told_by_its_name(tmp_path: Path) -> None:
    study = replace(STUDIES["bert"], folder=tmp_path)
    assert changes(study, CaseFacts({}, {})) == [f"{tmp_path.name}: never run before"]
    keep(study, CaseFacts({"torch": "2.13.0"}, {"graphs": "1", "peak": "3 MiB"}))
    assert changes(study, CaseFacts({"torch": "2.14.0"}, {"graphs": "1", "peak": "3 MiB"})) == []
    assert changes(study, CaseFacts({}, {"graphs": "2", "peak": "3 MiB"})) == [f"{tmp_path.name}: graphs was 1, is 2"]


@pytest.mark.torch
def test_the_smallest_study_is_true_here() -> None:
    study = STUDIES["bert"]
    facts = run(study)  # raises where the problem is gone, or the fix is none
    last = kept(study)
    assert last is not None
    if last.versions == versions_here():
        assert changes(study, facts) == []


@pytest.mark.parametrize(
    ("left", "said"), [((), "before.py has no"), (("before.py", "after.py"), "after.py still has")]
)
def test_a_problem_that_is_gone_or_not_solved_is_told(
    left: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = STUDIES["bert"]
    found = {"rule": study.rule, "message": "19 is odd"}
    rows = [{"path": name, "findings": [found] * (name in left)} for name in ("before.py", "after.py")]
    monkeypatch.setattr(studies, "_answer", lambda *_: {"rows": rows})
    with pytest.raises(StudyError, match=said):
        run(study)
