"""The user's expressions at the nodes of a program that `torch.export` traces without Dynamo.

Torch keeps the lines of them at most. The hook wraps `torch.fx.proxy.TracerBase.create_proxy`, a public name, and notes
the Python frames that run, as `dynamo_positions` does where Dynamo traces; later passes carry the note along. It never
changes what is traced.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from torch.fx import Node
from torch.fx.proxy import TracerBase

from inductor_debug.rules.recording.ops import Frame

_KEY = "inductor_debug_frames"
Stack = Callable[[FrameType], tuple[Frame, ...]]


@contextmanager
def noted_frames(stack: Stack) -> Iterator[dict[int, tuple[Frame, ...]]]:
    """Has each node that is made say which number of the frames it comes from, until it is left.

    Args:
        stack: reads the visible frames from one outwards.
    """
    original = TracerBase.create_proxy
    frames: dict[int, tuple[Frame, ...]] = {}

    def create_proxy(self: Any, kind: str, *args: Any, **kwargs: Any) -> Any:
        proxy = original(self, kind, *args, **kwargs)
        if kind == "call_function" and (found := stack(sys._getframe(1))):
            number = len(frames)
            frames[number] = found
            meta = proxy.node.meta
            # A number: torch.export.save writes what is here as JSON.
            meta["custom"] = {**meta.get("custom", {}), _KEY: number}
        return proxy

    TracerBase.create_proxy = create_proxy  # type: ignore[method-assign]
    try:
        yield frames
    finally:
        TracerBase.create_proxy = original  # type: ignore[method-assign]


def number_at(node: Node) -> int | None:
    """The number of the frames that a node comes from; None where nothing noted them."""
    number: int | None = node.meta.get("custom", {}).get(_KEY)
    return number
