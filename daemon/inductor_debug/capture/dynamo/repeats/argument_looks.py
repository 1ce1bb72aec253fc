"""What calls are given and give back in Dynamo's trace, as far as one such thing can be held to be like another.

Nothing is built that Dynamo has not built yet: what is still to be is known by where it comes from. Private names of
Dynamo's, read against torch 2.13.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import Node

from inductor_debug.capture.dynamo.repeats.equal_modules import PLAIN, NotUnderstoodError, look_of
from inductor_debug.capture.dynamo.repeats.made_objects import is_made


@dataclass(frozen=True, slots=True)
class Given:
    """What a call is given: `look` is equal where it looks the same.

    `tensors` are the intermediate ones, `objects` are others that the trace has made.
    """

    look: Any
    tensors: tuple[Any, ...]
    objects: tuple[Any, ...] = ()

    @property
    def nodes(self) -> list[Node]:
        """The nodes of the intermediate tensors."""
        return [each.proxy.node for each in self.tensors]


@dataclass
class _Found:
    tensors: dict[Node, Any] = field(default_factory=dict)
    objects: list[Any] = field(default_factory=list)


def given_to(args: Any, kwargs: Any) -> Given | None:
    """What a call is given; None where that holds something of which nobody can say whether it is like another."""
    found = _Found()
    try:
        look = (
            tuple(_look(item, found) for item in args),
            tuple((name, _look(item, found)) for name, item in kwargs.items()),
        )
    except NotUnderstoodError:
        return None
    return Given(look, tuple(found.tensors.values()), tuple(found.objects))


def tensors_of(result: Any) -> list[Any] | None:
    """The tensors in what a call gave back; None where that is more than tensors, None and tuples of them."""
    from torch._dynamo import variables

    kind = type(result)
    if kind is variables.TensorVariable:
        return [result]
    if kind is variables.ConstantVariable:
        return [] if result.value is None else None
    if kind is not variables.TupleVariable:
        return None
    found: list[Any] = []
    for item in result.items:
        inner = tensors_of(item)
        if inner is None:
            return None
        found += inner
    return found


def example_of(node: Node) -> Any:
    """The value that Dynamo has of a node."""
    return node.meta.get("example_value")


def _look(tracker: Any, found: _Found) -> Any:
    from torch._dynamo import variables

    kind = type(tracker)
    if getattr(kind, "_no_implicit_realize", False):
        # Lazy: to ask it for more would build it, which is for the trace to do.
        if tracker.source is None or not isinstance(tracker._cache.value, (*PLAIN, torch.Tensor)):
            raise NotUnderstoodError
        return "of", tracker.source.name
    if kind is variables.TensorVariable:
        node = tracker.proxy.node
        if tracker.source is not None:
            return "of", tracker.source.name, node.name, look_of(example_of(node))
        if node in found.tensors:
            return "again", list(found.tensors).index(node)
        found.tensors[node] = tracker
        return "tensor", look_of(example_of(node)), tracker._is_name_set
    if kind is variables.ConstantVariable:
        return "of" if tracker.source else "is", type(tracker.value), repr(tracker.value)
    if kind is variables.TupleVariable:
        return "tuple", tuple(_look(item, found) for item in tracker.items)
    if is_made(tracker):
        found.objects.append(tracker)
        return "made", id(tracker)
    raise NotUnderstoodError
