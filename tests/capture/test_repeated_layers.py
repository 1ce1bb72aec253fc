"""On models of a library, traces with copied layers tell what full ones do; `bench layers` compares many more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import breadth
import pytest
from inductor_debug.accelerators.profile import load_document
from inductor_debug.capture.dynamo.repeats.copied_calls import CopiedCall
from inductor_debug_benchmarks.processes.full_traces import compared
from inductor_debug_benchmarks.reuse.repeated_layers import LayersRow, promises, texts
from inductor_debug_schema import Stage
from torch_release import RELEASE

pytestmark = pytest.mark.torch

CORPUS = Path(__file__).parents[1] / "inference"
DIVERSE = {"BertModel": 3, "LlamaModel": 3, "T5Model": 2, "SwinModel": 4, "ResNetModel": 4}
"""An encoder, a decoder with a cache, two towers, windows that move, convolutions; each with how many layers."""


@breadth.some("name", DIVERSE, every=2)
def test_layers_that_are_traced_once_tell_what_a_full_trace_does(tmp_path: Path, name: str) -> None:
    row = _compared(tmp_path, name)
    assert row.problem == ""
    assert row.differences == []
    assert row.parts > 0
    assert row.copies > 0 or RELEASE != (2, 13)


@pytest.mark.skipif(RELEASE != (2, 13), reason="layers are copied with torch 2.13 alone")
def test_a_copy_that_is_in_the_wrong_module_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CopiedCall, "_module_stack", lambda copied, node: dict(node.meta["nn_module_stack"]))
    row = _compared(tmp_path, "BertModel")
    assert any("layer.0" in line and "layer.1" in line for line in row.differences)
    assert [kept for kept, _ in promises([row], known=1)] == [False, True, True]


def test_what_could_not_be_compared_breaks_the_promise() -> None:
    kept = [kept for kept, _ in promises([LayersRow("Model", 0, 0, [], "crashed: killed by SIGKILL")], known=85)]
    assert kept == [True, False, False]


def _compared(folder: Path, name: str) -> LayersRow:
    pytest.importorskip("transformers")
    text = texts(CORPUS, DIVERSE[name])[name]
    path = folder / "model.py"
    path.write_text(text, encoding="utf-8")
    found: dict[str, Any] = compared(str(path), text, [Stage.MOCK], load_document("mock"))
    return LayersRow(name, **found)
