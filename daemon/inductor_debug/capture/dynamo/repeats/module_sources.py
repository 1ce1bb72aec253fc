"""Whether traced code came upon modules and weights only where they are registered, and never asked which one it has.

Code that finds a module by way of some other object, looks one up in a table, or compares two, may do for the third of
eighty layers what it does for no other, however alike they are. Private names of Dynamo's, read against torch 2.13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from inductor_debug.capture.dynamo.repeats.replaced_methods import replaced

_REGISTRIES = ("_modules", "_parameters", "_buffers")
_CONTAINERS = (list, tuple, set, frozenset, dict)
_ROOT = "L['self']"
"""The source of the model, where it is what is compiled."""


def of_another(source: Any, base: Any, other: Any) -> Any:
    """What `source` is for the module that `other` is the source of, in place of the one that `base` is."""
    return source.clone(lambda each: other if each == base else each)


class ModuleSources:
    """The sources of modules and weights that one trace of `model` came upon."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._model = model
        self._weights = {id(each) for each in (*model.parameters(), *model.buffers())}
        self._known: dict[Any, bool] = {}
        self._output: Any = None
        self._values: dict[Any, Any] = {}

    def are_registered(self, output: Any) -> bool:
        """Whether every module and weight that was met so far in a trace was met where it is registered."""
        return all(self._is_registered(source, output) for source in output.current_tracer.traced_sources)

    def _is_registered(self, source: Any, output: Any) -> bool:
        known = self._known.get(source)
        if known is None:
            known = self._known[source] = self._judged(source, output)
        return known

    def _value(self, source: Any, output: Any) -> Any:
        """What a source stands for. Nothing that it leads through changes while Dynamo traces."""
        if output is not self._output:
            self._output, self._values = output, {}
        root = output.root_tx
        return source.get_value({"G": root.f_globals, "L": root.f_locals}, {}, self._values)

    def _judged(self, source: Any, output: Any) -> bool:
        value = self._value(source, output)
        base = getattr(source, "base", None)
        if isinstance(value, torch.nn.Module):
            return source.name == _ROOT if base is None else self._is_part(value, base, output)
        if isinstance(value, torch.Tensor) and id(value) in self._weights:
            return base is not None and self._is_part(value, base, output)
        if isinstance(value, _CONTAINERS) and _holds_modules(value):
            owner = None if base is None else self._value(base, output)
            return isinstance(owner, torch.nn.Module) and value is owner._modules
        return True

    def _is_part(self, value: Any, base: Any, output: Any) -> bool:
        """Whether a module or a weight is registered in the module that `base` is, or has the registry of."""
        owner = self._value(base, output)
        if owner is value:
            return self._is_registered(base, output)
        if not isinstance(owner, torch.nn.Module):
            base = getattr(base, "base", None)
            holder = None if base is None else self._value(base, output)
            if not isinstance(holder, torch.nn.Module) or not any(owner is vars(holder)[name] for name in _REGISTRIES):
                return False
            owner = holder
        registered = any(part is value for name in _REGISTRIES for part in vars(owner)[name].values())
        return registered and self._is_registered(base, output)


class _Asked:
    """Who is told. Dynamo remembers for good how operators are compared, and thereby what was put there first."""

    listener: Callable[[], None] | None = None

    @classmethod
    def tell(cls) -> None:
        if cls.listener is not None:
            cls.listener()


@contextmanager
def identities_watched(on_asked: Callable[[], None]) -> Iterator[None]:
    """Calls `on_asked` where traced code asks which module, tensor or container it has, while it is entered."""
    from torch._dynamo.variables import builtin, nn_module, object_protocol, tensor

    def comparing(original: Callable[..., Any]) -> Callable[..., Any]:
        def compare(left: Any, right: Any) -> Any:
            if _has_identity(left) and _has_identity(right):
                _Asked.tell()
            return original(left, right)

        return compare

    def comparing_tensors(original: Callable[..., Any]) -> Callable[..., Any]:
        def compare(operator: Any, translator: Any, left: Any, right: Any) -> Any:
            if operator.fn.__name__ in ("is_", "is_not") and left.is_tensor() and right.is_tensor():
                _Asked.tell()
            return original(operator, translator, left, right)

        return compare

    def asking(original: Callable[..., Any]) -> Callable[..., Any]:
        def ask(*args: Any, **kwargs: Any) -> Any:
            _Asked.tell()
            return original(*args, **kwargs)

        return ask

    modules, tensors = nn_module.UnspecializedNNModuleVariable, tensor.TensorVariable
    with (
        replaced(builtin, "vt_identity_compare", comparing),
        replaced(object_protocol, "vt_identity_compare", comparing),
        replaced(builtin.BuiltinVariable, "_comparison_with_tensor", comparing_tensors),
        replaced(modules, "hash_impl", asking),
        replaced(modules, "get_id", asking),
        replaced(modules, "is_python_equal", asking),
        replaced(tensors, "hash_impl", asking),
        replaced(tensors, "get_id", asking),
    ):
        before, _Asked.listener = _Asked.listener, on_asked
        try:
            yield
        finally:
            _Asked.listener = before


def _has_identity(tracker: Any) -> bool:
    """Whether something is what two modules that are alike may have two of."""
    value = tracker.get_real_python_backed_value()
    return tracker.is_tensor() or isinstance(value, (torch.nn.Module, torch.Tensor, *_CONTAINERS)) or _is_made(tracker)


def _is_made(tracker: Any) -> bool:
    """Whether Dynamo knows something as a container."""
    return type(tracker).__name__.endswith(("DictVariable", "ListVariable", "SetVariable"))


def _holds_modules(value: Any) -> bool:
    items = [*value, *value.values()] if isinstance(value, dict) else value
    return any(isinstance(item, torch.nn.Module) for item in items)
