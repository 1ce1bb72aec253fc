"""What transformers' models say of their own inputs: `main_input_name` and the fields of their configuration.

Works by attributes alone; transformers is never imported here.
"""

from __future__ import annotations

import inspect
from collections.abc import Container, Iterable
from typing import Any

from torch import nn

from inductor_debug.capture.inference.guessing.extents import says_image_size, sized_plan
from inductor_debug.capture.inference.guessing.patch_grids import patched_inputs
from inductor_debug.capture.inference.specs.call_plan import CallPlan, Parameter
from inductor_debug.capture.inference.specs.specs import Dimension, Guess, Spec, TensorSpec

_CHANNELS = ("num_channels", "in_channels", "in_chans", "num_input_channels")
_USUAL_IMAGE = 128
"""How high and wide images are where the model takes any: detectors want more pixels than they have queries."""
_MELS = ("num_mel_bins", "feature_size", "input_feat_per_channel", "num_mels")


def is_pretrained(subject: Any) -> bool:
    """Whether `subject` is a model of transformers'."""
    return isinstance(subject, nn.Module) and bool(_main_inputs(subject)) and hasattr(subject, "config")


def _main_inputs(subject: Any) -> list[str]:
    """What a model says its main input is called; some have several."""
    named = getattr(type(subject), "main_input_name", None)
    names = named if isinstance(named, list | tuple) else [named]
    return [name for name in names if isinstance(name, str)]


def likeliest(subject: nn.Module, hints: tuple[int, ...]) -> Guess | None:
    """The first guess of the refined plan, without reading any code; None where the model does not say enough.

    Args:
        subject: the built model.
        hints: integers of the constructor that look like sizes of images or lengths.
    """
    try:
        signature = inspect.signature(subject.forward)
    except (TypeError, ValueError):
        return None
    specs, wanted = _specs(subject.config), _wanted(subject, list(signature.parameters))
    for name, item in signature.parameters.items():
        by_name = item.kind not in (item.VAR_KEYWORD, item.VAR_POSITIONAL, item.POSITIONAL_ONLY)
        if by_name and item.default is item.empty and name not in wanted:
            return None
    if not wanted or not specs.keys() >= set(wanted):
        return None
    # As in the plan, in the order of the signature.
    given = [Parameter(name, specs[name], True, True) for name in signature.parameters if name in wanted]
    return _with_usual_images(sized_plan(given, subject, hints), subject).first()


def _wanted(subject: nn.Module, known: Container[str]) -> list[str]:
    """The inputs that the model names, of those that it has."""
    wanted = [name for name in _main_inputs(subject) if name in known]
    if getattr(subject.config, "is_encoder_decoder", False):
        wanted += [name for name in ("decoder_input_ids",) if name in known]
    return wanted


def _with_usual_images(plan: CallPlan, subject: nn.Module) -> CallPlan:
    if not says_image_size(subject):
        plan.image_sizes = (_USUAL_IMAGE, *plan.image_sizes)
    return plan


def refine(plan: CallPlan, subject: nn.Module) -> None:
    """Puts what the model says of itself in front of the candidates, and asks for the inputs that it names."""
    _with_usual_images(plan, subject)
    known = {item.name: item for item in plan.parameters}
    for name, specs in _specs(subject.config).items():
        if name in known:
            known[name].candidates[:0] = specs
            if name.endswith("_ids"):
                # Of pixels and sounds there are as many layouts as models.
                plan.ranks[name] = frozenset(len(spec.dims) for spec in specs if isinstance(spec, TensorSpec))
    required = [item.name for item in plan.parameters if item.required]
    patched = _patched(subject.config, required)
    for name, specs in (patched or _patched(subject.config, known)).items():
        # Where a grid need not be given, images are rather images.
        at = 0 if patched or not known[name].required else 1
        known[name].candidates[at:at] = specs
        known[name].certain = tuple(specs) if patched else ()
    wanted = _wanted(subject, known)
    if wanted:
        own = inspect.signature(subject.forward).parameters
        for item in plan.parameters:
            # What is looked up among further arguments is handed on to parts, and set by few.
            item.required = item.name in wanted or (item.required and item.name in own)
            item.keyword = True


def _patched(config: Any, names: Iterable[str]) -> dict[str, list[Spec]]:
    return patched_inputs(names, _vision(config), _first(_vision(config), _CHANNELS) or 3)


def _vision(config: Any) -> Any:
    """The configuration of the part that looks at images."""
    return getattr(config, "vision_config", None) or getattr(config, "backbone_config", None) or config


def _specs(config: Any) -> dict[str, list[Spec]]:
    """Shapes by the names that transformers gives to inputs."""
    vision = _vision(config)
    channels = _first(vision, _CHANNELS) or _first(config, _CHANNELS) or 3
    parts = (vision, getattr(vision, "backbone_config", None), config)
    height, width = _pair(next((size for part in parts if (size := getattr(part, "image_size", None))), None))
    mels = _first(config, _MELS) or 80
    patches = getattr(config, "max_length", None) if _first(config, _MELS) else None
    spectrogram = TensorSpec(("B", patches if isinstance(patches, int) else "L", mels))
    wave = TensorSpec(("B", "A"))
    frames: Dimension = 2 * int(getattr(config, "max_source_positions", 0) or 0) or "L"
    video = getattr(config, "num_frames", None)
    ids: list[Spec] = [TensorSpec(("B", "T"), "int64")]
    later: list[Spec] = [TensorSpec(("B", "S"), "int64")]
    for count in _codes(config):
        ids.append(TensorSpec(("B", "T", count), "int64"))
        later.append(TensorSpec(("B", "S", count), "int64"))
    images: list[Spec] = [TensorSpec(("B", channels, height, width))]
    if isinstance(video, int):
        images.insert(0, TensorSpec(("B", video, channels, height, width)))
    return {
        "input_ids": ids,
        "decoder_input_ids": later,
        "pixel_values": images,
        "pixel_values_videos": images,
        "input_values": [spectrogram, wave] if isinstance(patches, int) else [wave, spectrogram],
        "input_features": [TensorSpec(("B", mels, frames)), TensorSpec(("B", frames, mels))],
    }


def _codes(config: Any) -> tuple[int, ...]:
    """How many codes of a sound there may be for each step: one for each codebook, and one more for text."""
    for part in (config, getattr(config, "decoder_config", None)):
        delays = getattr(part, "delay_pattern", None)
        count = len(delays) if isinstance(delays, list) else _first(part, ("num_codebooks", "n_codebooks"))
        if count:
            return count, count + 1
    return ()


def _first(config: Any, names: tuple[str, ...]) -> int | None:
    return next((value for name in names if isinstance(value := getattr(config, name, None), int)), None)


def _pair(size: Any) -> tuple[Dimension, Dimension]:
    if isinstance(size, int):
        return size, size
    if isinstance(size, tuple | list) and len(size) == 2:
        return int(size[0]), int(size[1])
    return "H", "W"
