"""What edits have changed since git's HEAD: read by git, run once as a trial, told in the lens of the target."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from inductor_debug.rules.words.cost_words import bound_of
from inductor_debug.server.state.committed_costs import CommittedCosts, Costs
from inductor_debug.server.state.editor_texts import EditorDocument
from inductor_debug.system.committed import committed_content
from inductor_debug_schema import CostBound, Roof, RunCost


def run_of(seconds: float, crossing: int = 1000, peak: int = 1000, accelerator: str = "h100") -> RunCost:
    total = CostBound(9, 1, 1, crossing, 0, seconds, seconds, Roof.MEMORY, 1.0)
    return RunCost(accelerator, total, {"memory": seconds}, peak)


def git(folder: Path, *words: str) -> None:
    known = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *known, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    """A file that is committed, in a folder of a repository."""
    git(tmp_path, "init", "-q")
    path = tmp_path / "models" / "net.py"
    path.parent.mkdir()
    path.write_text("x = 1\n", encoding="utf-8")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    return path


async def test_a_file_is_read_as_it_is_at_head(committed: Path) -> None:
    committed.write_text("x = 2\n", encoding="utf-8")
    assert await committed_content(str(committed), 100) == b"x = 1\n"
    assert await committed_content(str(committed), 5) is None
    assert await committed_content(str(committed.with_name("other.py")), 100) is None


async def test_outside_of_a_repository_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "net.py").write_text("", encoding="utf-8")
    assert await committed_content(str(tmp_path / "net.py"), 100) is None
    monkeypatch.setenv("PATH", "")
    assert await committed_content(str(tmp_path / "net.py"), 100) is None


async def test_the_text_at_head_runs_once_and_only_where_it_is_another_one(committed: Path) -> None:
    tried: list[str] = []

    async def costs_with(uri: str, text: str) -> Costs | None:
        tried.append(text)
        return {"Net": run_of(50e-6)}

    costs = CommittedCosts(costs_with)
    document = EditorDocument("file:///net.py", str(committed), 1, "x = 1\n", saved="x = 1\n")
    assert not await costs.seek(document), "nothing is known of what it costs now"
    document.cost({"Net": run_of(40e-6)})
    assert not await costs.seek(document)
    assert (costs.of(str(committed)), tried) == ({"Net": run_of(40e-6)}, [])
    git(committed.parent, "commit", "-q", "--allow-empty", "-m", "same")
    document.text = "x = 2\n"
    document.cost({"Net": run_of(44e-6)})
    assert not await costs.seek(document), "it is known what HEAD costs"
    document.cost({"Net": run_of(44e-6, accelerator="t4")})
    assert await costs.seek(document), "on another accelerator it is not"
    assert tried == ["x = 1\n"]
    assert not await costs.seek(document)


@pytest.mark.parametrize(
    ("saved", "committed", "told"),
    [
        (run_of(40e-6), run_of(40e-6), ", +10 %, bytes +12 %, peak +50 % since HEAD"),
        (run_of(44e-6, peak=1500), run_of(40e-6), ", +10 %, bytes +12 %, peak +50 % since HEAD"),
        (run_of(22e-6, peak=1500), run_of(40e-6, 1120, 1500), ", +100 % since the last save, +10 % since HEAD"),
        (run_of(44e-6, peak=1500), run_of(1.0, accelerator="t4"), ""),
        (None, run_of(44e-6, 1120, 1500), ""),
    ],
)
def test_a_bound_tells_what_changed_since_the_commit(saved: RunCost | None, committed: RunCost, told: str) -> None:
    now = replace(run_of(44e-6, 1120), peak_bytes=1500)
    assert bound_of(now, saved, committed) == f"at least 44 µs on h100 (100 % memory){told}"
