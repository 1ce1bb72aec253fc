"""Sends code that names an accelerator to the CPU, on a machine that has no such accelerator.

A model written for `cuda` has the same shapes, dtypes and strides on the CPU, which is all that checks need; so
`.cuda()`, `.to("cuda")`, `device="cuda"` and `torch.cuda.synchronize()` must not end an analysis. `is_available()`
keeps telling the truth. Nothing is initialised: a device that exists is left alone. Names that only an accelerator's
own package teaches torch (`spyre`, `npu`) are taught where that package is missing.
"""

from __future__ import annotations

import contextlib
import functools
import re
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo import output_graph
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.user_defined import UserDefinedClassVariable
from torch.overrides import TorchFunctionMode
from torch.utils import backend_registration

from inductor_debug.capture.runtime import foreign
from inductor_debug.source.device_words import KINDS

_CPU = torch.device("cpu")
_TYPES_OF_CUDA = "torch.cuda."
_NAMED = re.compile(rf"(?:[\"']|device string: )({'|'.join(KINDS)})\b")
_DEVICE_WORDS = re.compile(
    r"device string|not (?:linked|compiled) with|NVIDIA driver|without \w+ (?:backend|library)|not available"
    r"|[Dd]evice index|access accelerator device"
)
_MOVES = frozenset(getattr(torch.Tensor, kind) for kind in KINDS if hasattr(torch.Tensor, kind))


def is_about_a_device(error: BaseException) -> bool:
    """Whether `error` complains that a device is missing."""
    return _DEVICE_WORDS.search(str(error)) is not None


def teach_names(text: str) -> None:
    """Has torch accept the first accelerator that `text` (a source, torch's complaint) names and torch does not know.

    It lasts as long as the process, and torch learns one name only; its package would do the same when imported.
    """
    unknown = next((kind for kind in _NAMED.findall(text) if not _is_known(kind)), None)
    if unknown is not None:
        with contextlib.suppress(RuntimeError):  # torch knows another one already
            backend_registration.rename_privateuse1_backend(unknown)
            torch._register_device_module(unknown, _absent_module(unknown))  # type: ignore[no-untyped-call] # for Dynamo


def _is_known(kind: str) -> bool:
    try:
        torch.device(kind)
    except RuntimeError:
        return False
    return True


