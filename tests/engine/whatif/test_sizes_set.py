"""Sizes that the user sets: told at once from a run with symbols, and then what a check with these sizes says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
import pytest_asyncio
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.results.analysis import AnalysisState, AnalysisUpdate
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug.engine.size_questions import UnknownSizeNameError
from inductor_debug_schema import FileReport, Finding, SizeSetting, TargetSizes

pytestmark = pytest.mark.torch

DECLARED = """\
import torch
from torch import nn
import torch.nn.functional as F


# inductor-debug: inputs=(torch.randint(0, 100, (1, 64)),)
class Declared(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(100, 64)
        self.qkv = nn.Linear(64, 192)

    def forward(self, tokens):
        B, T = tokens.shape
        x = self.embedding(tokens)
        q, k, v = self.qkv(x).view(B, T, 3, 2, 32).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1)
        y = scores.softmax(-1) @ v
        y = y.transpose(1, 2).reshape(B, T, 64)
        return y.double() if T > 256 else y
"""
INFERRED = """\
import torch
from torch import nn


class Inferred(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(512, 64))
        self.fc = nn.Linear(64, 64)

    def forward(self, x):
        batch, seq, width = x.shape
        y = self.fc(x) + self.table[:seq]
        return y.transpose(1, 2) @ y
