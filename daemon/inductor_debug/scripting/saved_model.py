"""A model or function of this process, written down for a worker to build: classes by name, state as data.

Objects are JSON and tensors a file that is loaded with `weights_only`; no constructor runs. What has no such form is
refused by name. Workers import this module, so it needs nothing but torch.
"""

from __future__ import annotations

import builtins
import collections
import enum
import importlib
import json
import operator
import sys
import weakref
from pathlib import Path
from typing import Any

import torch

_OBJECTS, _TENSORS = "objects.json", "tensors.pt"
_SEQUENCES = {kind.__name__: kind for kind in (list, tuple, set, frozenset, torch.Size)}
_MAPPINGS = {kind.__name__: kind for kind in (dict, collections.OrderedDict)}
_OF_TORCH = (torch.dtype, torch.device, torch.layout, torch.memory_format)


class NotSavableError(ValueError):
    """Something in the model has no form that another process could build; the message names it."""


def save(value: Any, folder: Path, module: str) -> None:
    """Writes `value` into the folder.

    Args:
        value: the model and its inputs.
        folder: for the files.
        module: the module whose names `load` is given, "" for none.

    Raises:
        NotSavableError: a part of it has no such form.
        OSError: the files cannot be written.
    """
    saving = _Saving(module)
    document = {"path": sys.path, "value": saving.form(value, "the model"), "objects": saving.objects}
    torch.save(saving.tensors, folder / _TENSORS)
    (folder / _OBJECTS).write_text(json.dumps(document), encoding="utf-8")


def load(folder: str, names: dict[str, Any]) -> Any:
    """What was saved in the folder; `names` are those of the module that was named when it was saved."""
    document = json.loads((Path(folder) / _OBJECTS).read_text(encoding="utf-8"))
    sys.path.extend(entry for entry in document["path"] if entry not in sys.path)
    tensors = torch.load(Path(folder) / _TENSORS, weights_only=True)
    return _Loading(document["objects"], tensors, names).value(document["value"])


class _Saving:
    """Turns values into JSON: `[kind, …]`. Objects and tensors stand once each, in lists, for others to refer to."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._known: dict[int, list[Any]] = {}
        self._kept: list[Any] = []
        self.objects: list[Any] = []
        self.tensors: list[torch.Tensor] = []

    def form(self, value: Any, where: str) -> list[Any]:
        """The form of a value; `where` is what messages call it."""
        if value is None or (isinstance(value, (bool, int, str)) and not isinstance(value, enum.Enum)):
            return ["plain", value]
        if type(value) in (float, complex):
            return [type(value).__name__, str(value)]
        if isinstance(value, _OF_TORCH):
            return [type(value).__name__, str(value).removeprefix("torch.")]
        if isinstance(value, enum.Enum):
            return ["name", *self._reference(type(value), where), value.name]
        if type(value) in _SEQUENCES.values():
            return [type(value).__name__, [self.form(item, f"{where}[{n}]") for n, item in enumerate(value)]]
        if type(value) in _MAPPINGS.values():
            pairs = [[self.form(key, where), self.form(item, f"{where}.{key}")] for key, item in value.items()]
            return [type(value).__name__, pairs]
        if isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
            return ["name", *self._reference(value, where)]
        if isinstance(value, weakref.ref):
            return ["weak", self.form(value(), where)]
        if id(value) not in self._known:
            self._kept.append(value)  # or another object may have its id
            self._known[id(value)] = self._shared(value, where)
        return self._known[id(value)]

    def _shared(self, value: Any, where: str) -> list[Any]:
        if type(value) in (torch.Tensor, torch.nn.Parameter):
            if value.layout is not torch.strided or not value.is_leaf:
                raise NotSavableError(f"{where} is a tensor that was computed, or sparse: detach it, or make it dense")
            self.tensors.append(value.detach())
            return [type(value).__name__, len(self.tensors) - 1, value.requires_grad]
        kind = type(value)
        if not _is_plain(kind):
            raise NotSavableError(f"{where} is a {kind.__name__}, which cannot be written down")
        reference = self._reference(kind, where)
        index = len(self.objects)
        self.objects.append(None)
        self._known[id(value)] = ["object", index]  # before its attributes, which may lead back to it
        self.objects[index] = [reference, self.form(vars(value), where)]
        return ["object", index]

    def _reference(self, value: Any, where: str) -> list[str]:
        """The module and name of a class or function: "" for the module of the file that is run."""
        name, module = value.__qualname__, getattr(value, "__module__", None) or "builtins"
        if module == self._module:
            names, module = vars(sys.modules[module]), ""
        elif module == "__main__":
            names = {}
        else:
            names = vars(sys.modules.get(module, builtins))
        try:
            found = operator.attrgetter(name)(_Names(names))
        except AttributeError:
            found = None
        if found is not value:
            mend = ": define it at the top of a module" if "<locals>" in name else ""
            raise NotSavableError(f"{where} is {name}, which no other process can import by its name{mend}")
        return [module, name]


class _Loading:
    """The way back."""

    def __init__(self, objects: list[Any], tensors: list[torch.Tensor], names: dict[str, Any]) -> None:
        self._forms, self._tensors, self._names = objects, tensors, names
        self._objects: dict[int, Any] = {}
        self._parameters: dict[int, torch.Tensor] = {}

    def value(self, form: list[Any]) -> Any:
        kind, content, *rest = form
        if kind == "plain":
            return content
        if kind in ("float", "complex"):
            return getattr(builtins, kind)(content)
        if kind == "device":
            return torch.device(content)
        if kind in ("dtype", "layout", "memory_format"):
            return getattr(torch, content)
        if kind == "name":
            return operator.attrgetter(".".join(rest))(self._module(content))
        if kind in _SEQUENCES:
            return _SEQUENCES[kind](map(self.value, content))
        if kind in _MAPPINGS:
            return _MAPPINGS[kind]((self.value(key), self.value(item)) for key, item in content)
        if kind == "weak":
            return weakref.ref(self.value(content))
        if kind == "object":
            return self._object(content)
        return self._tensor(kind, content, requires_grad=rest[0])

    def _module(self, name: str) -> Any:
        return importlib.import_module(name) if name else _Names(self._names)

    def _object(self, index: int) -> Any:
        if index not in self._objects:
            (module, name), attributes = self._forms[index]
            made = object.__new__(operator.attrgetter(name)(self._module(module)))
            self._objects[index] = made
            made.__dict__.update(self.value(attributes))
        return self._objects[index]

    def _tensor(self, kind: str, index: int, *, requires_grad: bool) -> torch.Tensor:
        if index not in self._parameters:
            held = self._tensors[index]
            made = (
                torch.nn.Parameter(held, requires_grad) if kind == "Parameter" else held.requires_grad_(requires_grad)
            )
            self._parameters[index] = made
        return self._parameters[index]


class _Names:
    """Names as attributes, for `attrgetter`."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.__dict__ = names


def _is_plain(kind: type) -> bool:
    """Whether objects of the class are their `__dict__`, and nothing besides it."""
    usual = all(getattr(kind, name) is getattr(object, name) for name in ("__new__", "__reduce__", "__reduce_ex__"))
    slots = any(getattr(base, "__slots__", ()) for base in kind.__mro__)
    return usual and not slots and bool(kind.__dictoffset__)
