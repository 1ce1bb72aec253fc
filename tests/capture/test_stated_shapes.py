"""Stated shapes are told where no run bears them out, and where the inputs that were guessed are not the reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from forked import Job, analyze
from inductor_debug_schema import Severity, ShapeFault, Stage, StatedBy, StatedShape

pytestmark = pytest.mark.torch

HEAD = "import torch\nfrom torch import nn\n\n\n"
NET = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 4)

    def forward(self, x):
        B, T, C = x.shape
        y = self.inner(x)  # (B, T, D)
        z = y * 2  # (B, T, D)
        return z.mT  # (B, T, D, 1)
"""
GIVEN = "\n\ndef example_inputs():\n    return (torch.randn(2, 5, 8),)\n"


def stated(folder: Path, text: str, **options: object) -> Job:
    return analyze(folder / "net.py", HEAD + text, accelerator="none", **options)  # type: ignore[arg-type]


def test_a_comment_says_how_many_sizes_there_are(tmp_path: Path) -> None:
    job = stated(tmp_path, NET + GIVEN)
    (finding,) = job.findings
    assert (finding.rule, finding.severity, finding.stage) == ("shape-annotation", Severity.INFORMATION, Stage.PREVIEW)
    assert job.marked(finding) == "(B, T, D, 1)"
    assert finding.message == "The comment says that what `forward` returns is (B, T, D, 1): it is [2, 4, 5], 3 sizes."
    assert finding.facts == StatedShape(
        StatedBy.COMMENT, ShapeFault.RANK, "", "forward", "(B, T, D, 1)", ["2", "4", "5"], "float32"
    )


def test_on_inputs_that_were_guessed_others_have_to_hold(tmp_path: Path) -> None:
    (finding,) = stated(tmp_path, NET).of("shape-annotation")
    assert finding.message.startswith("The comment says that what `forward` returns is (B, T, D, 1)")
    alone = NET.replace("        y = self.inner(x)  # (B, T, D)\n", "        y = self.inner(x)\n")
    assert stated(tmp_path, alone).findings == []


def test_a_guessed_input_of_other_dimensions_is_no_fault_of_the_first_comment(tmp_path: Path) -> None:
    text = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 4)

    def forward(self, x):
        x = torch.relu(x.flatten(1).flatten(0).view(-1, 8))  # (T, D, 1)
        y = self.inner(x)  # (T, C)
        return y * 2  # (T, C)
