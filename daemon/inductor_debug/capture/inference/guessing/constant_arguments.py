"""Arguments of a call that are no tensors: flags, texts, numbers and functions."""

from __future__ import annotations

import ast
import inspect

import torch

from inductor_debug.capture.inference.specs import argument_names
from inductor_debug.capture.inference.specs.specs import ConstantSpec, Spec
from inductor_debug.capture.inference.usage.usage import Usage
from inductor_debug.capture.runtime import foreign


def constants(parameter: inspect.Parameter, usage: Usage, text: str) -> list[Spec]:
    """Values that are no tensors: the default, what the annotation or the code asks for, what the name suggests."""
    if parameter.default is not inspect.Parameter.empty and parameter.default is not None:
        return [ConstantSpec(foreign.representation(parameter.default), parameter.default)]
    plain = text.replace("typing.", "").replace("Optional[", "").replace(" | None", "").strip("]'\" ")
    typed = {
        "bool": [ConstantSpec("False", False), ConstantSpec("True", True)],
        "int": [ConstantSpec("1", 1), ConstantSpec("2", 2), ConstantSpec("0", 0)],
        "float": [ConstantSpec("0.5", 0.5), ConstantSpec("1.0", 1.0)],
    }
    if plain in typed:
        return list(typed[plain])
    texts = [*usage.texts, "train", "mean"]
    if plain == "str" or "text" in usage.roles:
        return [ConstantSpec(repr(item), item) for item in texts]
    if plain.startswith("Literal["):
        return _literals(plain)
    if "callable" in usage.roles or "Callable" in plain:
        return [ConstantSpec("torch.relu", torch.relu)]
    if "tensor" in usage.roles or usage.specs:
        return []
    if "place" in usage.roles:
        return list(typed["int"][::-2])
    if "sizes" in usage.roles:
        return [ConstantSpec("(16, 16)", (16, 16)), ConstantSpec("(16,)", (16,))]
    if "number" in usage.roles:
        return list(typed["int"][1::-1])
    return argument_names.constants_for(parameter.name) or (list(typed["bool"]) if "flag" in usage.roles else [])


def _literals(text: str) -> list[Spec]:
    try:
        values = ast.literal_eval("(" + text[len("Literal[") :].rstrip("]") + ",)")
    except (SyntaxError, ValueError):
        return []
    return [ConstantSpec(repr(value), value) for value in values]