"""
MODELS = {"Declared": DECLARED, "Inferred": INFERRED}


class Session:
    """An open document and all that was told of it."""

    def __init__(self, folder: Path, text: str) -> None:
        (folder / "pyproject.toml").touch()
        self.path = folder / "model.py"
        self.path.write_text(text)
        self.uri, self.text = self.path.as_uri(), text
        self.updates: list[AnalysisUpdate] = []
        said = {"accelerator": "spyre"}
        settings = SettingsResolver(environ={}, command_line=said)
        folder = folder / "cache"
        self.engine = Engine(settings_for=settings, listener=self.updates.append, cache_folder=folder, jobs=1)

    async def opened(self) -> AnalysisUpdate:
        self.engine.open(self.uri, str(self.path), 1, self.text)
        return await self.settled()

    async def settled(self) -> AnalysisUpdate:
        last = await self.engine.settled(self.uri)
        assert last is not None
        assert last.state is AnalysisState.DONE
        return last

    def hints(self) -> dict[str, object]:
        """The shape of the last tensor that each expression of the text gives, by its text."""
        lines = self.text.splitlines()
        found = {}
        for known in self.engine.expressions(self.uri):
            start, end = known.range.start, known.range.end
            if start.line == end.line and known.fact.outputs:
                text = lines[start.line][start.character : end.character]
                found[f"{start.line}: {text}"] = known.fact.outputs[-1].shape
        return found

    async def checked(self, sizes: Mapping[str, int]) -> FileReport:
        """A check of the same file with these sizes from the command line."""
        given = [SizeSetting("", name, value) for name, value in sizes.items()]
        settings = SettingsResolver(environ={}, command_line={"accelerator": "spyre"}, sizes=given)
        folder = self.path.parent / "other"
        engine = Engine(settings_for=settings, listener=lambda update: None, cache_folder=folder, jobs=1)
        try:
            return await engine.check(str(self.path))
        finally:
            await engine.shutdown()


@pytest_asyncio.fixture(params=MODELS)
async def session(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Session]:
    session = Session(tmp_path, MODELS[request.param])
    yield session
    await session.engine.shutdown()


@pytest_asyncio.fixture
async def declared(tmp_path: Path) -> AsyncIterator[Session]:
    session = Session(tmp_path, DECLARED)
    yield session
    await session.engine.shutdown()


def plain(findings: list[Finding]) -> list[tuple[object, ...]]:
    """What a user reads of findings; stages word the same finding alike."""
    return sorted((finding.rule, finding.message, finding.range, finding.severity) for finding in findings)


def values(known: TargetSizes) -> dict[str, int]:
    return {size.name: size.value for size in known.sizes}


async def test_what_is_told_at_once_is_what_a_check_with_these_sizes_says(session: Session) -> None:
    await session.opened()
    (known,) = await session.engine.sizes(session.uri)
    first, second = (size.name for size in known.sizes)
    assert known.at_once
    for sizes in ({first: 3, second: 65}, {second: 96}, {first: 5, second: 128}):
        before = len(session.updates)
        told = await session.engine.set_sizes(session.uri, known.target, sizes)
        assert told.at_once, "no capture was needed"
        at_once = session.updates[before]
        assert at_once.state is AnalysisState.DONE
        hints = session.hints()
        assert str(sizes[second]) in str(hints)

        settled = await session.settled()
        alone = await session.checked(sizes)
        assert plain(at_once.report.findings) == plain(settled.report.findings) == plain(alone.findings)
        assert session.hints() == hints
        given = {size.name: size.value for size in settled.report.targets[0].sizes if size.given}
        assert given == sizes
        assert (await session.engine.sizes(session.uri))[0].peak_bytes == told.peak_bytes


async def test_findings_and_memory_follow_the_sizes_and_a_reset_takes_them_back(declared: Session) -> None:
    opened = await declared.opened()
    (known,) = await declared.engine.sizes(declared.uri)
    assert [(size.name, size.value, size.dimensions) for size in known.sizes] == [
        ("B", 1, ["tokens[0]"]),
        ("T", 64, ["tokens[1]"]),
    ]
    assert not any(size.given for size in known.sizes)

    larger = await declared.engine.set_sizes(declared.uri, "Declared", {"B": 4, "T": 63})
    assert larger.findings > sum(finding.target == "Declared" for finding in opened.report.findings)
    assert larger.peak_bytes is not None
    assert known.peak_bytes is not None
    assert larger.peak_bytes > 2 * known.peak_bytes
    assert larger.device_bytes == 128 * 10**9
    assert larger.inputs == "(torch.zeros((4, 63), dtype=torch.int64),)"

    reset = await declared.engine.set_sizes(declared.uri, "Declared", {})
    assert (values(reset), reset.peak_bytes) == (values(known), known.peak_bytes)
    settled = await declared.settled()
    assert plain(settled.report.findings) == plain(opened.report.findings)
    assert not any(size.given for size in settled.report.targets[0].sizes)


async def test_sizes_that_take_another_way_through_the_code_are_captured_anew(declared: Session) -> None:
    await declared.opened()
    told = await declared.engine.set_sizes(declared.uri, "Declared", {"T": 512})
    assert not told.at_once
    assert values(told)["T"] == 64, "nothing is claimed of them before they were run"
    settled = await declared.settled()
    assert any("float64" in finding.message for finding in settled.report.findings)
    (known,) = await declared.engine.sizes(declared.uri)
    assert values(known) == {"B": 1, "T": 512}


async def test_sizes_stay_in_view_while_those_of_an_edit_are_sought(declared: Session) -> None:
    await declared.opened()
    (known,) = await declared.engine.sizes(declared.uri)
    before = len(declared.updates)
    declared.engine.change(declared.uri, 2, DECLARED.replace("softmax(-1)", "softmax(dim=-1)"))
    await declared.settled()
    shown = [target.sizes for update in declared.updates[before:] for target in update.report.targets]
    assert shown
    assert all(sizes == known.sizes for sizes in shown)
    (again,) = await declared.engine.sizes(declared.uri)
    assert again.sizes == known.sizes


async def test_sizes_survive_edits_and_are_in_no_file(declared: Session) -> None:
    await declared.opened()
    await declared.engine.set_sizes(declared.uri, "Declared", {"T": 63})
    await declared.settled()
    edited = declared.text.replace("scores.softmax(-1) @ v", "scores.softmax(-1) @ v * 2")
    declared.engine.change(declared.uri, 2, edited)
    settled = await declared.settled()
    assert [(size.name, size.value, size.given) for size in settled.report.targets[0].sizes] == [
        ("B", 1, False),
        ("T", 63, True),
    ]
    assert "63" in str([finding.message for finding in settled.report.findings])
    assert declared.path.read_text() == DECLARED


async def test_a_size_that_nothing_has_is_refused_with_those_that_there_are(declared: Session) -> None:
    await declared.opened()
    with pytest.raises(UnknownSizeNameError, match="unknown size 'seq'; there are B, T"):
        await declared.engine.set_sizes(declared.uri, "Declared", {"seq": 3})
    with pytest.raises(UnknownSizeNameError, match="there are targets Declared"):
        await declared.engine.set_sizes(declared.uri, "Other", {"T": 3})


FLATTENED = """\
import torch
from torch import nn


class Flattened(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 5)
        self.fc = nn.Linear(8 * 12 * 12, 10)

    def forward(self, images):
        x = torch.max_pool2d(self.conv(images), 2)
        return self.fc(torch.flatten(x, 1))
"""


async def test_sides_of_an_image_that_is_flattened_for_a_layer_are_not_free(tmp_path: Path) -> None:
    session = Session(tmp_path, FLATTENED)
    await session.opened()
    (known,) = await session.engine.sizes(session.uri)
    assert [size.name for size in known.sizes] == ["batch"]
    await session.engine.shutdown()
