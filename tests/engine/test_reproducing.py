"""What a worker made of a failure becomes the contract's document, whatever became of the search."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from answers import answer
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.orders.orders import Performed
from inductor_debug.engine.orders.reproducing import made_of, order_for, proved
from inductor_debug.engine.results.keeping import newest
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug_schema import (
    Answered,
    ArtifactKind,
    ArtifactMade,
    ArtifactReference,
    FileReport,
    FileStatus,
    Finding,
    Position,
    Range,
    ReproDocument,
    ReproTask,
    Severity,
    Stage,
    to_wire,
)

FOUND = Finding("dtype", Severity.WARNING, "float64", "/m.py", Range(Position(2, 4), Position(2, 9)), Stage.MOCK, "Net")


def made(content: str, title: str = "repro", suffix: str = ".py") -> ArtifactMade:
    return ArtifactMade(ArtifactKind.REPROS, title, suffix, "text/x-python", content.encode(), "Net")


def performed(*artifacts: ArtifactMade, why: str = "", broken: bool = False) -> Performed:
    references = [ArtifactReference(made.kind, f"/kept{made.suffix}", 1, made.media_type) for made in artifacts]
    document = answer(ReproDocument, {"why": why, "nodes_before": 40, "nodes_after": 2, "attempts": 7, "seconds": 1.0})
    report = FileReport("/m.py", FileStatus.CLEAN)
    return Performed(report, "", [Answered("Net", document)], list(artifacts), broken, references)


@pytest.fixture
def settings(tmp_path: Path) -> SettingsResolver:
    return SettingsResolver(
        command_line={"interpreter": sys.executable, "artifacts": str(tmp_path / "kept")}, environ={}
    )


@pytest.mark.parametrize(
    ("found", "verified", "why"),
    [
        (performed(made("raise SystemExit(0)")), True, ""),
        (performed(made("raise SystemExit(1)")), False, "does not reproduce in a clean process"),
        (performed(made("raise SystemExit(0)"), why="it is flaky"), True, "it is flaky"),
        (performed(why="it is gone"), False, "it is gone"),
        (performed(), False, "there is no reproducer"),
    ],
)
async def test_the_document_says_whether_it_is_proved(
    found: Performed, verified: bool, why: str, settings: SettingsResolver, tmp_path: Path
) -> None:
    reproduction = await proved(found, settings(str(tmp_path / "m.py")))
    assert reproduction.document.verified is verified
    assert why in reproduction.document.why
    assert reproduction.document.script == ("/kept.py" if found.artifacts else None)
    document = to_wire(reproduction.document)
    assert set(document) >= {"schema", "fingerprint", "nodes_before", "nodes_after", "attempts", "seconds"}


async def test_a_graph_that_was_exported_is_kept_where_there_is_no_script(
    settings: SettingsResolver, tmp_path: Path
) -> None:
    found = performed(made("graph", "exported graph", ".pt2"), why="no form as code")
    reproduction = await proved(found, settings(str(tmp_path / "m.py")))
    assert reproduction.files == {"exported_graph.pt2": b"graph"}
    assert reproduction.document.why == "no form as code"


async def test_a_search_that_breaks_off_leaves_its_smallest_script(settings: SettingsResolver, tmp_path: Path) -> None:
    found = replace(performed(made("raise SystemExit(0)"), broken=True), answers=[])
    reproduction = await proved(found, settings(str(tmp_path / "m.py")))
    assert reproduction.document.verified is True
    assert "broke off" in reproduction.document.why


def test_of_scripts_the_newest_counts_with_the_values_that_it_names() -> None:
    artifacts = [made("old"), made("new values_1"), made("1", "values_1", ".safetensors"), made("2", "values_2", ".st")]
    assert made_of(artifacts) == ("new values_1", {"values_1.safetensors": b"1"})
    assert [item.content for item in newest(artifacts)] == [b"new values_1", b"1", b"2"]


async def test_what_a_cancelled_search_had_found_is_kept(settings: SettingsResolver, tmp_path: Path) -> None:
    engine = Engine(settings_for=settings, listener=lambda update: None)
    kept = engine.keep(str(tmp_path / "m.py"), [made("old"), made("new")])
    assert [Path(reference.path).read_text() for reference in kept.references] == ["new"]
    await engine.shutdown()


def test_an_order_names_the_finding_by_its_place() -> None:
    order = order_for(finding=FOUND)
    assert order.target == "Net"
    assert isinstance(order.task, ReproTask)
    assert (order.task.rule, order.task.range) == ("dtype", Range(Position(2, 4), Position(2, 9)))
