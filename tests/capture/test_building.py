"""Models are built as far from real as they allow, and their parameters know who declared them."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent
from typing import Any

import pytest
import torch
from forked import in_child
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.running.target import BuildMode, BuiltTarget
from inductor_debug.capture.targets.building import BuildError
from inductor_debug.capture.targets.target_builder import Load, TargetBuilder
from inductor_debug.capture.tensors.fake_mode import MemoryBoundError, building, is_fake
from inductor_debug_schema import JobRequest, Location, Stage, TargetSetting

pytestmark = pytest.mark.torch

PATH = "/project/model.py"


def built(
    text: str,
    read: Callable[[Load, list[BuiltTarget]], Any],
    *,
    settings: list[TargetSetting] | None = None,
    bound: int = 1 << 30,
) -> Any:
    """Builds all targets of `text` in a child and brings back what `read` makes of them."""
    text = "import torch\nfrom torch import nn\n" + dedent(text)

    def work() -> Any:
        request = JobRequest(1, PATH, text, "/project", [Stage.PREVIEW], {}, settings or [])
        with TargetBuilder(request, SourceMap("/project", {PATH: text}), bound).open() as builder:
            load = builder.load()
            assert load.error is None, load.error
            return read(load, [builder.build(candidate, load) for candidate in load.discovered.candidates])

    return in_child(work)[0]


def excerpt(text: str, location: Location) -> str:
    lines = ("import torch\nfrom torch import nn\n" + dedent(text)).split("\n")
    assert location.range.start.line == location.range.end.line
    return lines[location.range.start.line][location.range.start.character : location.range.end.character]


@pytest.mark.parametrize(
    ("statement", "mode"),
    [
        ("pass", BuildMode.FAKE),
        ("torch.tensor(3.0).item()", BuildMode.FAKE),
        ("torch.linspace(0, 1, 4).tolist()", BuildMode.FAKE_WITH_REAL_CONSTANTS),
        ("[float(x) for x in torch.randn(4)]", BuildMode.FAKE_WITH_REAL_CONSTANTS),
        ("int(torch.arange(12).reshape(3, 4).sum())", BuildMode.FAKE_WITH_REAL_CONSTANTS),
        ("torch.arange(4).numpy()", BuildMode.REAL),
        ("torch.zeros(200, 200).sum().item()", BuildMode.REAL),
        ("torch.zeros(4)[torch.zeros(4).byte()]", BuildMode.FAKE_WITH_REAL_CONSTANTS),
    ],
)
def test_the_ladder_is_left_at_the_first_rung_that_carries(statement: str, mode: BuildMode) -> None:
    model = f"""
        # inductor-debug: inputs=(torch.randn(2, 3),)
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                {statement}
    """

    def read(load: Load, targets: list[BuiltTarget]) -> Any:
        (target,) = targets
        tensors = [*target.module.parameters(), *target.args]  # type: ignore[union-attr]
        return target.mode, {is_fake(tensor) for tensor in tensors}

    assert built(model, read) == (mode, {mode is not BuildMode.REAL})


def test_a_module_level_statement_can_lead_down_the_ladder_too() -> None:
    text = """
        rates = torch.linspace(0, 1, 3).tolist()
        scale = torch.tensor(2.0)
        # inductor-debug: inputs=(torch.randn(2),)
        def f(x): return x * scale
    """
    assert built(text, lambda load, targets: (load.mode, targets[0].mode)) == (
        BuildMode.FAKE_WITH_REAL_CONSTANTS,
        BuildMode.FAKE_WITH_REAL_CONSTANTS,
    )


def test_weights_that_would_not_fit_cost_nothing() -> None:
    text = """
        # inductor-debug: inputs=(torch.randn(1, 1 << 20),)
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(1 << 20, 1 << 20).half()
    """

    def read(load: Load, targets: list[BuiltTarget]) -> Any:
        weight = targets[0].module.linear.weight  # type: ignore[union-attr]
        return tuple(weight.shape), weight.dtype

    assert built(text, read) == ((1 << 20, 1 << 20), torch.float16)


def test_real_tensors_are_refused_above_the_bound() -> None:
    text = """
        # inductor-debug: inputs=(torch.randn(1, 8),)
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(1 << 13, 1 << 13)
                self.linear.weight.sum().item()
    """
    with pytest.raises(AssertionError, match="DataDependentOutputException"):
        built(text, lambda load, targets: None, bound=1 << 20)


def test_declarations_lead_to_the_expression_that_made_a_parameter() -> None:
    text = """
        class Block(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.fc = nn.Linear(width, width)
                self.gain = nn.Parameter(torch.ones(width))
                self.register_buffer("mask", torch.ones(width))

        # inductor-debug: inputs=(torch.randn(2, 4),)
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.Sequential(*[Block(4) for _ in range(2)])
                layer = nn.TransformerEncoderLayer(4, 1)
                self.copied = nn.TransformerEncoder(layer, 2)
                self.tied = nn.Linear(4, 4)
                self.tied.weight = self.blocks[0].fc.weight
    """

    def read(load: Load, targets: list[BuiltTarget]) -> Any:
        names = ("blocks.1.fc.weight", "blocks.1.gain", "blocks.0.mask", "copied.layers.1.linear1.bias", "tied.bias")
        model, told = targets[0].module, targets[0].declarations
        assert model is not None
        tensors = [*model.named_parameters(remove_duplicate=False), *model.named_buffers(remove_duplicate=False)]
        held = {name for name, _ in [*tensors, *model.named_modules(remove_duplicate=False)] if name}
        return {name: [frame.location for frame in told[name]] for name in names}, told.keys() == held

    found, complete = built(text, read)
    assert complete
    told = {name: excerpt(text, locations[0]) for name, locations in found.items()}
    assert told == {
        "blocks.1.fc.weight": "nn.Linear(width, width)",
        "blocks.1.gain": "nn.Parameter(torch.ones(width))",
        "blocks.0.mask": 'self.register_buffer("mask", torch.ones(width))',
        "copied.layers.1.linear1.bias": "nn.TransformerEncoder(layer, 2)",
        "tied.bias": "nn.Linear(4, 4)",
    }
    assert excerpt(text, found["blocks.1.fc.weight"][1]) == "Block(4)"


def test_conversions_keep_parameters_what_they_are() -> None:
    text = """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding = nn.Embedding(8, 4)
                self.head = nn.Linear(4, 8, bias=False)
                self.head.weight = self.embedding.weight
        model = Model()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model.half().to(torch.bfloat16).cuda().double().to(memory_format=torch.contiguous_format)
        def example_inputs(): return torch.zeros(2, 4)
        Model.forward = lambda self, x: x
    """

    def read(load: Load, targets: list[BuiltTarget]) -> Any:
        model = targets[0].module
        assert model is not None
        optimizer = vars(load.module)["optimizer"]  # type: ignore[arg-type]
        tied = model.head.weight is model.embedding.weight is optimizer.param_groups[0]["params"][0]
        return tied, model.head.weight.dtype, model.head.weight.device.type

    assert built(text, read) == (True, torch.float64, "cpu")


def test_settings_say_what_a_comment_could_say() -> None:
    text = """
        WIDTH = 6
        class Model(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.linear = nn.Linear(width, width)
            def forward(self, x): return self.linear(x)
    """
    settings = [TargetSetting("Model", init="WIDTH,", inputs='{"x": torch.ones(2, WIDTH)}')]
    seen = built(
        text,
        lambda load, targets: (targets[0].origin, targets[0].args, tuple(targets[0].kwargs["x"].shape)),
        settings=settings,
    )
    assert seen == ("pyproject", (), (2, 6))


@pytest.mark.parametrize(("words", "training"), [("train", True), ("eval", False), ("eval=False", True), ("", False)])
def test_the_mode_is_the_users_unless_a_comment_says_otherwise(words: str, training: bool) -> None:
    text = f"""
        # inductor-debug: inputs=(torch.ones(2),){"," if words else ""} {words}
        model = nn.Sequential(nn.Dropout()).eval()
    """
    assert built(text, lambda load, targets: targets[0].training) is training


def test_a_build_error_says_what_was_being_made() -> None:
    text = """
        # inductor-debug: inputs=(1 / 0,)
        def f(x): return x
    """
    text = "import torch\n" + dedent(text)

    def work() -> str:
        request = JobRequest(1, PATH, text, "/project", [Stage.PREVIEW], {})
        with TargetBuilder(request, SourceMap("/project", {PATH: text}), 1 << 30).open() as builder:
            load = builder.load()
            try:
                builder.build(load.discovered.candidates[0], load)
            except BuildError as error:
                return str(error)
        return ""

    assert in_child(work)[0] == "inputs of the directive raised ZeroDivisionError: division by zero"


def test_the_bound_of_real_tensors_counts_what_is_still_there() -> None:
    mebibyte = 1 << 18
    with building(BuildMode.REAL, None, 10 << 20):
        for _ in range(8):
            gone = torch.zeros(4 * mebibyte)
        kept = torch.nn.Parameter(torch.zeros(3 * mebibyte))
        with pytest.raises(MemoryBoundError, match="more than 10 MiB"):
            torch.zeros(4 * mebibyte)
        del gone
        torch.zeros(6 * mebibyte)
        assert kept.shape == (3 * mebibyte,)
