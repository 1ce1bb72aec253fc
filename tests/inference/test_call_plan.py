"""What a model says of its own inputs is kept to, whatever the search would try."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from inductor_debug.capture.inference.guessing import pretrained
from inductor_debug.capture.inference.guessing.input_candidates import plan_for
from inductor_debug.capture.inference.guessing.written_shapes import WrittenShape, shape_in_text
from inductor_debug.capture.inference.judging import variations
from inductor_debug.capture.inference.specs.call_plan import CallPlan, Parameter
from inductor_debug.capture.inference.specs.rendering import signature_of
from inductor_debug.capture.inference.specs.specs import TensorSpec
from torch import nn

pytestmark = pytest.mark.torch


class Model(nn.Module):
    main_input_name = "input_ids"
    config = SimpleNamespace(is_encoder_decoder=False)


def ranks(plan: CallPlan) -> set[tuple[str, int]]:
    guess = plan.first()
    allowed = filter(plan.allows, (guess, *variations.of_kinds(guess, plan)))
    return {(name, len(spec.dims)) for other in allowed for name, spec in other.tensors()}


def test_ids_keep_the_rank_that_models_of_transformers_give_them() -> None:
    ids = Parameter("input_ids", [TensorSpec(("B", "T"), "int64")], keyword=True, required=True)
    weights = Parameter("weights", [TensorSpec(("B", "T"))], keyword=True, required=True)
    plan = CallPlan([ids, weights])
    assert {rank for name, rank in ranks(plan) if name == "input_ids"} > {1, 2, 3}
    pretrained.refine(plan, Model())
    weights.required = True
    found = ranks(plan)
    assert {rank for name, rank in found if name == "input_ids"} == {2}
    assert {rank for name, rank in found if name == "weights"} > {1, 2, 3}


class Codes(nn.Module):
    main_input_name = "input_ids"
    config = SimpleNamespace(is_encoder_decoder=False, num_codebooks=8)

    def forward(self, input_ids: object, **kwargs: object) -> object:
        return kwargs.get("output_hidden_states")


def test_ids_of_sounds_may_have_a_code_for_each_codebook_and_what_is_handed_on_is_left_out() -> None:
    ids = Parameter("input_ids", [], keyword=True, required=True)
    handed_on = Parameter("output_hidden_states", [TensorSpec(("B", "D"))], keyword=True, required=True)
    plan = CallPlan([ids, handed_on])
    pretrained.refine(plan, Codes())
    assert [spec.dims[2:] for spec in ids.candidates if isinstance(spec, TensorSpec)] == [(), (8,), (9,)]
    assert not handed_on.required


class Nested(nn.Module):
    main_input_name = "pixel_values"
    config = SimpleNamespace(vision_config=SimpleNamespace(backbone_config=SimpleNamespace(image_size=[512, 256])))

    def forward(self, pixel_values: object) -> object:
        return pixel_values


def test_an_image_is_as_large_as_the_innermost_configuration_says() -> None:
    guess = pretrained.likeliest(Nested(), ())
    assert guess is not None
    assert [spec.dims for _, spec in guess.tensors()] == [("B", 3, 512, 256)]


DOCUMENT = """
noise (`torch.Tensor` of shape `[batch_size, config.block_size, dim]`):
    What is added.
states (`torch.Tensor` of shape `[batch_size, number_of_tokens, dim * len(config.layers)]`, *optional*):
    What was computed (before).
"""


def test_a_written_dimension_may_be_worked_out_from_a_list() -> None:
    assert shape_in_text("states", DOCUMENT) == WrittenShape(
        ("batch_size", "number_of_tokens", "dim*len(config.layers)")
    )
    assert shape_in_text("noise", DOCUMENT) == WrittenShape(("batch_size", "config.block_size", "dim"))


BACKTICKS = """
Inputs:
    `x` LongTensor(slen, bs), containing word indices
    `lengths` LongTensor(bs), containing the length of each sentence
    `causal` Boolean, if True, the attention is only done over previous hidden states
    `positions` LongTensor(slen, bs), containing word positions
"""


@pytest.mark.parametrize("text", ["x: images normalized to [0, 1]", "y = x.permute(2, 3, 0, 1)  rows before images"])
def test_a_range_of_values_and_an_order_of_dimensions_are_no_shapes(text: str) -> None:
    assert shape_in_text("x", text) is None


def test_a_shape_is_of_the_argument_whose_line_it_stands_in() -> None:
    words = {name: shape_in_text(name, BACKTICKS) for name in ("x", "lengths", "causal", "positions")}
    shapes = {name: shape.dims if shape is not None else None for name, shape in words.items()}
    assert shapes == {"x": ("slen", "bs"), "lengths": ("bs",), "causal": None, "positions": ("slen", "bs")}


class Captioned(nn.Module):
    def forward(self, captions: Any, caption_lengths: Any) -> Any:
        """Cuts captions off.

        :param captions: a tensor of dimension (batch_size, 52)
        :param caption_lengths: how long they are, a tensor of dimension (batch_size, 1)
        """
        return captions[:, : int(caption_lengths.squeeze(1).max())]


def test_lengths_are_whole_numbers_whatever_shape_prose_gives_them() -> None:
    assert signature_of(plan_for(Captioned()).first(), {}).endswith("caption_lengths i64[2, 1]")


class Tasks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.nets = nn.ModuleList([nn.Linear(64, 10), nn.Linear(64, 10)])

    def forward(self, x: object, t: object) -> object:
        return self.nets[t](x)  # type: ignore[index]


def test_what_chooses_one_of_several_layers_is_the_place_of_one() -> None:
    assert signature_of(plan_for(Tasks()).first(), {}) == "x f32[2, 64], t = 0"
