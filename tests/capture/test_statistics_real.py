"""The statistics of real models: the peak of memory is the one that is measured when the model really runs."""

from __future__ import annotations

import json
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from forked import analyze
from inductor_debug_schema import ArtifactKind, ArtifactMade, Stage
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

pytestmark = pytest.mark.torch

MODEL = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(64, 128),)
class Model(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 1024), nn.Tanh(), nn.Linear(1024, 256), nn.Flatten(),
            nn.Linear(256, 2048), nn.Sigmoid(), nn.Linear(2048, 8),
        )
        {mode}

    def forward(self, x):
        return super().forward(x).sum()
"""


class Meter(TorchDispatchMode):
    """Counts the bytes of all storages that are alive after every op."""

    def __init__(self, *outside: torch.Tensor) -> None:
        super().__init__()
        self.peak = 0
        self._alive: dict[int, int] = {}
        for tensor in outside:
            self._see(tensor)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(tensor, torch.Tensor):
                self._see(tensor)
        self.peak = max(self.peak, sum(self._alive.values()))
        return result

    def _see(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        address = storage._cdata
        if address not in self._alive:
            self._alive[address] = storage.nbytes()
            weakref.finalize(storage, self._alive.pop, address, None)


def statistics(folder: Path, text: str, stage: Stage) -> dict[str, Any]:
    job = analyze(folder / "model.py", text, stages=(stage,), keep_graphs=True)
    made = [event for event in job.events if isinstance(event, ArtifactMade)]
    (content,) = [artifact.content for artifact in made if artifact.kind is ArtifactKind.STATISTICS]
    return dict(json.loads(content))


def real_model(text: str) -> Any:
    namespace: dict[str, Any] = {"__name__": "model"}
    exec(text, namespace)
    return namespace["Model"]()


@pytest.mark.parametrize("stage", [Stage.MOCK, Stage.AOT])
def test_the_peak_of_an_inference_is_what_a_real_run_needs(tmp_path: Path, stage: Stage) -> None:
    text = MODEL.format(mode="self.eval()")
    model, images = real_model(text), torch.randn(64, 128)
    meter = Meter(images, *model.parameters())
    with torch.no_grad(), meter:
        model(images)
    peak = statistics(tmp_path, text, stage)["peak"]
    assert (peak["bytes"], peak["exact"], peak["backward"]) == (meter.peak, True, False)


def test_the_peak_of_a_training_step_is_what_a_real_step_needs(tmp_path: Path) -> None:
    text = MODEL.format(mode="pass")
    model, images = real_model(text), torch.randn(64, 128)
    meter = Meter(images, *model.parameters())
    with meter:
        model(images).backward()
    found = statistics(tmp_path, text, Stage.AOT)
    assert found["peak"]["bytes"] == pytest.approx(meter.peak, abs=64), "but for the loss and its gradient, two scalars"
    assert found["peak"]["backward"]
    assert found["memory"]["parameter"]["bytes"] == sum(parameter.nbytes for parameter in model.parameters())


TWICE = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(2, 10, 32),)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 32, 8))

    def forward(self, x):
        y = torch.einsum("bsd,hde->bhse", x, self.weight)
        return torch.baddbmm(torch.zeros(8, 10, 10), y.flatten(0, 1), y.flatten(0, 1).transpose(1, 2)).sum()
"""


def test_a_copy_that_is_made_once_for_two_users_counts_once(tmp_path: Path) -> None:
    """AOTAutograd makes one `clone` of both; what views of the other said of its memory is not true any more."""
    peak = statistics(tmp_path, TWICE, Stage.AOT)["peak"]
    held = [entry["op"] for entry in peak["largest"]]
    assert peak["op"] == "aten.baddbmm.default"
    assert sorted(filter(None, held)) == ["aten.baddbmm.default", "aten.clone.default", "aten.zeros.default"]
    assert peak["bytes"] == 2560 + 4096 + 2560 + 2 * 3200


