"""Objects as inputs: which class of the project an argument with attributes of its own is, and what that is given.

Goes by annotations, and by the names of attributes where there are none. Nothing is made here.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from torch import nn

from inductor_debug.capture.inference.construction import signatures
from inductor_debug.capture.inference.guessing.constant_arguments import constants
from inductor_debug.capture.inference.specs import argument_names
from inductor_debug.capture.inference.specs.specs import ConstantSpec, SequenceSpec, Spec
from inductor_debug.capture.inference.usage.usage import Usage, own_class


def kinds_for(usage: Usage, namespace: Mapping[str, Any]) -> Iterator[Any]:
    """The classes that an argument may be an instance of, likeliest first; none for tensors and containers."""
    if usage.kind is None and not usage.fields:
        return
    known = [usage.kind] if usage.kind is not None else []
    if not known and len(usage.fields) > 1:
        own = [kind for kind in namespace.values() if own_class(kind, kind) is not None and kind is not usage.kind]
        known = [kind for kind in own if usage.fields.keys() <= signatures.by_name(kind).keys()][:2]
    for kind in dict.fromkeys(known):
        if not issubclass(kind, nn.Module) and usage.fields.keys() & signatures.by_name(kind).keys():
            yield kind
    if usage.fields:
        yield SimpleNamespace


def is_within(kind: Any, usage: Usage, around: list[tuple[Any, Usage]]) -> bool:
    """Whether an object stands in another of its kind, as the nodes of a tree do: there the tree ends."""
    if kind is not SimpleNamespace:
        return any(outer is kind for outer, _ in around)
    return any(outer is kind and usage.fields.keys() & above.fields.keys() for outer, above in around)


def ending(usage: Usage) -> Spec | None:
    """What a node of a tree has in place of others below it; None for anything else."""
    if usage.iterated or usage.count is not None or any(isinstance(key, int) for key in usage.parts):
        return SequenceSpec((), True)
    return ConstantSpec("None", None) if usage.fields else None


def given_to(kind: Any, usage: Usage, *, leaf: bool = False) -> list[str]:
    """What an instance is given: all that it must be, and, but for the `leaf` of a tree, what is asked of it."""
    if kind is SimpleNamespace:
        return list(usage.fields)
    parameters = signatures.by_name(kind)
    return [
        name
        for name, item in parameters.items()
        if item.default is item.empty or (name in usage.fields and not (leaf and ending(usage.fields[name])))
    ]


def constant(kind: Any, name: str, usage: Usage) -> ConstantSpec | None:
    """The value of a field that is no tensor, as it is said (`near: float`) or as the code shows."""
    item = signatures.by_name(kind).get(name) or inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY)
    text = signatures.spelled(item.annotation)
    shown = {"number", "text", "flag"} & set(usage.roles) or argument_names.constants_for(name)
    if text not in ("int", "float", "bool", "str") and not shown:
        return None
    found = constants(item.replace(default=item.empty), usage, text)
    return next((spec for spec in found if isinstance(spec, ConstantSpec)), None)
