"""Architectures of transformers whose default configuration contradicts itself: it builds a model that nobody can call.

`bench transformers` counts none of them, and takes nothing here on trust: each is proven anew with the installed
transformers (`processes.default_faults`), by runs that nothing of ours takes part in. The call is refused with two
layers, and with all layers, by the error that is written here; and the same call runs once the configuration is mended.
A row of which one of these runs ends otherwise is counted, and told.

Nothing here imports torch. What the tool itself says of an architecture is no reason to list it.
"""

from __future__ import annotations

from dataclasses import dataclass

TRIED_WITH = "5.24.0"
"""The transformers that the calls were first tried with, by hand."""


@dataclass(frozen=True, slots=True)
class RefusedDefault:
    """One architecture.

    `call` are arguments as a user writes them, `error` is how the error begins, `mended` are arguments of the
    configuration with which the same call runs, and `why` says why no other call can help.
    """

    why: str
    call: str
    error: str
    mended: str
    real: bool = False
    """Whether values are asked for, which the meta device has none of: proven on the CPU, with two layers alone."""


_IDS = "input_ids=torch.zeros(1, 16, dtype=torch.long)"
_PIXELS = "pixel_values=torch.zeros({})"
_SECTIONS = "RuntimeError: split_with_sizes expects split_sizes to sum exactly to {}"
_ROPE = "{{'rope_type': 'default', 'rope_theta': 10000.0, 'mrope_section': {}}}"
_TEXT = "text_config={{'model_type': '{}', 'rope_parameters': {}}}"
_OF_64 = _ROPE.format([16, 24, 24])
_OF_11 = _ROPE.format([3, 4, 4])
_WHY_SECTIONS = "the rotary sections [8, 12, 12] that are assumed do not add up to half of its heads' size"
_WHY_TOKEN = "no token stands for an image: `input_ids == None` is no tensor, and the ids cannot be left out"
_QFORMER = f"qformer_{_IDS}, {_IDS}"

REFUSED_DEFAULTS = {
    "Blip2Model": RefusedDefault(
        _WHY_TOKEN,
        f"{_PIXELS.format('1, 3, 224, 224')}, {_IDS}",
        "AttributeError: 'bool' object has no attribute 'unsqueeze'",
        "image_token_index=5",
        real=True,
    ),
    "InstructBlipModel": RefusedDefault(
        _WHY_TOKEN,
        f"{_PIXELS.format('1, 3, 224, 224')}, {_QFORMER}",
        "AttributeError: 'bool' object has no attribute 'unsqueeze'",
        "image_token_index=5",
        real=True,
    ),
    "InstructBlipVideoModel": RefusedDefault(
        _WHY_TOKEN,
        f"{_PIXELS.format('1, 2, 3, 224, 224')}, {_QFORMER}",
        "AttributeError: 'bool' object has no attribute 'unsqueeze'",
        "video_token_index=5",
        real=True,
    ),
    "DeepseekV2Model": RefusedDefault(
        "how many experts a token is given to is not said, and every layer but the first asks",
        _IDS,
        "TypeError: topk(): argument 'k' must be int, not NoneType",
        "num_experts_per_tok=2",
        real=True,
    ),
    "Glm46VModel": RefusedDefault(_WHY_SECTIONS, _IDS, _SECTIONS.format(64), _TEXT.format("glm4v_text", _OF_64)),
    "Glm4vModel": RefusedDefault(_WHY_SECTIONS, _IDS, _SECTIONS.format(64), _TEXT.format("glm4v_text", _OF_64)),
    "Glm4vMoeModel": RefusedDefault(_WHY_SECTIONS, _IDS, _SECTIONS.format(11), _TEXT.format("glm4v_moe_text", _OF_11)),
    "Glm4vMoeTextModel": RefusedDefault(_WHY_SECTIONS, _IDS, _SECTIONS.format(11), f"rope_parameters={_OF_11}"),
    "Glm4vTextModel": RefusedDefault(_WHY_SECTIONS, _IDS, _SECTIONS.format(64), f"rope_parameters={_OF_64}"),
    "GlmImageModel": RefusedDefault(_WHY_SECTIONS, _IDS, _SECTIONS.format(64), _TEXT.format("glm_image_text", _OF_64)),
    "GlmImageTextModel": RefusedDefault(_WHY_SECTIONS, _IDS, _SECTIONS.format(64), f"rope_parameters={_OF_64}"),
    "LwDetrModel": RefusedDefault(
        "no scale is given to project what the backbone sees to, so that the decoder has nothing to look at",
        _PIXELS.format("1, 3, 1024, 1024"),
        "ValueError: torch.cat(): expected a non-empty list of Tensors",
        "projector_scale_factors=[1.0]",
        real=True,
    ),
    "PPOCRV6SmallDetModel": RefusedDefault(
        "its neck wants the four channel counts 12, 18, 42 and 360; the backbone has one output, of 384 channels",
        _PIXELS.format("1, 3, 640, 640"),
        "RuntimeError: Invalid channel dimensions",
        "layer_list_out_channels=[96, 96, 192, 384], backbone_config={'model_type': 'pp_lcnet_v4', "
        "'out_features': ['stage1', 'stage2', 'stage3', 'stage4'], 'block_configs': [[[3, 96, 96, 1, True]], "
        "[[3, 96, 96, 2, False]], [[3, 96, 192, 2, False]], [[3, 192, 384, 2, False]]]}",
    ),
    "Qwen3OmniMoeThinkerModel": RefusedDefault(
        "2048 hidden numbers for 28 heads make heads of 73, and what turns by pairs cannot turn an odd number",
        _IDS,
        "RuntimeError: Attempting to broadcast a dimension of length 74",
        "text_config={'model_type': 'qwen3_omni_moe_text', 'num_attention_heads': 32}",
    ),
    "Step3p7Model": RefusedDefault(
        "it makes a mask of a window, whose size is not said",
        _IDS,
        "ValueError: Could not find a `sliding_window` argument in the config",
        "text_config={'model_type': 'step3p5', 'num_hidden_layers': 2, 'sliding_window': 512}",
    ),
    "UVDocModel": RefusedDefault(
        "its head wants the six outputs of the backbone, 768 channels; that has one, of 128",
        _PIXELS.format("1, 3, 712, 488"),
        "RuntimeError: Invalid channel dimensions",
        "backbone_config={'model_type': 'uvdoc_backbone', 'out_features': "
        "['stage1', 'stage2', 'stage3', 'stage4', 'stage5', 'stage6']}",
    ),
}
