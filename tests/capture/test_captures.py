"""A recording that went through bytes is the one that was made, and is judged alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from capture_targets import build
from inductor_debug.capture.stages.preview import run_preview
from inductor_debug.rules.captures.codec import CaptureError, packed, unpacked

pytestmark = pytest.mark.torch

MODELS = {
    "views, constants and writes": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(8, 8)
                self.register_buffer("seen", torch.zeros(8))

            def forward(self, x):
                y = self.fc(x).transpose(0, 1)[1:]
                self.seen.add_(1.5)
                return torch.cat([y, y.clamp(-float("inf"), 2)], 0).to(torch.bfloat16)

        model, inputs = Net(), (torch.randn(4, 8),)
        """,
    "complex numbers": """
        def model(x):
            return torch.fft.fft(x) * (2 + 3j)
        inputs = (torch.randn(4, 8),)
        """,
    "nothing": """
        def model(x):
            return x
        inputs = (torch.randn(4),)
        """,
}


@pytest.mark.parametrize("dynamic", [False, True], ids=["numbers", "symbols"])
@pytest.mark.parametrize("name", MODELS)
def test_bytes_and_back(tmp_path: Path, name: str, dynamic: bool) -> None:
    target, sources = build(tmp_path, MODELS[name], dynamic=dynamic)
    recording = run_preview(target, sources).recording
    assert bool(recording.ops) == (name != "nothing")
    assert unpacked(packed(recording)) == recording


@pytest.mark.parametrize("content", [b"", b"\xc0", b"\x93\x01\x02\x03", b"\xff" * 9])
def test_what_is_no_recording_is_refused(content: bytes) -> None:
    with pytest.raises(CaptureError):
        unpacked(content)
