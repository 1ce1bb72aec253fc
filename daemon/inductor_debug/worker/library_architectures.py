"""A short process in the user's interpreter that lists the architectures of an installed library, as small files.

For each architecture there are texts of files that build it from its configuration, without weights, the smallest
first: one that too few layers leave a part out of is tried with more. Nothing is built here: whether an architecture
can be built is learned where its file is analysed. The answer is one JSON document.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from inductor_debug.worker import descriptors

_READ_FROM_TEXT = ("_can_set_attn_implementation", "_can_set_experts_implementation")
"""Methods that look for words in the file of a class (transformers 5)."""
_LAYERS = re.compile(r"(num_|n_)?((text|vision|audio|encoder|decoder|hidden|main|prediction)_)*(layers?|blocks)")
"""Names of a configuration's whole numbers that say how many layers a tower has."""
_MORE = (2, 4)
"""How many times as many layers are tried next where the first count leaves a part out, before all of them."""
_USUAL = ("num_hidden_layers", "num_layers", "n_layer")


def main(configuration: Mapping[str, Any]) -> NoReturn:
    """Writes `{"architectures": [{"name", "texts"}], "problem"}` of `configuration["library"]`.

    `wanted` is a regular expression that the whole name fits, `layers` how many layers there are to be (0 for all),
    `config` are arguments of the configuration as they are written in Python, and `directive` is what a directive says
    of the class; empty where inputs are to be inferred.
    """
    answer = os.dup(1)
    descriptors.redirect_standard_streams(os.dup(2))
    warnings.simplefilter("ignore")
    found: dict[str, Any] = {"architectures": [], "problem": ""}
    try:
        names = _LIBRARIES[configuration["library"]](configuration)
        found["architectures"] = [{"name": name, "texts": texts} for name, texts in names]
    except Exception as error:  # whatever a library raises is the answer
        found["problem"] = _problem(configuration["library"], error)
    with os.fdopen(answer, "w", encoding="utf-8") as stream:
        json.dump(found, stream)
    os._exit(0)  # threads and exit handlers of libraries have nothing to add


def _problem(library: str, error: Exception) -> str:
    """What to tell of a library that cannot be listed: it, or what it needs, is not there, or does not fit torch."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        missing = error.name.partition(".")[0]
        lacking = f"no {missing}" if missing == library else f"{library} but no {missing}, which that needs"
        return f"{sys.executable} has {lacking}: install it there, or name another interpreter with --python"
    from inductor_debug.capture.failures.broken_libraries import broken_library

    told = broken_library(error)
    return told or f"the models of {library} cannot be listed: {type(error).__name__}: {error}"


def _transformers(asked: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Every class that transformers makes of a configuration, and others that are named exactly."""
    transformers = importlib.import_module("transformers")
    pairs = transformers_pairs()
    wanted = asked["wanted"]
    exact = getattr(transformers, wanted, None) if wanted.isidentifier() else None
    config_class = getattr(exact, "config_class", None)
    if wanted not in pairs and config_class is not None:
        pairs = {wanted: config_class.__name__}
    for name in sorted(name for name in pairs if re.fullmatch(wanted, name)):
        config = pairs[name]
        written = [""]
        if asked["layers"]:
            try:
                written = list(configurations(getattr(transformers, config)(), asked["layers"]))
            except Exception:  # a configuration that cannot be made tells so where the file is analysed
                written = [""]
        texts = [
            transformers_source(name, config, ", ".join(filter(None, (arguments, asked["config"]))), asked["directive"])
            for arguments in written
        ]
        yield name, list(dict.fromkeys(texts))


def transformers_pairs() -> dict[str, str]:
    """The classes of models that transformers makes of a configuration, each with the class of that."""
    mapping = importlib.import_module("transformers.models.auto.modeling_auto").MODEL_MAPPING_NAMES
    configs = importlib.import_module("transformers.models.auto.configuration_auto").CONFIG_MAPPING_NAMES
    pairs: dict[str, str] = {}
    for kind, models in mapping.items():
        for name in (models,) if isinstance(models, str) else models:
            pairs[name] = configs[kind]
    return pairs


def configurations(config: Any, layers: int) -> Iterator[str]:
    """Arguments of a configuration with so many layers in each tower, then with more, then with all."""
    for count in (layers, *(layers * factor for factor in _MORE)):
        yield from (
            words for words in list(shrunk_configurations(config, count))[: 3 if count == layers else 1] if words
        )
    yield ""