SEEING = """\
import torch
from torch import nn
from torch.nn import functional as F


# inductor-debug: inputs=(torch.randn(2, 3, 16, 16),)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 3, stride=2)
        self.deep = nn.Conv2d(32, 32, 3, padding=1)
        self.qkv = nn.Linear(32, 96)
        {mode}

    def forward(self, x):
        x = self.deep(self.stem(x)).flatten(2).transpose(1, 2)
        q, k, v = (part.view(2, -1, 4, 8).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        x = F.scaled_dot_product_attention(q, k, v)
        return torch.bmm(x.flatten(0, 1), x.flatten(0, 1).transpose(1, 2)).sum()
"""


@pytest.mark.parametrize("mode", ["self.eval()", "pass"])
def test_operations_are_those_that_torch_counts(tmp_path: Path, mode: str) -> None:
    text = SEEING.format(mode=mode)
    model, images = real_model(text), torch.randn(2, 3, 16, 16)
    counter = FlopCounterMode(display=False)
    with torch.set_grad_enabled(mode == "pass"), counter:
        result = model(images)
        if mode == "pass":
            result.backward()
    # torch counts every attention but the one on CPUs: two products of 8 matrices (49, 8) by (8, 49), five backward.
    attention = (2 if mode == "self.eval()" else 7) * 2 * 8 * 49 * 8 * 49
    assert statistics(tmp_path, text, Stage.AOT)["flops"] == counter.get_total_flops() + attention


def test_training_that_does_not_fit_is_found_where_it_peaks(tmp_path: Path) -> None:
    profile = tmp_path / "small.toml"
    profile.write_text('name = "small"\n[memory]\ndevice_bytes = "8 MiB"\n', encoding="utf-8")
    text = MODEL.format(mode="pass")
    assert analyze(tmp_path / "model.py", text, stages=(Stage.MOCK,), accelerator=str(profile)).of("peak-memory") == []
    (finding,) = analyze(tmp_path / "model.py", text, stages=(Stage.AOT,), accelerator=str(profile)).of("peak-memory")
    assert "at least 10.93 MiB are needed at once here, more than the 8 MiB of accelerator 'small'" in finding.message
    assert finding.op == "aten.sum.dim_IntList"


def test_sizes_that_were_made_up_are_never_held_against_a_model(tmp_path: Path) -> None:
    profile = tmp_path / "small.toml"
    profile.write_text('name = "small"\n[memory]\ndevice_bytes = "64 B"\n', encoding="utf-8")
    text = "from torch import nn\n\n\nclass Model(nn.Module):\n    def forward(self, x):\n        return x.relu() + 1\n"
    job = analyze(tmp_path / "model.py", text, stages=(Stage.PREVIEW, Stage.MOCK), accelerator=str(profile))
    assert job.of("peak-memory") == []


def test_the_inductor_stage_measures_post_grad_graphs_and_kernels(tmp_path: Path) -> None:
    text = MODEL.format(mode="")
    before = statistics(tmp_path, text, Stage.AOT)
    after = statistics(tmp_path, text, Stage.INDUCTOR)
    assert (after["flops"], after["backward_flops"]) == (before["flops"], before["backward_flops"])
    for kind in ("parameter", "input"):
        assert after["memory"][kind] == before["memory"][kind]
    # What the forward saves is the storage that the backward reads: counted twice it would be far more.
    assert after["peak"]["bytes"] == pytest.approx(before["peak"]["bytes"], rel=0.1)
    assert after["backward_ops"]
    assert before["kernels"] is None
    kernels = after["kernels"]
    assert kernels["count"] == sum(kernels["by_language"].values()) == len(kernels["each"])
    assert kernels["unknown"] == 0


def test_a_kernel_reads_and_writes_what_inductor_says(tmp_path: Path) -> None:
    text = """\
import torch


# inductor-debug: inputs=(torch.randn(64, 128), torch.randn(64, 128))
def scaled(x, y):
    return (x * y).relu().sum(-1)
"""
    kernels = statistics(tmp_path, text, Stage.INDUCTOR)["kernels"]
    (kernel,) = kernels["each"]
    assert (kernel["bytes_read"], kernel["bytes_written"]) == (2 * 64 * 128 * 4, 64 * 4)
    assert (kernels["bytes_read"], kernels["bytes_written"]) == (2 * 64 * 128 * 4, 64 * 4)
    assert kernel["calls"] == 1
    assert kernel["range"]["start"]["line"] == 5
