"""An edit is answered from an earlier run only where a run of the new text tells the same, each thing at its place."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from inductor_debug.engine.pool.supervisor import WorkerPool
from inductor_debug.engine.results.merge import Results
from inductor_debug.engine.runner import Runner, Work
from inductor_debug.engine.settings.settings_ladder import SettingsResolver

pytestmark = pytest.mark.torch

DECLARED = '''\
import torch
from torch import nn


class Attention(nn.Module):
    """Mixes tokens."""

    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, 63)

    def forward(self, x):
        b, t, c = x.shape  # (B, T, C)
        q, k, v = self.project(x).chunk(3, dim=-1)  # in one go
        mixed = torch.softmax(q @ k.transpose(1, 2) * 0.125, dim=-1) @ v
        if t > 1000:
            mixed = mixed.double()
        return self.out(
            mixed
        ).permute(0, 2, 1).relu()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention(64)

    def forward(self, x):
        y = self.attention(x.double().float())
        if y.sum() > 0:
            y = y * 2
        print("a break")
        return y + 1


def helper(x):
    return x


def get_inputs():
    return [torch.randn(2, 8, 64)]
'''
INFERRED = DECLARED[: DECLARED.index("def helper")].rstrip().replace("y.sum() > 0", "y.ndim > 2") + "\n"
TEXTS = {"declared": DECLARED, "inferred": INFERRED}
RUNS = 6
"""Edits of each text that are held against a run."""


def constant(lines: list[str], at: int, choose: random.Random) -> None:
    lines[at] = lines[at].replace("1", "2").replace("64", "32")


def operator(lines: list[str], at: int, choose: random.Random) -> None:
    lines[at] = lines[at].replace(" @ ", " + ").replace(" * ", " - ").replace(" > ", " < ")


def contiguous(lines: list[str], at: int, choose: random.Random) -> None:
    lines[at] = lines[at].replace("(x)", "(x.contiguous())").replace("= y", "= y.contiguous()")


def removed(lines: list[str], at: int, choose: random.Random) -> None:
    del lines[at]


def renamed(lines: list[str], at: int, choose: random.Random) -> None:
    lines[:] = [line.replace("mixed", "blended").replace("y ", "z ") for line in lines]


def remark(lines: list[str], at: int, choose: random.Random) -> None:
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    lines.insert(
        at, indent + choose.choice(["# words that say nothing", "# (B, T, 64)", "# done, really", "# on cuda"])
    )


def remark_behind(lines: list[str], at: int, choose: random.Random) -> None:
    lines[at] += choose.choice(["  # as ever", "  # (B, T)", "  # in a word: yes"])


def blank(lines: list[str], at: int, choose: random.Random) -> None:
    lines[at:at] = [""] * choose.randint(1, 3)


LOUD = (constant, operator, contiguous, removed, renamed)
QUIET = (remark, remark, remark_behind, blank, blank)


def edited(text: str, choose: random.Random) -> str:
    """The text after one or two edits of its lines."""
    lines = text.split("\n")
    edits: tuple[Callable[[list[str], int, random.Random], None], ...] = QUIET if choose.random() < 0.7 else LOUD
    for _ in range(choose.randint(1, 2)):
        choose.choice(edits)(lines, choose.randrange(len(lines) - 1), choose)
    return "\n".join(lines)


@pytest_asyncio.fixture
async def runners(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Callable[[], Runner]]:
    made: list[Runner] = []

    def make() -> Runner:
        made.append(Runner(WorkerPool, tmp_path_factory.mktemp("cache"), 1))
        return made[-1]

    yield make
    for runner in made:
        await runner.close()


def work(folder: Path, text: str) -> Work:
    path = folder / "model.py"
    if not path.exists():
        path.write_text(text)
        (folder / "pyproject.toml").touch()
    settings = SettingsResolver(environ={}, command_line={"accelerator": "mock"})(str(path))
    return Work(str(path), text, settings, shows=True)


def told(results: Results) -> dict[str, Any]:
    """All that a run has told, but for how long it took, and its graphs, which are made when somebody asks for them."""
    timeless = {part: dataclasses.replace(report, seconds=0.0) for part, report in results.reports.items()}
    return {
        "text": results.text,
        "lines": results.lines,
        "reports": timeless,
        "parts": results.parts,
        "general": results.general,
        "expressions": results.expressions,
        "timelines": dict(results.timelines),
        "inferred": results.inferred,
        "untaken": results.untaken,
        "surroundings": results.surroundings(),
        "status": results.status,
        "complete": results.complete,
    }


@pytest.mark.parametrize("kind", TEXTS)
async def test_what_is_told_after_an_edit_is_what_a_run_tells(
    kind: str, runners: Callable[[], Runner], tmp_path: Path
) -> None:
    text, kept, fresh = TEXTS[kind], runners(), runners()
    first = await kept.run(work(tmp_path, text), lambda *_: None)
    assert first.complete
    assert first.findings()
    assert first.untaken
    compared, moved = 0, 0
    for seed in range(400):
        after = edited(text, random.Random(seed))
        known = kept.known(work(tmp_path, after)) if after != text else None
        if known is None or not known.complete:
            continue
        compared += 1
        moved += known.lines != first.lines
        fresh.forget()
        ran = await fresh.run(work(tmp_path, after), lambda *_: None)
        # As text, too: that has the classes of what is equal.
        assert told(known) == told(ran), after
        assert repr(told(known)) == repr(told(ran)), after
        if compared >= RUNS and moved:
            break
    assert compared >= RUNS
    assert moved


async def test_an_edit_of_code_is_always_run(runners: Callable[[], Runner], tmp_path: Path) -> None:
    runner = runners()
    await runner.run(work(tmp_path, DECLARED), lambda *_: None)
    for edit in LOUD:
        for at in range(DECLARED.count("\n")):
            lines = DECLARED.split("\n")
            edit(lines, at, random.Random(0))
            after = "\n".join(lines)
            known = runner.known(work(tmp_path, after))
            blank_gone = after.replace("\n", "") == DECLARED.replace("\n", "")
            assert known is None or not known.complete or blank_gone, after


async def test_edits_after_edits_are_followed(runners: Callable[[], Runner], tmp_path: Path) -> None:
    runner, fresh = runners(), runners()
    await runner.run(work(tmp_path, DECLARED), lambda *_: None)
    text = DECLARED
    for words in ("one", "two", "three", "four", "five", "six"):
        text = text.replace("class Model", f"# {words}\nclass Model")
        known = runner.known(work(tmp_path, text))
        assert known is not None
    ran = await fresh.run(work(tmp_path, text), lambda *_: None)
    assert told(known) == told(ran)
