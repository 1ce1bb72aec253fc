"""`inductor-debug bench layers`: what traces with copied layers tell, against full ones, on transformers' models.

Each architecture is small and has several layers, and is analysed twice by the same code: once as ever, once with every
layer traced and every operation on fake tensors worked out anew. Every op, span, module path, finding and graph of both
has to be the same. The work is done in processes of their own; nothing here imports torch.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from inductor_debug.accelerators.profile import load_document
from inductor_debug.cli.support.console import CommandError
from inductor_debug_schema import Stage

from inductor_debug_benchmarks.corpus import evenly, is_corpus, load
from inductor_debug_benchmarks.measuring import progress, rows_by
from inductor_debug_benchmarks.outcome import BenchmarkOutcome, Promise

LAYERS = 4
STAGES = (Stage.PREVIEW, Stage.MOCK, Stage.AOT)
"""In a preview, which is an eager run, nothing is copied; answers of fake tensors are remembered in it, too."""
ENOUGH = 40
"""Architectures in which layers were copied, for the comparison to say something."""
_COUNTS = re.compile(r"\b(num_hidden_layers|num_layers|n_layers?|encoder_layers|decoder_layers)=\d+")
_DEPTHS = re.compile(r"\bdepths=\[([\d, ]+)\]")
_PATTERNS = re.compile(r'(\[\["global", "local"\]), \d+\]')
_DTYPES = {"f32": "torch.randn({})", "i64": "torch.randint(0, 100, ({},))"}

_TEXT = """\
import torch
from transformers import {config_class}, {model}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = {model}({config})

    def forward(self, {parameters}):
        return self.inner({arguments})


def get_inputs():
    return [{inputs}]
"""


@dataclass(frozen=True, slots=True)
class LayersRow:
    """One architecture: how many calls of modules were copied, of how many parts that were compared which differ.

    `problem` says why it could not be compared.
    """

    name: str
    copies: int
    parts: int
    differences: list[str]
    problem: str


def texts(folder: Path, layers: int = LAYERS) -> dict[str, str]:
    """The source of a file for each architecture of the corpus, with so many layers and its true inputs."""
    table: dict[str, tuple[str, list[str]]] = load(folder / "architectures.py").configured()
    return {model: _text(model, config, inputs, layers) for model, (config, inputs) in table.items()}


def _text(model: str, config: str, inputs: Sequence[str], layers: int) -> str:
    config = _COUNTS.sub(rf"\1={layers}", config)
    config = _DEPTHS.sub(lambda found: f"depths={[layers - 1] * (found[1].count(',') + 1)}", config)
    config = _PATTERNS.sub(rf"\1, {layers // 2}]", config)
    names = ["first", "second"][: len(inputs)]
    arguments = ", ".join(names)
    if len(inputs) > 1 and inputs[1].startswith("i64"):
        arguments = "first, decoder_input_ids=second"
    return _TEXT.format(
        config_class=config.partition("(")[0],
        model=model,
        config=config,
        parameters=", ".join(names),
        arguments=arguments,
        inputs=", ".join(_tensor(each) for each in inputs),
    )


def _tensor(written: str) -> str:
    dtype, _, sizes = written.rstrip("]").partition("[")
    return _DTYPES[dtype].format(sizes)


def run(corpus: str, wanted: str, sample: int) -> BenchmarkOutcome:
    """Compares the architectures in whose names a regular expression is found, or about `sample` of them.

    Raises:
        CommandError: there is no corpus.
    """
    folder = Path(corpus)
    if not is_corpus(folder):
        raise CommandError(f"there is no corpus in {folder}; --corpus names its folder")
    known = {name: text for name, text in texts(folder).items() if re.search(wanted, name)}
    names = evenly(list(known), sample)
    rows = list(measure({name: known[name] for name in names}))
    return BenchmarkOutcome({"rows": [asdict(row) for row in rows]}, promises(rows, len(known)), table(rows))


def measure(texts: dict[str, str], stages: Sequence[Stage] = STAGES) -> Iterator[LayersRow]:
    """Each text with what its two analyses have in common, as soon as that is known."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        items = []
        for label, text in texts.items():
            path = folder / f"{label.lower()}.py"
            path.write_text(text, encoding="utf-8")
            items.append((label, str(path), text))
        order: dict[str, Any] = {"stages": [stage.value for stage in stages], "profile": load_document("mock")}
        for number, row in enumerate(rows_by("inductor_debug_benchmarks.processes.full_traces", "texts", items, order)):
            found = LayersRow(**row)
            progress(f"{number + 1} of {len(items)}, {found.name}: {found.problem or _said(found)}")
            yield found


def _said(row: LayersRow) -> str:
    return f"{row.copies} copies, {row.parts} parts, {len(row.differences) or 'none'} different"


def promises(rows: Sequence[LayersRow], known: int) -> list[Promise]:
    """What holds of every architecture, and that there were enough of them."""
    copied = [row for row in rows if row.copies]
    unlike = [row.name for row in rows if row.differences]
    failed = [row.name for row in rows if row.problem]
    enough = min(ENOUGH, known)
    return [
        (not unlike, f"traces with copies tell what full ones do ({', '.join(unlike) or 'all'} of {len(rows)})"),
        (not failed, f"every analysis came to its end ({', '.join(failed) or 'all'})"),
        (len(copied) >= enough, f"layers were copied in {len(copied)} architectures (at least {enough})"),
    ]


def table(rows: Sequence[LayersRow]) -> list[str]:
    """A line for each architecture, followed by what differs."""
    lines = []
    for row in sorted(rows, key=lambda each: each.name):
        lines.append(f"{row.name:<32}{row.problem or _said(row)}")
        lines += [f"    {line}" for line in row.differences]
    return [*lines, ""]
