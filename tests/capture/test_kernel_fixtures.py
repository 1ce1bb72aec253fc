"""The kernels that Inductor makes of ten models for an H100 are those that were kept: names, loops, fusions.

They are one torch's: what is kept says which. After a change that is meant, `KEEP_KERNELS=1` writes them anew.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from forked import analyze
from inductor_debug.artifacts.graph_columns import decode
from inductor_debug_schema import ArtifactMade, Kernel, Stage

pytestmark = pytest.mark.torch

FOLDER = Path(__file__).parent / "kernels"
KEPT = FOLDER / "h100.json"
_EXTENT = re.compile(r"^ {4}([xyr]\w*numel) = (\d+)$", re.MULTILINE)
_HINTS = re.compile(r"size_hints=(\{[^}]*\})")


def told(kernel: Kernel) -> dict[str, Any]:
    hints = _HINTS.search(kernel.source)
    return {
        "name": kernel.name,
        "language": kernel.language,
        "direction": kernel.graph.split(".")[1],
        "loops": {name: int(extent) for name, extent in _EXTENT.findall(kernel.source)},
        "hints": hints[1] if hints is not None else "",
        "nodes": kernel.nodes,
        "lines": sorted({place.range.start.line + 1 for place in kernel.places}),
        "unfused": [[one.kernel, one.why] for one in kernel.unfused if one.reads],
    }


def kernels() -> dict[str, list[dict[str, Any]]]:
    path = FOLDER / "ten_models.py"
    job = analyze(path, path.read_text("utf-8"), stages=(Stage.INDUCTOR,), accelerator="h100", keep_graphs=True)
    graphs = [decode(made.content) for made in job.events if isinstance(made, ArtifactMade) and made.suffix == ".graph"]
    return {document.target: [told(kernel) for kernel in document.kernels] for document in graphs}


def test_ten_models_become_the_kernels_that_were_kept() -> None:
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {"torch": "", "kernels": {}}
    version = torch.__version__.split("+")[0]
    keep = bool(os.environ.get("KEEP_KERNELS"))
    if kept["torch"] != version and not keep:
        pytest.skip(f"the kernels that were kept are those of torch {kept['torch']}")
    made = kernels()
    assert len(made) == 10
    assert all(any(kernel["language"] == "triton" for kernel in found) for found in made.values())
    if keep:
        KEPT.write_text(json.dumps({"torch": version, "kernels": made}, indent=1) + "\n", encoding="utf-8")
    else:
        assert made == kept["kernels"]
