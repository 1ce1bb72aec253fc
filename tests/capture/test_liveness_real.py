"""The timeline of a run agrees with what a real eager run holds in memory, operation by operation."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from capture_targets import build
from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug.capture.liveness.code import Codes
from inductor_debug.capture.liveness.timeline import timeline_of
from inductor_debug.capture.stages.preview import run_preview
from inductor_debug_schema import TensorTimeline
from torch.utils._python_dispatch import TorchDispatchMode

pytestmark = pytest.mark.torch

MODELS = {
    "chain": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.up, self.down = nn.Linear(16, 64), nn.Linear(64, 16)

            def forward(self, x):
                h = self.up(x).relu()
                y = self.down(h * 2)
                del h
                return y + x

        model, inputs = Net(), (torch.randn(4, 16),)
    """,
    "views": """
        def model(x):
            kept = x.reshape(4, 2, 8) * 1
            first, second = kept.transpose(1, 2).chunk(2, dim=1)
            total = first.contiguous() + second
            del first, second
            base = total.exp()
            total += base[:, :1]
            piece = base[0]
            del base
            return piece * 3, total

        inputs = (torch.randn(4, 16),)
    """,
    "attention": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm, self.qkv, self.out = nn.LayerNorm(32), nn.Linear(32, 96), nn.Linear(32, 32)

            def forward(self, x):
                B, T, C = x.shape
                q, k, v = self.qkv(self.norm(x)).split(C, dim=2)
                q, k, v = (t.view(B, T, 4, 8).transpose(1, 2) for t in (q, k, v))
                scores = (q @ k.transpose(-2, -1)) * 8**-0.5
                return x + self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList([Block() for _ in range(3)])

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return x.mean(1)

        model, inputs = Net(), (torch.randn(2, 6, 32),)
    """,
    "convolutions": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Conv2d(3, 8, 3, padding=1)
                self.norm = nn.BatchNorm2d(8)
                self.second = nn.Conv2d(8, 8, 3, padding=1)
                self.up = nn.ConvTranspose2d(8, 4, 2, 2)

            def forward(self, image):
                x = skip = F.relu(self.norm(self.first(image)))
                x = F.max_pool2d(x, 2)
                x = self.second(x).relu_()
                return torch.cat([F.interpolate(self.up(x), scale_factor=1.0), skip], dim=1)

        model, inputs = Net(), (torch.randn(1, 3, 16, 16),)
    """,
    "state": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.cell = nn.Linear(24, 16)
                self.register_buffer("seen", torch.zeros(16))

            def forward(self, steps):
                hidden, kept = steps.new_zeros(2, 16), []
                for step in steps.unbind(1):
                    hidden = torch.tanh(self.cell(torch.cat([step, hidden], dim=-1)))
                    kept.append(hidden)
                self.seen.add_(hidden.sum(0).detach())
                return torch.stack(kept, 1)

        model, inputs = Net(), (torch.randn(2, 5, 8),)
    """,
}


class Measured(TorchDispatchMode):
    """Asks after every operation how much of the memory that operations made is still there."""

    def __init__(self, outside: list[torch.Tensor]) -> None:
        super().__init__()
        self.ops: list[str] = []
        self.bytes: list[int] = []
        self._outside = {tensor.untyped_storage()._cdata for tensor in outside}
        self._made: dict[int, tuple[weakref.ref[Any], int]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func.namespace == "prim":
            return result
        self.ops.append(str(func))
        for tensor in torch.utils._pytree.tree_leaves(result):
            if isinstance(tensor, torch.Tensor) and tensor.untyped_storage()._cdata not in self._outside:
                storage = tensor.untyped_storage()
                self._made[storage._cdata] = (weakref.ref(storage), storage.nbytes())
        self.bytes.append(sum(size for alive, size in self._made.values() if alive() is not None))
        return result


def told(folder: Path, source: str, *, gradients: bool, training: bool) -> tuple[list[str], TensorTimeline]:
    target, sources = build(folder, source, training=training)
    with torch.set_grad_enabled(gradients):
        recording = run_preview(target, sources).recording
    timeline = timeline_of(recording, Codes(sources.text), read_profile(load_document("none")))
    assert timeline is not None
    return [op.overload for op in recording.ops], timeline


def measured(folder: Path, source: str, *, gradients: bool, training: bool) -> Measured:
    target, _ = build(folder, source, real=True, training=training)
    outside = [*target.args]
    if target.module is not None:
        outside += [*target.module.parameters(), *target.module.buffers()]
    with torch.set_grad_enabled(gradients), Measured(outside) as mode:
        target.function(*target.args)
    return mode


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_the_memory_of_each_operation_is_what_a_real_run_holds(
    tmp_path: Path, model: str, gradients: bool, training: bool
) -> None:
    ops, timeline = told(tmp_path, MODELS[model], gradients=gradients, training=training)
    real = measured(tmp_path, MODELS[model], gradients=gradients, training=training)

    made = [storage for storage in timeline.storages if storage.first >= 0]
    alive = [
        sum(storage.bytes for storage in made if storage.first <= op < storage.end) for op in range(timeline.operations)
    ]
    assert ops == real.ops
    assert alive == real.bytes


def test_what_gradients_keep_stays(tmp_path: Path) -> None:
    """So that the test above is about something."""
    with_gradients = told(tmp_path, MODELS["attention"], gradients=True, training=False)[1]
    without = told(tmp_path, MODELS["attention"], gradients=False, training=False)[1]

    def at_the_end(timeline: TensorTimeline) -> int:
        return sum(1 for storage in timeline.storages if storage.first >= 0 and storage.end > timeline.operations - 1)

    assert at_the_end(with_gradients) > 10 > at_the_end(without)
