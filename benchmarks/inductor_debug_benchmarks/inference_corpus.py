"""`inductor-debug bench inference`: how often inputs are inferred, how well, how fast, and what they wrongly blame.

The work is done in worker processes; nothing here imports torch.
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from inductor_debug.accelerators.profile import load_document, with_environment
from inductor_debug.cli.support.console import CommandError

from inductor_debug_benchmarks.corpus import Key, architectures, evenly, is_corpus, written
from inductor_debug_benchmarks.measuring import rows_by
from inductor_debug_benchmarks.outcome import BenchmarkOutcome, Promise

_STRICT = {"MOCK_ALIGNMENT": "64", "MOCK_MAX_MEMORY": "1000000"}
"""An accelerator that finds fault with almost every size, so that made-up sizes show."""


@dataclass(frozen=True, slots=True)
class InferenceRow:
    """One class: what was inferred and what is true.

    `seconds` are by the clock, `work` of the processor alone; `building` is the part of `work` that calls the
    constructor, which the target needs in any case.
    """

    group: str
    name: str
    seconds: float
    work: float
    building: float
    inferred: list[str]
    truth: list[str]
    reason: str
    false: list[str]
    rungs: int
    """Rungs of the ladder (fake tensors, fake ones with real constants, real ones) that were tried."""

    @property
    def runnable(self) -> bool:
        """Whether inputs were found."""
        return not self.reason

    @property
    def agrees(self) -> bool:
        """Whether every tensor has the true rank and dtype."""
        return self.runnable and list(map(_kind, self.inferred)) == list(map(_kind, self.truth))


def _kind(tensor: str) -> tuple[str, int]:
    dtype, _, dims = tensor.partition("[")
    return dtype, len([dim for dim in dims.rstrip("]").split(",") if dim.strip()])


def run(corpus: str, sample: int) -> BenchmarkOutcome:
    """Measures the whole corpus, or `sample` classes of each part.

    Raises:
        CommandError: there is no corpus.
    """
    folder = Path(corpus)
    if not is_corpus(folder):
        raise CommandError(f"there is no corpus in {folder}; --corpus names its folder")
    rows = measure(folder, sample=sample)
    return BenchmarkOutcome({"rows": [asdict(row) for row in rows]}, promises(rows), _wrong(rows))


def measure(folder: Path, groups: tuple[str, ...] = ("written", "transformers"), sample: int = 0) -> list[InferenceRow]:
    """Infers for the whole corpus, or for some of its groups, or for `sample` classes of each, evenly taken."""
    rows: list[InferenceRow] = []
    with tempfile.TemporaryDirectory() as name:
        for group in groups:
            texts, truth = written(folder) if group == "written" else architectures(folder, Path(name))
            wanted = evenly(list(truth), sample)
            found = {(row["file"], row["name"]): row for row in _infer(texts, wanted)}
            rows += [_row(group, key, truth[key], found.get(key)) for key in wanted]
    return rows


def _row(group: str, key: Key, truth: list[str], found: dict[str, Any] | None) -> InferenceRow:
    label = Path(key[0]).stem if group == "transformers" else key[1]
    true = [item for item in truth if item != "_"]
    if found is None:
        return InferenceRow(group, label, 0.0, 0.0, 0.0, [], true, "no offer", [], 0)
    return InferenceRow(
        group,
        label,
        found["seconds"],
        found["work"],
        found["building"],
        found["tensors"],
        true,
        found["reason"],
        found["false"],
        found["rungs"],
    )


def _infer(texts: dict[str, str], wanted: list[Key]) -> list[dict[str, Any]]:
    """One worker for each processor; every class is a job of its own, so that none profits from those before it."""
    profile = with_environment(load_document("mock"), _STRICT)
    files = [(path, texts[path], [kind]) for path, kind in wanted]
    return list(rows_by("inductor_debug_benchmarks.processes.infer_corpus", "files", files, {"profile": profile}))


def _wrong(rows: list[InferenceRow]) -> list[str]:
    """What went wrong, row by row."""
    lines = []
    for row in rows:
        if not row.runnable:
            lines.append(f"none     {row.name}: {row.reason[:160]}")
        elif not row.agrees:
            lines.append(f"differs  {row.name}: {'; '.join(row.inferred)} for {'; '.join(row.truth)}")
        if row.false:
            lines.append(f"false    {row.name}: {', '.join(row.false)}")
    return lines


def promises(rows: list[InferenceRow]) -> list[Promise]:
    """What we promise, each with whether this run kept it."""
    said: list[Promise] = []
    for group in dict.fromkeys(row.group for row in rows):
        some = [row for row in rows if row.group == group]
        runnable = sum(row.runnable for row in some) / len(some)
        agreeing = sum(row.agrees for row in some) / len(some)
        fake = sum(row.runnable and row.rungs == 1 for row in some) / len(some)
        text = f"{group}: {len(some)} classes, inputs that run for {runnable:.0%} (at least 90%)"
        said.append((runnable >= 0.9, f"{text}, on the first rung for {fake:.0%}"))
        said.append((agreeing >= 0.85, f"{group}: rank and dtype agree for {agreeing:.0%} (at least 85%)"))
    each = ", ".join(f"{group} {_median(rows, group):.0f}" for group in dict.fromkeys(row.group for row in rows))
    whole = statistics.median(row.work for row in rows) * 1000
    text = f"median {_median(rows):.0f} ms of work to infer for a built model (at most 50 ms; {each})"
    said.append((_median(rows) <= 50, f"{text}, {whole:.0f} with its constructor: {len(rows)} classes"))
    false = sum(len(row.false) for row in rows)
    said.append((false == 0, f"{false} findings about made-up sizes (none)"))
    return said


def _median(rows: list[InferenceRow], group: str = "") -> float:
    """Milliseconds of work, without the constructor's."""
    return statistics.median(row.work - row.building for row in rows if group in ("", row.group)) * 1000