class Redirector:
    """Replaces devices that are not there, and remembers which were asked for."""

    def __init__(self) -> None:
        self._absent: dict[str, bool] = {}
        self._asked: list[str] = []
        self._replacements: list[tuple[Any, str, Any]] | None = None

    @property
    def notes(self) -> list[str]:
        """One sentence for each device that was asked for in vain."""
        return [
            f"This machine has no {kind!r} device: what the code puts there ran on the CPU." for kind in self._asked
        ]

    def is_absent(self, kind: str) -> bool:
        """Whether `kind` names an accelerator that this machine lacks; remembers that it was asked for."""
        absent = kind in KINDS and self._is_missing(kind)
        if absent and kind not in self._asked:
            self._asked.append(kind)
        return absent

    def _is_missing(self, kind: str) -> bool:
        if kind not in self._absent:
            self._absent[kind] = not _is_available(kind)
        return self._absent[kind]

    def replace(self, value: Any) -> Any:
        """The CPU for an absent device, given as a `torch.device` or as a string; anything else as it is.

        Types of tensors, `torch.cuda.LongTensor` or its name, are those of the CPU.
        """
        if isinstance(value, torch.device):
            return _CPU if self.is_absent(value.type) else value
        if type(value) is _LegacyType:
            return value.on_cpu
        if type(value) is str:
            kind, _, index = value.partition(":")
            if kind in KINDS and (not index or index.isdigit()) and self.is_absent(kind):
                return "cpu"
            if value.startswith(_TYPES_OF_CUDA) and self.is_absent("cuda"):
                return f"torch.{value.removeprefix(_TYPES_OF_CUDA)}"
        return value

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a torch function with absent devices replaced; the same objects where there are none."""
        if any(self.replace(value) is not value for value in args):
            args = tuple(self.replace(value) for value in args)
        if any(self.replace(value) is not value for value in kwargs.values()):
            kwargs = {name: self.replace(value) for name, value in kwargs.items()}
        device = kwargs.get("device")
        if type(device) is int and self.is_absent("cuda"):  # a bare index means CUDA
            kwargs = {**kwargs, "device": _CPU}
        return args, kwargs

    def moving(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of `Tensor.to`: a number is a device of CUDA's, or what `get_device` says of the CPU, -1."""
        numbered = len(args) > 1 and type(args[1]) is int and self.is_absent("cuda")
        return (args[0], _CPU, *args[2:]) if numbered else args

    @contextlib.contextmanager
    def active(self, *, arguments: bool = True) -> Iterator[None]:
        """Redirects everything that runs eagerly inside; not meant to be on while Dynamo traces.

        Args:
            arguments: look at the devices that torch functions are given, which costs a call of Python for each of
                them. Without it only `torch.cuda.synchronize()` and its like are replaced.
        """
        if self._replacements is None:
            self._replacements = self._find_replacements()
        before = [(owner, name, getattr(owner, name)) for owner, name, _ in self._replacements]
        try:
            for owner, name, value in self._replacements:
                setattr(owner, name, value)
            with _RedirectMode(self) if arguments else contextlib.nullcontext():
                yield
        finally:
            for owner, name, value in before:
                setattr(owner, name, value)

    @contextlib.contextmanager
    def traced(self) -> Iterator[None]:
        """Redirects what Dynamo captures inside, where torch has the hook for it (private; torch 2.11 to 2.13).

        Frames that Dynamo leaves alone run as they are, with the methods of tensors redirected. A mode would be traced,
        and functions that make tensors are known to Dynamo by their identity: those keep their devices there.
        """
        tracer = getattr(output_graph, "SubgraphTracer", None)
        before = getattr(tracer, "create_proxy", None)
        if tracer is None or before is None:
            yield
            return
        redirector = self

        def create_proxy(self: Any, kind: str, target: Any, args: Any, kwargs: Any, *rest: Any, **named: Any) -> Any:
            if kind == "call_method" and target in KINDS and redirector.is_absent(target):
                target, args, kwargs = "cpu", args[:1], {}
            elif kind in ("call_function", "call_method"):
                args, kwargs = redirector.arguments(args, kwargs)
                args = redirector.moving(args) if kind == "call_method" and target == "to" else args
            return before(self, kind, target, args, kwargs, *rest, **named)

        as_argument, as_constructor = UserDefinedClassVariable.as_proxy, UserDefinedClassVariable.call_function

        def as_proxy(self: Any) -> Any:
            return f"torch.{self.value.__name__}" if type(self.value) is _LegacyType else as_argument(self)

        def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
            if type(self.value) is _LegacyType:
                return VariableTracker.build(tx, self.value.on_cpu).call_function(tx, args, kwargs)
            return as_constructor(self, tx, args, kwargs)

        with contextlib.ExitStack() as stack:
            stack.enter_context(_replaced(tracer, "create_proxy", create_proxy))
            stack.enter_context(_replaced(UserDefinedClassVariable, "as_proxy", as_proxy))
            stack.enter_context(_replaced(UserDefinedClassVariable, "call_function", call_function))
            for name, method in self._methods():
                stack.enter_context(_replaced(torch.Tensor, name, method))
            for owner, name, value in self._find_legacy_types():
                stack.enter_context(_replaced(owner, name, value))
            yield

    def _methods(self) -> Iterator[tuple[str, Any]]:
        """Names of methods of tensors that move them, and what moves them to devices that are there."""

        def to(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
            args, kwargs = self.arguments(args, kwargs)
            return _to(*self.moving((tensor, *args)), **kwargs)

        def as_type(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            args, kwargs = self.arguments(args, kwargs)
            return _type(tensor, *args, **kwargs)

        yield "to", to
        yield "type", as_type
        for kind in KINDS:
            if hasattr(torch.Tensor, kind) and self._is_missing(kind):
                yield kind, self._noted(kind, lambda tensor, *args, **kwargs: tensor)

    def _find_replacements(self) -> list[tuple[Any, str, Any]]:
        """(owner, name, value) for all that is replaced: functions of `torch.cuda` and its like start the device."""
        found: list[tuple[Any, str, Any]] = [
            (torch, "set_default_device", self._set_default_device),
            (torch, "Generator", self._generator_class()),
            (torch, "set_default_tensor_type", lambda kind: _set_default_tensor_type(self.replace(kind))),
            (torch.nn.Module, "to", self._module_to()),
        ]
        for kind in KINDS:
            module = getattr(torch, kind, None)
            if isinstance(module, types.ModuleType) and self._is_missing(kind):
                found += [
                    (module, name, self._noted(kind, _STAND_INS[name])) for name in _STAND_INS if name in vars(module)
                ]
        return [*found, *self._find_legacy_types()]

    def _find_legacy_types(self) -> Iterator[tuple[Any, str, Any]]:
        """`torch.cuda.LongTensor` and its like, which make tensors of a device: they make such of the CPU.

        No tensor is one of theirs, as `torch.cuda.is_available()` says: `isinstance` chooses what it does without them.
        """
        for name in vars(torch.cuda) if self._is_missing("cuda") else ():
            if name.endswith("Tensor") and hasattr(torch, name):
                yield torch.cuda, name, _LegacyType(name, (), {"on_cpu": getattr(torch, name)})

    def _noted(self, kind: str, stand_in: Any) -> Any:
        """The stand-in, and a note when it is used. Classes stay classes, for annotations and `isinstance`."""
        if isinstance(stand_in, type):
            return stand_in

        def noted(*args: Any, **kwargs: Any) -> Any:
            self.is_absent(kind)
            return stand_in(*args, **kwargs)

        return noted

    def _module_to(self) -> Any:
        """`Module.to`, which asks torch for the device that a number means before any tensor is moved."""
        redirector = self

        @functools.wraps(_module_to)
        def to(self: torch.nn.Module, *args: Any, **kwargs: Any) -> torch.nn.Module:
            args, kwargs = redirector.arguments(args, kwargs)
            moved: torch.nn.Module = _module_to(*redirector.moving((self, *args)), **kwargs)
            return moved

        return to

    def _set_default_device(self, device: Any) -> None:
        _set_default_device(self.replace(device))

    def _generator_class(self) -> type[torch.Generator]:
        redirector = self

        class Generator(torch.Generator, metaclass=_GeneratorType):
            """A `torch.Generator` on a device that exists."""

            def __new__(cls, device: Any = "cpu") -> Generator:
                return super().__new__(cls, redirector.replace(device))  # type: ignore[call-arg]

        return Generator


class _RedirectMode(TorchFunctionMode):
    def __init__(self, redirector: Redirector) -> None:
        super().__init__()
        self._redirector = redirector

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _MOVES and self._redirector.is_absent(func.__name__):
            return args[0]
        args, kwargs = self._redirector.arguments(args, kwargs or {})
        plain = getattr(func, "__wrapped__", func)  # also where others watch it
        if plain is _to:
            args = self._redirector.moving(args)
        elif plain is _type:
            args = tuple(torch.Tensor if _is_fake(value) else value for value in args)
        return func(*args, **kwargs)


class _GeneratorType(type(torch.Generator)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _Generator)


class _LegacyType(type):
    """The kind of `torch.cuda.FloatTensor` where there is no CUDA."""

    on_cpu: Any

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.on_cpu(*args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        return False


class _Handle:
    """Stands in for streams, events and device contexts: accepts every call and every `with`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __enter__(self) -> _Handle:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def elapsed_time(self, other: object) -> float:
        """Milliseconds between two events: none pass."""
        return 0.0

    def query(self) -> bool:
        """Whether all work is done: it is."""
        return True

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _nothing


def _absent_module(kind: str) -> types.ModuleType:
    """What `torch.cuda` is for CUDA, for an accelerator that is not there."""
    module = types.ModuleType(f"torch.{kind}")
    vars(module).update(_STAND_INS, is_available=_false, is_initialized=_false, device_count=lambda: 0)
    vars(module).update(_is_in_bad_fork=_false, manual_seed_all=_nothing)  # which `torch.manual_seed` wants
    return module


def _nothing(*args: Any, **kwargs: Any) -> None:
    return None


def _false() -> bool:
    return False


def _properties(device: Any = None) -> types.SimpleNamespace:
    return types.SimpleNamespace(
        name="cpu", major=8, minor=0, total_memory=80 << 30, multi_processor_count=1, warp_size=32
    )


_STAND_INS: dict[str, Any] = {
    "synchronize": _nothing,
    "set_device": _nothing,
    "current_device": lambda: 0,
    "get_device_name": lambda device=None: "cpu",
    "get_device_capability": lambda device=None: (8, 0),
    "get_device_properties": _properties,
    "mem_get_info": lambda device=None: (80 << 30, 80 << 30),
    "reset_peak_memory_stats": _nothing,
    "reset_max_memory_allocated": _nothing,
    "current_stream": _Handle,
    "default_stream": _Handle,
    "stream": _Handle,
    "device": _Handle,
    "Stream": _Handle,
    "Event": _Handle,
    "init": _nothing,
}

_to = torch.Tensor.to
_module_to = torch.nn.Module.to
_type = torch.Tensor.type
_set_default_tensor_type = torch.set_default_tensor_type
_set_default_device = torch.set_default_device
_Generator = torch.Generator


def _is_fake(value: Any) -> bool:
    """Whether a value is the class of tensors without values, where code means torch's own: `x.type(type(y))`."""
    return foreign.is_a(value, type) and issubclass(value, torch.Tensor) and value.__name__ == "FakeTensor"


def _is_available(kind: str) -> bool:
    if kind == "mps":
        return torch.backends.mps.is_available()
    module = getattr(torch, kind, None)
    try:
        return bool(module is not None and module.is_available())
    except Exception:  # a driver that is half installed is no device
        return False


@contextlib.contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    own = name in vars(owner)
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if own:
            setattr(owner, name, before)
        else:
            delattr(owner, name)
