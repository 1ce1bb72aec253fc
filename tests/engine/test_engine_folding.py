"""One cause is one finding: the first place tells it, the others are related."""

from __future__ import annotations

import dataclasses

from inductor_debug.engine.results.folding import folded
from inductor_debug_schema import Finding, Position, Range, Severity, Stage


def found(
    line: int, cause: str = "conv3d", path: str = "/m.py", severity: Severity = Severity.WARNING, count: int = 2
) -> Finding:
    place = Range(Position(line, 0), Position(line, 5))
    return Finding("unsupported-op", severity, "No conv3d.", path, place, Stage.MOCK, count=count, cause=cause)


def test_a_cause_is_told_once_a_file_with_its_places_and_its_count() -> None:
    (one,) = folded([found(1), found(4), found(9, severity=Severity.ERROR)])
    assert (one.range.start.line, one.count, one.severity) == (1, 6, Severity.ERROR)
    assert one.message == "No conv3d. The same at 2 more places in this file."
    assert [(place.range.start.line, place.message) for place in one.related] == [
        (4, "the same here"),
        (9, "the same here"),
    ]


def test_other_causes_other_files_and_findings_without_a_cause_stay_alone() -> None:
    findings = [found(1), found(2, cause="prelu"), found(3, path="/other.py"), found(4, cause=""), found(5, cause="")]
    assert folded(findings) == findings


def test_what_an_interpreter_lacks_is_told_once_whatever_file_misses_it() -> None:
    lacking = [
        dataclasses.replace(found(line, cause="torchvision", path=path), rule="environment")
        for line, path in ((1, "/a.py"), (4, "/b.py"), (2, "/c.py"))
    ]
    (one,) = folded(lacking)
    assert (one.path, one.message) == ("/a.py", "No conv3d. The same at 2 more places.")
    assert [place.path for place in one.related] == ["/b.py", "/c.py"]


def test_a_library_that_is_missed_where_it_is_imported_and_where_it_is_used_is_one_cause() -> None:
    imported = dataclasses.replace(found(1, cause="einops"), rule="import-error", message="There is no einops.")
    used = dataclasses.replace(found(9, cause="einops"), rule="environment", message="`einops.rearrange` is not there.")
    (one,) = folded([imported, used])
    assert (one.rule, one.message) == ("import-error", "There is no einops. The same at 1 more place in this file.")
