"""What a text alone proves wrong is told while its top-level code may not run, and nothing else is."""

from __future__ import annotations

import pytest
from inductor_debug.engine.text.evident import evident_faults

MODEL = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)
"""


def test_a_method_without_self_is_told_at_its_name() -> None:
    (fault,) = evident_faults(MODEL.replace("forward(self, x)", "forward(x)"), "/model.py")
    assert fault.message == "`Net.forward` has no parameter `self`, which Python passes first."
    assert (fault.rule, fault.target, fault.path) == ("capture-error", "Net", "/model.py")
    assert (fault.range.start.line, fault.range.start.character, fault.range.end.character) == (8, 8, 15)


def test_a_constructor_without_parameters_is_told() -> None:
    (fault,) = evident_faults(MODEL.replace("__init__(self)", "__init__()"), "")
    assert "`Net.__init__`" in fault.message


def test_a_model_by_way_of_another_class_is_told() -> None:
    text = f"{MODEL}\n\nclass Small(Net):\n    def forward(x):\n        return self.fc(x)\n"
    assert [fault.target for fault in evident_faults(text, "")] == ["Small"]
    assert evident_faults(text.replace("Net(nn.Module)", "Net"), "") == []


@pytest.mark.parametrize(
    "text",
    [
        MODEL,
        MODEL.replace("self", "this"),
        MODEL.replace("    def forward(self, x)", "    @staticmethod\n    def forward(x)"),
        MODEL.replace("    def forward(self, x)", "    @classmethod\n    def forward(cls, x)"),
        MODEL.replace("forward(self, x):", "forward(x):\n        self = Net()"),
        MODEL.replace("(nn.Module)", ""),
        "self = 3\n" + MODEL.replace("forward(self, x)", "forward(x)"),
        MODEL.replace(
            "forward(self, x):", "forward(x):\n        def inner(self):\n            return self.fc\n       "
        ),
        "class Net(nn.Module):\n    def forward(x)",
        "",
        "\0",
    ],
)
def test_what_may_be_right_is_not_blamed(text: str) -> None:
    assert evident_faults(text, "/model.py") == []


def test_letters_before_it_are_counted_as_editors_do() -> None:
    text = MODEL.replace("Net", "N\U0001d4ddet").replace("    def forward(self, x)", "    def f\U0001d4deo(x)")
    (fault,) = evident_faults(text, "")
    assert fault.range.end.character - fault.range.start.character == 4
