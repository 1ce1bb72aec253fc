"""What is computed again in the backward pass: new values in new memory, also where random numbers are drawn again."""

from __future__ import annotations

from pathlib import Path

import pytest
from capture_targets import build, excerpt
from inductor_debug.capture.stages.aot import run_aot
from inductor_debug.rules.recording.liveness import peak_of
from inductor_debug.rules.recording.ops import Recording

pytestmark = pytest.mark.torch

LAYERS, BATCH, WIDTH = 6, 4096, 16
ACTIVATION = BATCH * WIDTH * 4
DRAWN = "F.dropout(torch.tanh(self.up(x)), 0.1, self.training)"
MODEL = f"""
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear({WIDTH}, {4 * WIDTH}), nn.Linear({4 * WIDTH}, {WIDTH})

    def forward(self, x):
        return x + self.down({DRAWN})

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range({LAYERS}))

    def forward(self, x):
        for block in self.blocks:
            x = CALL
        return x.sum()

model, inputs = Net(), (torch.randn({BATCH}, {WIDTH}),)
"""


def recorded(folder: Path, call: str) -> Recording:
    target, sources = build(folder, MODEL.replace("CALL", call), training=True)
    return run_aot(target, sources).recording


def test_checkpointed_blocks_need_the_memory_of_one_block(tmp_path: Path) -> None:
    kept = recorded(tmp_path, "block(x)")
    again = recorded(tmp_path, "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)")
    assert peak_of(kept).bytes > LAYERS * 4 * ACTIVATION
    # What one block makes is a dozen activations; of each other one its input is kept.
    assert peak_of(again).bytes < (LAYERS + 16) * ACTIVATION


def test_random_operators_that_run_again_are_recorded_where_they_stand(tmp_path: Path) -> None:
    again = recorded(tmp_path, "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)")
    drawn = [op for op in again.ops if op.packet in ("aten.native_dropout", "aten.rand_like", "aten.bernoulli")]
    assert [bool(op.autograd_node) for op in drawn] == [False] * LAYERS + [True] * LAYERS
    assert {excerpt(op.frames[0].location) for op in drawn[:LAYERS]} == {DRAWN}
    used = {meta.value for op in again.ops for meta in op.inputs}
    assert all(any(meta.value in used for meta in op.outputs) for op in drawn)
