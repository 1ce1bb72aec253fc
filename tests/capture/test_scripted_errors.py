"""What code says that `torch.jit` has compiled, without the way there."""

from __future__ import annotations

import pytest
import torch
from inductor_debug.capture.runtime.scripted_errors import said_by
from torch import nn

pytestmark = pytest.mark.torch


def test_what_scripted_code_raises_is_what_torch_says_of_it() -> None:
    scripted = torch.jit.script(nn.Sequential(nn.Linear(4, 4)))
    with pytest.raises(RuntimeError) as caught:
        scripted(torch.ones(2, 32))
    assert "TorchScript" in str(caught.value)
    assert said_by(caught.value) == "mat1 and mat2 shapes cannot be multiplied (2x32 and 4x4)"
    assert said_by(ValueError("no\nscript")) == "no\nscript"
