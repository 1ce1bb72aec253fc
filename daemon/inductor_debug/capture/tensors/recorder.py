"""Records ATen operations as they run, for every stage: the one road from tensors to `rules.recording.ops.Op`.

`Recorder` is a dispatch mode. It sees what reaches the device after autograd and all decompositions that torch makes
on its own, reads the metadata of the arguments *before* the op and of the results after it, and asks an `Attribution`
where in the source the op belongs. It changes no result and keeps no tensor alive.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
import torch._dynamo
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.parameter import is_lazy
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode

from inductor_debug.capture.running.instruction_watching import unwatched
from inductor_debug.capture.running.origins import OriginTable
from inductor_debug.capture.tensors.lifetimes import LifetimeWatch
from inductor_debug.capture.tensors.metadata import TensorTable, size
from inductor_debug.capture.tensors.rounded_products import rounded_products
from inductor_debug.capture.tensors.schemas import OperatorInfo, operator_info, plain
from inductor_debug.capture.weightless.remembered_answers import UNKNOWN, RememberingMode
from inductor_debug.rules.recording.ops import Frame, Op, Recording, TensorArgument, TensorMeta

_PLAIN_TYPES = frozenset({torch.Tensor, torch.nn.Parameter, torch.nn.Buffer, FakeTensor})
_PLAIN_LITERALS = frozenset({int, float, bool, str, type(None)})


class _Taken(NamedTuple):
    """What an op was given, read before it runs."""

    arguments: dict[str, Any]
    metas: tuple[TensorMeta, ...]
    written: list[torch.Tensor]


class Attribution(Protocol):
    """Says where the op that runs now belongs."""

    def frames(self) -> tuple[Frame, ...]:
        """The source frames under the op, innermost first."""

    def module(self) -> str:
        """The dotted path of the module that runs it."""


@dataclass(slots=True)
class FailedOp:
    """The op during which an exception was raised, what it was given, and the source frames under it."""

    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    error: BaseException
    frames: tuple[Frame, ...]


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Collects one `Recording` while it is entered; may be entered many times.

    Args:
        attribution: where ops belong.
        origins: what is known of tensors that no op made; it is asked when one is first met.
        watched: note when tensors and their memory go away. Only where the code runs as it is written does that say
            something of it.
    """

    supports_higher_order_operators = True

    def __init__(
        self,
        attribution: Attribution,
        origins: OriginTable,
        *,
        watched: bool = False,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        watch = LifetimeWatch() if watched else None
        self.recording = Recording(
            declarations=origins.declarations,
            lifetimes=None if watch is None else watch.lifetimes,
            tf32=rounded_products(),
        )
        self.tensors = TensorTable(watch)
        if watch is not None:
            watch.count(self.recording.ops)
        self.failed: FailedOp | None = None
        self.attribution = attribution
        self.region: tuple[str, ...] = ()
        self.paused = False
        self.autograd_node = ""
        self.node: Any = None
        """The node of a captured graph that runs now."""
        self.nodes: list[Any] = []
        """For each op of the recording the node that ran it, None outside of graphs."""
        self._origins = origins
        self._made: set[int] = set()
        self._suspended = False

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # torch 2.11 to 2.13: True would wrap every call of `__torch_dispatch__` in a guard against Dynamo, which a
        # preview does not need; `CompiledRecorder` has one.
        return False

    @classmethod
    def is_infra_mode(cls) -> bool:
        """The recorder observes only; Dynamo and higher-order ops need not avoid it (torch 2.11 to 2.13)."""
        return True

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Dynamo may compile under the recorder, which is suspended while it does (torch 2.13)."""
        return True

    def suspend(self) -> None:
        """Takes the recorder off the mode stack, if it is on top of it."""
        if not self._suspended and _get_current_dispatch_mode() is self:
            self.__exit__(None, None, None)  # type: ignore[no-untyped-call]
            self._suspended = True

    def resume(self) -> None:
        """Puts the recorder back where `suspend` took it from."""
        if self._suspended:
            self._suspended = False
            self.__enter__()  # type: ignore[no-untyped-call]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is _DEVICE_OF:
            return _device_of(args[0], func)
        kwargs = kwargs or {}
        if isinstance(func, HigherOrderOperator):
            # Bodies are recorded by who runs the graph (`graph_runner`); here only the result is wanted.
            return func(*args, **kwargs)
        if self.paused or func.namespace == "prim" or any(map(is_lazy, args)):
            # What gives a lazy parameter its size is no op of the model's.
            return func(*args, **kwargs)
        for kind in types:
            if kind not in _PLAIN_TYPES and _is_wrapper(kind):
                # A subclass made of other tensors (nested, quantised by a library): record what it does inside.
                return NotImplemented
        info = operator_info(func)
        if info.composite:
            with self:
                result = func.decompose(*args, **kwargs)
            if result is not NotImplemented:
                return result
        return self._record(func, info, args, kwargs)

    def witness(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, number: int | None
    ) -> None:
        """Records an op that ran elsewhere: a node of a graph, with the values that tracing left on it.

        Args:
            func: the operator's overload.
            args: what it was given.
            kwargs: what it was given by name.
            result: what it made.
            number: autograd's number of the op, where it has one.
        """
        info = operator_info(func)
        taken = self._taken(info, args, kwargs)
        for tensor in taken.written:
            self.tensors.wrote(tensor)
        if not taken.written:
            self._learn_of(result, info, taken)
        self._append(info, taken, self._outputs(result, False), number)

    def _learn_of(self, result: Any, info: OperatorInfo, taken: _Taken) -> None:
        """Takes note of what a node makes: where it lives, and that it is new even if an earlier node made it as well.

        What a backward pass computes again has the very tensors of the forward pass.
        """
        made: list[torch.Tensor] = []
        _collect(result, made)
        views = info.may_view and not info.composite and bool(taken.metas)
        given = {meta.value for meta in taken.metas}
        for tensor in made:
            value = self.tensors.value(tensor)
            if value in self._made and value not in given:
                self.tensors.made_again(tensor, taken.metas[0].storage if views else None)
            elif views:
                # Where one of two equal nodes was removed, the views of it still have the memory that it had.
                self.tensors.lives_in(tensor, taken.metas[0].storage)

    def _record(self, func: Any, info: OperatorInfo, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        taken = self._taken(info, args, kwargs)
        try:
            result = _result(func, args, kwargs)
        except BaseException as error:
            self.failed = FailedOp(func, args, kwargs, error, self.attribution.frames())
            raise
        for tensor in taken.written:
            self.tensors.wrote(tensor)
        tracked = torch.is_grad_enabled() and any(meta.requires_grad for meta in taken.metas)
        outputs = self._outputs(result, tracked)
        self._append(info, taken, outputs, _sequence_number() if tracked else None)
        return result

    def _taken(self, info: OperatorInfo, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Taken:
        inputs: list[torch.Tensor] = []
        arguments = dict(info.defaults)
        written: list[torch.Tensor] = []
        for name, value in zip(info.names, args, strict=False):
            arguments[name] = self._literal(value, inputs)
            if name in info.written:
                _collect(value, written)
        for name, value in kwargs.items():
            arguments[name] = self._literal(value, inputs)
            if name in info.written:
                _collect(value, written)
        return _Taken(arguments, tuple([self._input(tensor) for tensor in inputs]), written)

    def _append(self, info: OperatorInfo, taken: _Taken, outputs: tuple[TensorMeta, ...], number: int | None) -> None:
        if not taken.metas and not outputs:
            return
        is_view = False
        if info.may_view and outputs and not taken.written:
            storages = {meta.storage for meta in taken.metas}
            is_view = all(meta.storage in storages for meta in outputs)
        ops = self.recording.ops
        self.nodes.append(self.node)
        ops.append(
            Op(
                index=len(ops),
                overload=info.overload,
                arguments=taken.arguments,
                inputs=taken.metas,
                outputs=outputs,
                frames=self.attribution.frames(),
                module=self.attribution.module(),
                region=self.region,
                mutates=tuple([self.tensors.value(tensor) for tensor in taken.written]),
                is_view=is_view,
                seq_nr=number,
                autograd_node=self.autograd_node or _autograd_node(),
            )
        )

    def _literal(self, value: Any, inputs: list[torch.Tensor]) -> Any:
        if type(value) in _PLAIN_LITERALS:
            return value
        if isinstance(value, torch.Tensor):
            inputs.append(value)
            return TensorArgument(len(inputs) - 1)
        if isinstance(value, (list, tuple)):
            return [self._literal(item, inputs) for item in value]
        return size(value) if isinstance(value, torch.SymInt) else plain(value)

    def _input(self, tensor: torch.Tensor) -> TensorMeta:
        meta = self.tensors.meta(tensor)
        if meta.value not in self._made:
            self._made.add(meta.value)
            self.recording.origins[meta.value] = self._origins.origin_of(tensor, meta, self.attribution)
        return meta

    def _outputs(self, result: Any, tracked: bool) -> tuple[TensorMeta, ...]:
        if isinstance(result, torch.Tensor):
            made = [result]
        else:
            made = []
            _collect(result, made)
        metas = tuple([self.tensors.meta(tensor, tracked and _differentiable(tensor)) for tensor in made])
        for meta in metas:
            self._made.add(meta.value)
        return metas


class UntracedRecorder(Recorder):  # type: ignore[no-untyped-call]
    """A recorder for code whose instructions are watched: what it does below an operation is not the file's."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Records one operation; the bodies of higher-order ones are code to watch."""
        if isinstance(func, HigherOrderOperator):
            return super().__torch_dispatch__(func, types, args, kwargs)
        with unwatched():
            return super().__torch_dispatch__(func, types, args, kwargs)


class CompiledRecorder(Recorder):  # type: ignore[no-untyped-call]
    """A recorder for code that runs under `torch.compile`: Dynamo must not try to compile the recorder's own code."""

    __torch_dispatch__ = torch._dynamo.disable(Recorder.__torch_dispatch__)  # type: ignore[no-untyped-call]


def _collect(value: Any, into: list[torch.Tensor]) -> None:
    if isinstance(value, torch.Tensor):
        into.append(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _collect(item, into)


def _differentiable(tensor: torch.Tensor) -> bool:
    return tensor.dtype.is_floating_point or tensor.dtype.is_complex


def _result(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What an op gives; the way to a fake mode that knows it costs as much as all that the mode does then."""
    mode = _get_current_dispatch_mode()
    result = mode.at_once(function, args, kwargs) if isinstance(mode, RememberingMode) else UNKNOWN
    return function(*args, **kwargs) if result is UNKNOWN else result


_DEVICE_OF = torch.ops.prim.device.default


def _device_of(tensor: torch.Tensor, function: Any) -> Any:
    """Answers what kernels ask twice per op; the way through the fake mode costs as much as a small op.

    `fake_device` and `in_kernel_invocation` are the fake mode's own answer (torch 2.11 to 2.13).
    """
    mode = getattr(tensor, "fake_mode", None)
    if mode is not None and getattr(mode, "in_kernel_invocation", True) is False:
        return tensor.fake_device  # type: ignore[attr-defined]
    return function(tensor)


def _is_wrapper(kind: type) -> bool:
    known = _WRAPPERS.get(kind)
    if known is None:
        known = _WRAPPERS[kind] = hasattr(kind, "__tensor_flatten__") and hasattr(kind, "__tensor_unflatten__")
    return known


_WRAPPERS: dict[type, bool] = {}


def _sequence_number() -> int | None:
    """The number autograd gave the running op's backward node (torch 2.11 to 2.13: the last one handed out)."""
    peek = getattr(getattr(torch._C, "_autograd", None), "_get_sequence_nr", None)
    return None if peek is None else int(peek()) - 1


def _autograd_node() -> str:
    """The node of the backward pass that runs now, if one does (torch 2.11 to 2.13: public nowhere)."""
    task = getattr(torch._C, "_current_graph_task_id", None)
    if task is None or task() == -1:
        return ""
    node = torch._C._current_autograd_node()
    return "" if node is None else str(node.name())


class StackAttribution:
    """Attribution by the Python stack, for code that runs as it is written.

    Args:
        stack: turns a frame into the visible frames above the target's caller.
        module: the dotted path of the module that runs now.
    """

    def __init__(self, stack: Callable[[Any], tuple[Frame, ...]], module: Callable[[], str]) -> None:
        self._stack = stack
        self._module = module

    def frames(self) -> tuple[Frame, ...]:
        """The running Python frames that are the user's or a library's."""
        return self._stack(sys._getframe(2))

    def module(self) -> str:
        """The innermost running module."""
        return self._module()
