"""`inductor-debug suggest` as a user of a terminal meets it, with real workers: what is offered was tried and gains."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inductor_debug.cli.main import main

pytestmark = pytest.mark.torch

MODEL = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(256, 1024), nn.Linear(1024, 256)

    def forward(self, x):
        return x + self.down(torch.tanh(self.up(x)))


# inductor-debug: inputs=(torch.randn(4096, 256),), MODE
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*(Block() for _ in range(6)))
        self.head = nn.Linear(256, 1001)

    def forward(self, x):
        return self.head(self.blocks(x)).logsumexp(-1).sum()
"""
BOARD = """\
schema = 1
name = "board"
title = "Board with 160 MB"
[memory]
device_bytes = "160 MB"
[dtypes]
supported = ["float32", "float16", "bfloat16", "int64", "bool"]
[speed]
bytes_per_second = "1 TB"
[speed.operations_per_second]
float32 = 1e12
[speed.matrix_operations_per_second]
bfloat16 = 8e12
float16 = 8e12
[gpu]
platform = "cuda"
architecture = "sm_80"
"""


def suggested(write: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str], mode: str) -> dict[str, Any]:
    write("board.toml", BOARD)
    write("model.py", MODEL.replace("MODE", mode))
    assert main(["suggest", "model.py", "--accelerator", "board.toml", "--format", "json", "-q"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_training_is_offered_autocast_and_checkpointing_where_memory_is_scarce(
    write: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    document = suggested(write, capsys, "train")
    offered = {tuple(row["ways"]): row["figures"] for row in document["tried"] if row["offered"]}
    assert set(offered) == {("autocast",), ("recompute",)}
    before = document["before"]
    assert before["peak_bytes"] > document["device_bytes"]
    # Each product at eight times the rate; what is saved for the backward pass in half the bytes.
    assert offered["autocast",]["seconds"] == pytest.approx(before["seconds"] / 8, rel=0.02)
    assert offered["recompute",]["peak_bytes"] < before["peak_bytes"] * 0.6
    assert offered["recompute",]["seconds"] > before["seconds"]
    assert [row["modules"] for row in document["tried"] if row["ways"] == ["recompute"]] == [
        [f"blocks.{number}" for number in range(6)]
    ]


def test_inference_is_offered_another_dtype_in_words_with_code(
    write: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    write("board.toml", BOARD)
    write("model.py", MODEL.replace("MODE", "eval"))
    assert main(["suggest", "model.py", "--accelerator", "board.toml", "--color", "never", "-q"]) == 0
    told = capsys.readouterr().out
    assert "model.py::Net, forward, on Board with 160 MB" in told
    assert "  all of it in bfloat16: -" in told
    assert "model = model.to(torch.bfloat16)" in told
    assert "checkpoint" not in told
    page_of = ["suggest", "model.py", "--accelerator", "board.toml", "--format", "html", "-q"]
    assert main(page_of) == 0
    page = capsys.readouterr().out
    assert "What makes Net faster" in page
    assert '<pre class="command">model = model.to(torch.bfloat16)' in page


FIXED = """

# inductor-debug: inputs=(torch.randn(4096, 256),), train
class Fixed(Net):
    def forward(self, x):
        return self.head(self.blocks(x)).view(4096, 1001).logsumexp(-1).sum()
"""


def test_a_size_that_matrix_units_do_not_take_is_padded_where_the_code_lets_it(
    write: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    multiples = "[gpu.matrix_multiple_bytes]\nbfloat16 = 16\nfloat16 = 16\n"
    write("board.toml", BOARD.replace("1 TB", "50 GB") + multiples)
    write("model.py", MODEL.replace("MODE", "train") + FIXED)
    assert main(["suggest", "model.py", "--accelerator", "board.toml", "--format", "json", "-q"]) == 0
    free, fixed = ({tuple(row["ways"]): row for row in one["tried"]} for one in json.loads(capsys.readouterr().out))
    padded = free["autocast", "padded"]
    assert padded["padded"] == [{"odd_size": 1001, "next_size": 1008}]
    assert (padded["offered"], padded["figures"]["copied_seconds"]) == (True, 0.0)
    assert free["autocast",]["figures"]["copied_seconds"] > 0
    assert not fixed["autocast", "padded"]["offered"]
    assert "the sizes that `view` is given" in fixed["autocast", "padded"]["problem"]


@pytest.mark.parametrize(
    ("accelerator", "said"),
    [("none", "It is not known how fast this accelerator is"), ("board.toml", "`self.head` takes 255 features")],
)
def test_what_cannot_be_tried_is_said(
    write: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str], accelerator: str, said: str
) -> None:
    write("board.toml", BOARD)
    wrong = MODEL.replace("MODE", "eval").replace("nn.Linear(256, 1001)", "nn.Linear(255, 1001)")
    write("model.py", wrong if accelerator != "none" else MODEL.replace("MODE", "eval"))
    assert main(["suggest", "model.py", "--accelerator", accelerator, "--color", "never", "-q"]) == 2
    assert said in " ".join(capsys.readouterr().out.split())


def test_sizes_that_nobody_declared_are_told_with_what_was_counted(
    write: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    write("board.toml", BOARD)
    write("model.py", MODEL[: MODEL.index("# inductor-debug")])
    words = ["suggest", "model.py::Block", "--accelerator", "board.toml", "-q"]
    assert main(words) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "with inferred inputs, x f32[batch, 256], with batch = 256 (made up; set yours with --size" in told
    assert main([*words, "--size", "batch=96"]) == 0
    assert "with inferred inputs, x f32[batch, 256], with batch = 96\n" in capsys.readouterr().out


GPT = """\
import torch
from torch import nn


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(512, 64), nn.Embedding(PLACES, 64)
        self.layer = nn.TransformerEncoderLayer(64, 4, 256, batch_first=True)
        self.head = nn.Linear(64, 512)

    def forward(self, idx):
        b, t = idx.shape
        assert t <= PLACES
        x = self.words(idx) + self.places(torch.arange(t, device=idx.device))
        return self.head(self.layer(x))
"""


@pytest.mark.parametrize(("places", "length"), [(1024, 512), (200, 128)])
def test_a_model_whose_sizes_nobody_said_is_tried_with_what_loads_a_card(
    write: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str], places: int, length: int
) -> None:
    write("gpt.py", GPT.replace("PLACES", str(places)))
    assert main(["suggest", "gpt.py", "--accelerator", "RTX 4090", "-q"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    sizes = f"with inferred inputs, idx i64[b, t], with b = 8, t = {length} (made up; set yours with --size"
    assert sizes in told
    assert "bfloat16 autocast: -" in told
    for kind in ("cost", "memory"):
        assert main(["analyze", "gpt.py", "--type", kind, "--accelerator", "RTX 4090", "-q"]) == 0
        assert sizes in " ".join(capsys.readouterr().out.split()), f"{kind} is about the same run"


BROKEN = """\
import torch


# inductor-debug: inputs=(torch.randn(4096, 4096),)
def model(x):
    y = x.exp() * 2
    print("between", y.mean().item())
    return y.tanh() + 1
"""


def test_a_graph_break_is_offered_to_be_taken_out_at_its_expression_with_what_that_saves(
    write: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    write("board.toml", BOARD.replace("160 MB", "1 GB") + 'l2_bytes = "4 MB"\n')
    write("model.py", BROKEN)
    assert main(["suggest", "model.py", "--accelerator", "board.toml", "--format", "json", "-q"]) == 0
    document = json.loads(capsys.readouterr().out)
    [row] = [row for row in document["tried"] if row["ways"] == ["joined"]]
    [taken_out] = row["breaks"]
    assert (row["offered"], taken_out["text"]) == (True, 'print("between", y.mean().item())')
    assert taken_out["range"]["start"] == {"line": 6, "character": 4}
    # 64 MiB come in and 64 MiB go out; at the break 64 MiB go out and come back, but for what the cache holds.
    array, cache, second = 4096 * 4096 * 4, 4e6, 1e12
    assert row["figures"]["seconds"] == pytest.approx(2 * array / second, rel=1e-3)
    assert document["before"]["seconds"] == pytest.approx((4 * array - 2 * cache) / second, rel=1e-3)
    assert main(["suggest", "model.py", "--accelerator", "board.toml", "--color", "never", "-q"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "without the graph break at model.py:7: -48 % time" in told
    assert '# out of the compiled code: print("between", y.mean().item())' in told
    assert main(["suggest", "model.py", "--accelerator", "board.toml", "--format", "html", "-q"]) == 0
    page = capsys.readouterr().out
    assert 'data-range="6:4-6:37">model.py:7:5</a>' in page


def test_a_graph_break_that_costs_nothing_is_tried_in_vain(
    write: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    write("model.py", BROKEN.replace("4096, 4096", "64, 64"))
    write("board.toml", BOARD + 'l2_bytes = "4 MB"\n')
    assert main(["suggest", "model.py", "--accelerator", "board.toml", "--color", "never", "-q"]) == 0
    assert "tried in vain: without the graph break at model.py:7: no gain" in capsys.readouterr().out
