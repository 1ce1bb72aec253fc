"""Where Dynamo turns a size or number that could be any into the one that it is, by the expression that asks for it.

Torch tells of it in a log alone. This wraps `ShapeEnv._set_replacement`, by which a symbol becomes a number, and reads
which sources the symbol stands for (`ShapeEnv.var_to_sources`). Private names, read against torch 2.11 to 2.14; where
one is gone, nothing is said to be specialised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from inductor_debug.capture.dynamo.dynamo_positions import TracedStack, current_stack


@dataclass(frozen=True, slots=True)
class Specialised:
    """A symbol that became `value`. `source` is how torch reaches the size or number (`L['x'].size()[0]`)."""

    source: str
    value: int
    stack: TracedStack


@contextmanager
def specialisations(tell: Callable[[Specialised], None]) -> Iterator[None]:
    """Calls `tell` for each while Dynamo traces, until it is left."""
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    original: Any = getattr(ShapeEnv, "_set_replacement", None)
    if original is None:
        yield
        return

    def replaced(self: Any, a: Any, tgt: Any, *args: Any, **kwargs: Any) -> Any:
        known = a in self.replacements
        original(self, a, tgt, *args, **kwargs)
        if not known and self.replacements.get(a) == tgt and getattr(tgt, "is_Integer", False):
            stack = current_stack()
            for source in _sources_of(self, a) if stack else ():
                tell(Specialised(source, int(tgt), stack))

    ShapeEnv._set_replacement = replaced  # type: ignore[method-assign]
    try:
        yield
    finally:
        ShapeEnv._set_replacement = original  # type: ignore[method-assign]


def _sources_of(shape_env: Any, symbol: Any) -> Iterator[str]:
    for source in getattr(shape_env, "var_to_sources", {}).get(symbol, ()):
        name = getattr(source, "name", "")
        yield name() if callable(name) else str(name)
