"""What hydra puts together of several files is what the project's classes are built with; hydra itself is not run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import needed
import pytest
from forked import analyze
from inductor_debug.capture.inference.construction.composition import composed
from inductor_debug_schema import Stage

pytestmark = pytest.mark.torch

MODEL = """
from torch import nn

class Net(nn.Module):
    def __init__(self, channels, width, depth, classes=10):
        super().__init__()
        self.stem = nn.Conv2d(channels, width, 3)
        self.blocks = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.stem(x).mean((2, 3))
        for block in self.blocks:
            x = block(x)
        return self.head(x)
"""
TRAIN = """
import hydra
from model import Net

@hydra.main(config_path="conf", config_name="config", version_base=None)
def train(cfg):
    return Net(**cfg.model, classes=cfg["data"]["classes"])
"""
FILES = {
    "conf/config.yaml": (
        "defaults: [_self_, {model: small}, {override hydra/launcher: none}]\ndata: {channels: 4, classes: 7}\n"
    ),
    "conf/model/small.yaml": "defaults: [base]\nwidth: 24\nchannels: ${data.channels}\n",
    "conf/model/base.yaml": "width: 512\ndepth: 3\n",
}


def built(folder: Path) -> str:
    """The arguments that `Net` is built with in a project of these files."""
    for name, text in {**FILES, "model.py": MODEL, "train.py": TRAIN}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    job = analyze(folder / "model.py", stages=(Stage.PREVIEW,), accelerator="none")
    inferred = job.stages[0].inferred
    assert inferred is not None
    assert inferred.invented == []
    return inferred.init


def test_a_class_is_built_as_another_file_builds_it_with_what_hydra_gives(tmp_path: Path) -> None:
    needed.library("yaml")
    assert built(tmp_path) == "(4, 24, 3, 7)"


DOCUMENTS: dict[str, Any] = {
    "/p/main.yaml": {
        "defaults": ["_self_", {"db": "sql"}, {"opt@train.opt": ["a", "b"]}, {"optional gone": "x"}],
        "db": {"n": 1},
    },
    "/p/db/sql.yaml": {"n": 2, "port": "${train.opt.rate}", "home": "${oc.env:HOME}", "self": "${db.self}"},
    "/p/opt/a.yaml": {"rate": 3, "kind": "a"},
    "/p/opt/b.yaml": {"kind": "b"},
    "/p/own_last.yaml": {"defaults": [{"db": "sql"}, "_self_"], "db": {"n": 1}},
    "/p/loop.yaml": {"defaults": ["loop"], "n": 1},
    "/p/odd.yaml": {"defaults": [None, 3, {"db": None}, {}], "n": 1},
}


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        (
            "main",
            {
                "db": {"n": 2, "port": 3, "home": "${oc.env:HOME}", "self": "${db.self}"},
                "train": {"opt": {"rate": 3, "kind": "b"}},
            },
        ),
        ("own_last", {"db": {"n": 1, "port": "${train.opt.rate}", "home": "${oc.env:HOME}", "self": "${db.self}"}}),
        ("loop", {"n": 1}),
        ("odd", {"n": 1}),
        ("nowhere", None),
    ],
)
def test_defaults_are_merged_in_their_order_under_their_packages(name: str, whole: Any) -> None:
    assert composed(f"/p/{name}.yaml", DOCUMENTS.get) == whole