"""
    assert stated(tmp_path, text).findings == []
    given = text + GIVEN.replace("2, 5, 8", "5, 8")
    assert len(stated(tmp_path, given).of("shape-annotation")) == 1


def test_guessed_inputs_that_contradict_what_is_stated_of_them_say_nothing(tmp_path: Path) -> None:
    text = NET.replace(
        "    def forward(self, x):\n", "    def forward(\n        self,\n        x,  # (B, T, C, D)\n    ):\n"
    )
    assert stated(tmp_path, text).of("shape-annotation") == []
    assert len(stated(tmp_path, text + GIVEN).of("shape-annotation")) == 2


def test_what_holds_for_one_target_is_not_wrong(tmp_path: Path) -> None:
    text = (
        "def inner(x):\n    y = x * 2  # (B, T, C)\n    return y\n\n\n"
        "# inductor-debug: inputs=(torch.randn(4, 4, 4, 4),)\ndef one(x):\n    return inner(x)\n"
    )
    assert len(stated(tmp_path, text).of("shape-annotation")) == 1
    other = "\n\n# inductor-debug: inputs=(torch.randn(4, 4, 4),)\ndef other(x):\n    return inner(x)\n"
    assert stated(tmp_path, text + other).findings == []


def test_a_size_that_the_function_reads_is_told_where_it_stands_wrongly(tmp_path: Path) -> None:
    text = NET.replace("(B, T, D, 1)", "(B, T, D)").replace("# (B, T, D)\n        z", "# (T, B, D)\n        z")
    messages = sorted(finding.message for finding in stated(tmp_path, text + GIVEN).findings)
    assert messages == [
        "The comment says that `y` is (T, B, D), where T is 5 and B is 2: it is [2, 5, 4].",
        "The comment says that what `forward` returns is (B, T, D), where T is 5: it is [2, 4, 5].",
    ]


def test_a_project_file_that_the_target_imports_is_looked_at_and_a_library_is_not(tmp_path: Path) -> None:
    helper = "def twice(x):\n    y = x * 2  # (B, T)\n    return y\n"
    for folder, count in ((tmp_path, 1), (tmp_path / "site-packages", 0)):
        folder.mkdir(exist_ok=True)
        name = f"helping{count}"
        (folder / f"{name}.py").write_text(helper)
        text = (
            f"import sys\nsys.path.insert(0, {str(folder)!r})\nimport {name}\n\n\n"
            f"# inductor-debug: inputs=(torch.randn(2, 3, 4, 5),)\ndef run(x):\n    return {name}.twice(x)\n"
        )
        found = stated(tmp_path, text, root=tmp_path).of("shape-annotation")
        assert [Path(finding.path).name for finding in found] == [f"{name}.py"] * count


def test_a_run_that_raises_says_nothing(tmp_path: Path) -> None:
    text = NET.replace("        return z.mT", "        z = z @ z\n        return z.mT")
    assert stated(tmp_path, text + GIVEN).of("shape-annotation") == []


def test_the_names_of_free_sizes_and_what_is_broadcast_are_left_alone(tmp_path: Path) -> None:
    text = NET.replace("(B, T, D, 1)", "(B, D, T)").replace("y * 2  # (B, T, D)", "y.sum(1, keepdim=True)  # (B, T, D)")
    assert stated(tmp_path, text + GIVEN).findings == []


@pytest.mark.parametrize(
    ("words", "count"), [("of shape (B, T)", 1), ("of shape (B, T) or (B, T, C)", 0), ("the (k, i)", 0)]
)
def test_a_docstring_is_taken_at_its_word_where_it_states_one_shape(tmp_path: Path, words: str, count: int) -> None:
    text = (
        f'def run(x):\n    """Runs.\n\n    Args:\n        x: {words}\n    """\n    return x * 2\n\n\n'
        "def example_inputs():\n    return (torch.randn(2, 3, 4),)\n\n\n"
        "# inductor-debug: inputs=(torch.randn(2, 3, 4),)\ndef whole(x):\n    return run(x)\n"
    )
    found = stated(tmp_path, text).of("shape-annotation")
    assert len(found) == count
    assert [finding.message for finding in found] == [
        "The docstring says that `x` is (B, T): it is [2, 3, 4], 3 sizes."
    ] * count


@pytest.mark.parametrize(
    ("written", "instead"),
    [("(B, T, C)", "(B, C, T)"), ("[T, B, C]", "[B, C, T]"), ("T x B x C", "B x C x T"), ("(B, T)", "(B, C, T)")],
)
def test_what_would_be_right_is_told_in_the_names_and_the_style_of_the_comment(
    tmp_path: Path, written: str, instead: str
) -> None:
    text = f"def run(x):\n    B, T, C = x.shape\n    y = x.mT  # {written}\n    return y\n"
    (finding,) = stated(
        tmp_path, text + "\n\n# inductor-debug: inputs=(torch.randn(2, 3, 4),)\ndef whole(x):\n    return run(x)\n"
    ).findings
    assert isinstance(finding.facts, StatedShape)
    assert finding.facts.instead == instead
    assert finding.message.endswith(f"it is [2, 4, 3]{', 3 sizes' if written == '(B, T)' else ''}, {instead}.")


def test_sizes_that_several_names_have_say_nothing_of_what_is_right(tmp_path: Path) -> None:
    text = "def run(x):\n    B, T, C = x.shape\n    y = x.mT[None]  # (B, T, C)\n    return y\n"
    head = "\n\n# inductor-debug: inputs=(torch.randn(2, 2, 4),)\ndef whole(x):\n    return run(x)\n"
    (finding,) = stated(tmp_path, text + head).findings
    assert isinstance(finding.facts, StatedShape)
    assert finding.facts.instead == ""
