"""Objects as inputs: which class of the project an argument with attributes of its own is, and what that is given.

Goes by annotations, and by the names of attributes where there are none. Nothing is made here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from torch import nn

from inductor_debug.capture.inference import signatures
from inductor_debug.capture.inference.constants import constants
from inductor_debug.capture.inference.specs import ConstantSpec
from inductor_debug.capture.inference.usage import Usage, own_class


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


def given_to(kind: Any, usage: Usage) -> list[str]:
    """What an instance is given: all that it must be, and whatever of the rest is asked of it."""
    if kind is SimpleNamespace:
        return list(usage.fields)
    parameters = signatures.by_name(kind)
    return [name for name, item in parameters.items() if item.default is item.empty or name in usage.fields]


def constant(kind: Any, name: str, usage: Usage) -> ConstantSpec | None:
    """The value of a field that is said to be no tensor: `near: float`."""
    item = signatures.by_name(kind).get(name)
    text = (
        ""
        if item is None or item.annotation is item.empty
        else str(getattr(item.annotation, "__name__", item.annotation))
    )
    if item is None or text not in ("int", "float", "bool", "str"):
        return None
    found = constants(item.replace(default=item.empty), usage, text)
    return next((spec for spec in found if isinstance(spec, ConstantSpec)), None)
