"""What Dynamo was calling when a graph broke, as a qualified name: read off its own objects, never off its messages.

`InstructionTranslatorBase.call_function` is where every call of traced code passes; the variable that it calls holds
the real function (`value`, `fn`, `descriptor`), or an object and the name of its method (`obj`, `name`). From torch
2.15 one that only waits to break the graph holds nothing but where it comes from, which `resolve_source_value` looks
up. Private names, read against torch 2.11 to 2.15; where they are gone, nothing is known of what was called.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import FrameType
from typing import Any

from inductor_debug.capture.runtime import foreign

_MISSING = object()
_OWN = "torch._dynamo.variables"
"""Where functions are of Dynamo's own, which stand for something else."""


@dataclass(frozen=True, slots=True)
class Callee:
    """A function by where it is defined. `python` says that it is written in Python, so that it could be traced."""

    module: str
    name: str
    python: bool

    @property
    def qualified(self) -> str:
        """`time.time`; `print` for what is built in."""
        return self.name if self.module in ("builtins", "") else f"{self.module}.{self.name}"


def callee_at(frame: FrameType | None, translator: Any) -> Callee | None:
    """What `translator` was calling, seen from a frame of Dynamo's below it; None where it called nothing."""
    from torch._dynamo import symbolic_convert

    entry = getattr(symbolic_convert.InstructionTranslatorBase, "call_function", None)
    code = getattr(entry, "__code__", _MISSING)
    while frame is not None:
        if frame.f_code is code:
            values = frame.f_locals
            if values.get("self") is not translator:
                return None
            return _described(values.get("fn")) or _behind_source(values.get("fn"), translator)
        frame = frame.f_back
    return None


def forbidden_call(error: BaseException) -> tuple[Callee, Any] | None:
    """A function at which Dynamo fails instead of breaking the graph (`forbid_in_graph`), and the translator there.

    Args:
        error: what Dynamo raised.
    """
    from torch._dynamo import symbolic_convert

    code = getattr(getattr(symbolic_convert.InstructionTranslatorBase, "call_function", None), "__code__", _MISSING)
    traceback = error.__traceback__
    while traceback is not None:
        values = traceback.tb_frame.f_locals if traceback.tb_frame.f_code is code else {}
        held = _held_by(values.get("fn"))
        for value in (held.get("value"), held.get("fn")):
            if callable(value) and foreign.attribute(value, "_dynamo_forbidden", False) is True:
                return _of_function(value), values.get("self")
        traceback = traceback.tb_next
    return None


def _described(variable: Any) -> Callee | None:
    held = _held_by(variable)
    owner, name = held.get("obj"), held.get("name")
    if owner is not None and isinstance(name, str):
        kind = _type_of(owner)
        return None if kind is None else Callee(kind.__module__, f"{kind.__qualname__}.{name}", False)
    for attribute in ("value", "fn", "descriptor"):
        value = held.get(attribute)
        if callable(value):
            callee = _of_function(value)
            return None if callee.module.startswith(_OWN) else callee
    return None


def _behind_source(variable: Any, translator: Any) -> Callee | None:
    """The layer that a variable without a value stands for; other objects have a variable that holds them."""
    source = _held_by(variable).get("source")
    try:
        value = translator.output.resolve_source_value(source)
    except Exception:  # user code may be in between, and what a source cannot be resolved with changes with torch
        return None
    of_torch = (kind for kind in type(value).__mro__ if kind.__module__.startswith("torch.nn.modules."))
    layer = next(of_torch, None)
    return None if layer is None else Callee(layer.__module__, layer.__qualname__, True)


def _held_by(variable: Any) -> dict[str, Any]:
    """What a variable holds; of one that waits to be realised what it stands for, for asking it would begin a trace."""
    held = foreign.namespace(variable)
    cache = held.get("_cache")
    if cache is None:
        return held
    realised = foreign.namespace(cache).get("vt")
    return foreign.namespace(cache) if realised is None else _held_by(realised)


def _of_function(value: Any) -> Callee:
    named = value if foreign.text_attribute(value, "__qualname__") else type(value)
    owner = foreign.attribute(named, "__objclass__") or type(foreign.attribute(named, "__self__"))
    module = foreign.module_name(named) or foreign.module_name(owner)
    return Callee(module, foreign.text_attribute(named, "__qualname__"), foreign.code_of(value) is not None)


def _type_of(owner: Any) -> type | None:
    """The Python type of a variable of Dynamo's."""
    held = _held_by(owner)
    if "value" in held:
        value = held["value"]
        return value if isinstance(value, type) else type(value)
    try:
        found = owner.python_type()
    except Exception:  # which kinds of exception a variable without a type raises changes with torch
        return None
    return found if isinstance(found, type) else None
