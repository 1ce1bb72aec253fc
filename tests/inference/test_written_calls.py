"""What a project calls its models with is what they are called with: in its main program, its README, another file."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import analyze
from inductor_debug_schema import StageFinished

pytestmark = pytest.mark.torch

NET = """
import torch
from torch import nn
from torch.autograd import Variable

class Net(nn.Module):
    def __init__(self, width=7):
        super().__init__()
        self.layer = nn.Linear(width, 3)

    def forward(self, batch, length=None, mask=None):
        x = batch["views"][0] * batch["views"][1]
        if mask is not None:
            x = x * mask
        if length is not None:
            x = x[:, :length]
        return self.layer(x)

def build(name):
    return Net()
"""
SIGNATURE = "batch {views: [f32[batch, seq, 7], f32[batch, seq, 7]]}, length = 31"
INPUTS = "({'views': [torch.randn(2, 40, 7), torch.randn(2, 40, 7)]}, 31)"


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(
            {
                "model.py": """
                if __name__ == "__main__":
                    model = build("net").cuda()
                    x = Variable(torch.randn((1, 40, 7)).cuda())
                    y = model({"views": [x, x]}, 31)
                """
            },
            id="its own main program, by a function that builds it",
        ),
        pytest.param(
            {
                "model.py": """
                def test():
                    net = Net()
                    views = [torch.empty(1, 7, 40).permute(0, 2, 1) for _ in range(2)]
                    print(net.forward({"views": views}, length=31).shape)
                """
            },
            id="a function that tries it",
        ),
        pytest.param(
            {
                "README.md": """
                ```python
                model = Net(7)
                views = [torch.rand(1, 40, 7), torch.rand(1, 40, 7)]
                model({"views": views}, 31)
                ```
                """
            },
            id="README",
        ),
        pytest.param(
            {
                "demo.py": """
                import torch
                from model import Net

                net = Net(width=7).to("cuda")
                x = torch.zeros(2, 40).long().float().unsqueeze(-1).repeat(1, 1, 7).to(torch.float32)
                net({"views": [x, x]}, x.shape[1] - 9)
                """
            },
            id="another file",
        ),
    ],
)
def test_a_class_is_called_as_its_project_calls_it(files: dict[str, str], tmp_path: Path) -> None:
    (stage,) = _analysed(tmp_path, files)
    assert stage.inferred is not None
    assert (stage.inferred.signature, stage.inferred.inputs) == (SIGNATURE, INPUTS)


@pytest.mark.parametrize(
    "call",
    [
        "net(load('x.pt'), 31)",
        "net({'views': [torch.randn(1, 40, 7), load('y.pt')]})",
        "net(torch.randn(1, 40, 7), 31)",
        "net()",
        "net({'views': [torch.randn(1, 40, 6)] * 2}, 31)",
    ],
)
def test_a_call_that_is_not_known_whole_or_does_not_run_is_left(call: str, tmp_path: Path) -> None:
    files = {"model.py": f"\nif __name__ == '__main__':\n    net = Net()\n    {call}\n"}
    (stage,) = _analysed(tmp_path, files)
    assert stage.inferred is not None
    assert stage.inferred.signature == "batch {views: [f32[batch, 7], f32[batch, 7]]}"
    assert stage.findings == []


def _analysed(folder: Path, files: dict[str, str]) -> list[StageFinished]:
    for name, text in files.items():
        (folder / name).write_text(dedent(text))
    (folder / "model.py").write_text(NET + dedent(files.get("model.py", "")))
    stages: list[StageFinished] = analyze(folder / "model.py", root=folder, accelerator="none").stages
    return stages