def shrunk_configurations(config: Any, count: int) -> Iterator[str]:
    """Arguments of a configuration with so many layers, the ones that shrink most first, and none."""
    towers = {
        name: {"model_type": part.model_type, **layers}
        for name in getattr(config, "sub_configs", None) or {}
        if (part := getattr(config, name, None)) is not None and (layers := shrunk(part.to_dict(), count))
    }
    own = shrunk(config.to_dict(), count)
    named = {name: own[name] for name in own if name in _USUAL}
    for arguments in (own | towers, named | towers, own, {}):
        yield ", ".join(f"{name}={value!r}" for name, value in arguments.items())


def shrunk(known: Mapping[str, Any], count: int) -> dict[str, int]:
    """Those of a configuration's values that say how many layers there are, where they are more, made so many."""
    return {
        name: count for name, value in known.items() if _LAYERS.fullmatch(name) and type(value) is int and value > count
    }


def transformers_source(name: str, config: str, arguments: str, directive: str = "") -> str:
    """A file as a user would write it; without a `directive` it declares no inputs."""
    imports = f"from transformers import {config}, {name}\n"
    # Which attention and which experts a class may have the library reads from the text around the class.
    kind = getattr(importlib.import_module("transformers"), name, None)
    asked = "".join(f"    {each} = {name}.{each}\n" for each in _READ_FROM_TEXT if hasattr(kind, each))
    asked += "\n" if asked else ""
    built = f"class Model({name}):\n{asked}    def __init__(self):\n        super().__init__({config}({arguments}))\n"
    return f"{'import torch' + chr(10) if directive else ''}{imports}\n\n{_comment(directive)}{built}"


def _torchvision(asked: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    models = importlib.import_module("torchvision.models")
    for name in sorted(name for name in models.list_models() if re.fullmatch(asked["wanted"], name)):
        builder = models.get_model_builder(name)
        home = builder.__module__.removeprefix("torchvision.models").strip(".")
        inputs = _LARGER_IMAGES if name == "inception_v3" else _VISION_INPUTS.get(home.partition(".")[0], _IMAGES)
        backbone = "weights_backbone=None" if "weights_backbone" in inspect.signature(builder).parameters else ""
        arguments = "".join(f", {words}" for words in ("weights=None", backbone, asked["config"]) if words)
        built = f'get_model("{name}"{arguments})'
        yield (
            name,
            [_wrapped("from torchvision.models import get_model", built, asked["directive"] or _called_with(inputs))],
        )


def _timm(asked: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    timm = importlib.import_module("timm")
    for name in sorted(name for name in timm.list_models() if re.fullmatch(asked["wanted"], name)):
        known = timm.models.get_pretrained_cfg(name)
        size = getattr(known, "input_size", None) or (3, 224, 224)
        directive = asked["directive"] or _called_with(f"(torch.randn(2, {', '.join(map(str, size))}),)")
        arguments = "".join(f", {words}" for words in ("pretrained=False", asked["config"]) if words)
        yield name, [_wrapped("import timm", f'timm.create_model("{name}"{arguments})', directive)]


_IMAGES = "(torch.randn(2, 3, 224, 224),)"
_LARGER_IMAGES = "(torch.randn(2, 3, 299, 299),)"
_VISION_INPUTS = {
    "detection": "([torch.randn(3, 320, 320)],)",
    "video": "(torch.randn(1, 3, 16, 112, 112),)",
    "optical_flow": "(torch.randn(1, 3, 128, 128), torch.randn(1, 3, 128, 128))",
}
"""What the models of a part of torchvision are called with; images elsewhere."""
_LIBRARIES: dict[str, Callable[[Mapping[str, Any]], Iterator[tuple[str, list[str]]]]] = {
    "transformers": _transformers,
    "torchvision": _torchvision,
    "timm": _timm,
}


def _called_with(inputs: str) -> str:
    return f"inputs={inputs}, eval"


def _wrapped(imports: str, built: str, directive: str) -> str:
    """A file with a class around what a function of the library builds."""
    return (
        f"import torch\n{imports}\n\n\n{_comment(directive)}class Model(torch.nn.Module):\n"
        f"    def __init__(self):\n        super().__init__()\n        self.model = {built}\n\n"
        "    def forward(self, *inputs):\n        return self.model(*inputs)\n"
    )


def _comment(directive: str) -> str:
    return f"# inductor-debug: {directive}\n" if directive else ""
