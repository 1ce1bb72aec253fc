"""What happens to modules while a target runs: which one is running or was traced, and what running them changed.

`ModulePath` replaces `torch.nn.Module.__call__` while it is entered, as `torch.fx.Tracer` does, because global hooks
would push every module off its fast path. `Snapshot` puts attributes and inputs back as they were.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch
from torch.fx import GraphModule
from torch.nn.parameter import is_lazy
from torch.utils import _pytree as pytree

from inductor_debug.capture.running.module_calls import CallLog
from inductor_debug.capture.running.python_state import PythonState
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime import foreign

_ROOT = re.compile(r"^[LG]\['\w+'\]\.?")
"""How Dynamo names the local or global variable that holds the model."""
_OF_NO_MODULE = "_empty_nn_module_stack_from_metadata_hook"
"""What `torch.export` writes for nodes that its passes make (`torch/_export/passes/_node_metadata_hook.py`)."""


class ModulePath:
    """Knows the dotted path of the module that runs now, for modules below `root`."""

    def __init__(self, root: torch.nn.Module | None) -> None:
        modules = [] if root is None else list(root.named_modules())
        self.names = {id(module): name for name, module in modules}
        self._kept = modules
        self._running: list[str] = []

    def current(self) -> str:
        """The innermost running module; empty for the root and outside of it."""
        return self._running[-1] if self._running else ""

    @contextmanager
    def follow(self, log: CallLog | None = None) -> Iterator[None]:
        """Keeps track of calls of modules until it is left; `log` is told of each."""
        original: Callable[..., Any] = torch.nn.Module.__call__
        names, running = self.names, self._running

        def _followed(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            running.append(names.get(id(module)) or (running[-1] if running else ""))
            call = None if log is None else log.begin(running[-1], module, args, kwargs)
            try:
                return original(module, *args, **kwargs)
            finally:
                running.pop()
                if log is not None:
                    log.end(call)

        torch.nn.Module.__call__ = _followed  # type: ignore[method-assign]
        try:
            yield
        finally:
            torch.nn.Module.__call__ = original  # type: ignore[method-assign]
            running.clear()


def called_in(frame: FrameType) -> tuple[torch.nn.Module, tuple[Any, ...], dict[str, Any]] | None:
    """The module that a frame calls for `ModulePath.follow`, and its arguments; None of any other frame."""
    code = frame.f_code
    if code.co_name != "_followed" or code.co_filename != __file__:
        return None
    values = frame.f_locals
    return values["module"], values["args"], values["kwargs"]


class NodeModules:
    """The module in which a node of a captured graph was traced.

    Args:
        names: identity of a module to its dotted path in the target; None where the target is not known, as in
            somebody else's script, and Dynamo's own paths are as good as it gets.
    """

    def __init__(self, names: dict[int, str] | None) -> None:
        self._names = {str(number): name for number, name in (names or {}).items()}
        self._paths = frozenset(names.values()) if names is not None else None

    def path(self, node: Any) -> str:
        """The dotted path of the innermost module known, empty for the root and where none is."""
        return self.find(node) or ""

    def find(self, node: Any) -> str | None:
        """As `path`, but None where none is known; for a node of the backward pass that of its forward node."""
        return self.of_stack(node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack"))

    def of_stack(self, stack: dict[str, tuple[str, Any]] | None) -> str | None:
        """The same of Dynamo's stack of modules, from the outermost to the innermost."""
        for key, (path, _) in reversed((stack or {}).items()):
            if key == _OF_NO_MODULE:
                continue
            # The keys are the modules' identities; paths are Dynamo's own words for how it reached them.
            name = self._names.get(key.split("@")[0])
            if name is None:
                dotted = _ROOT.sub("", str(path))
                name = dotted if self._paths is None or dotted in self._paths else None
            if name is not None:
                return name
        return None


class Snapshot:
    """A target's state before a run, cheap: Python's by reference, values only of real tensors.

    It puts back what Python held (`PythonState`), buffers that were replaced, and inputs whose shape or values were
    changed in place.
    """

    def __init__(self, target: BuiltTarget) -> None:
        modules = [] if target.module is None else list(foreign.parts_of(target.module))
        for module in modules:
            if isinstance(module, GraphModule):
                # Lazy ones write their `forward` with the first call, which is not to be undone: reading it writes it.
                _ = module.code
        self._python = PythonState(target.module, target.function)
        tensors = [leaf for leaf in pytree.tree_leaves(target.calls) if isinstance(leaf, torch.Tensor)]
        if target.fake_mode is None and target.module is not None:
            # Those of lazy modules are nothing yet.
            tensors += [buffer for buffer in target.module.buffers() if not is_lazy(buffer)]
        self._tensors = [_TensorState(tensor, values=target.fake_mode is None) for tensor in tensors]

    def restore(self) -> None:
        """Puts everything back; later changes can be undone again."""
        self._python.restore()
        for state in self._tensors:
            state.restore()


class _TensorState:
    """One input or buffer as it was: the object's own geometry, and its values where it has some."""

    def __init__(self, tensor: torch.Tensor, *, values: bool) -> None:
        self._tensor = tensor
        self._version = _version(tensor)
        # Detaching gives a second object with the same memory, which in-place changes of shape do not reach.
        self._before = tensor.detach()
        self._values = tensor.detach().clone() if values else None
        self._requires_grad = tensor.requires_grad

    def restore(self) -> None:
        tensor = self._tensor
        if _version(tensor) == self._version and (tensor.is_nested or tensor.shape == self._before.shape):
            self._restore_unseen()
            return
        with torch.no_grad():
            if self._values is not None:
                self._before.copy_(self._values)
            if not tensor._is_view():  # a view of memory that several inputs share cannot be detached, and needs not be
                tensor.detach_()
            tensor.data = self._before.detach()
        if tensor.is_leaf:
            tensor.requires_grad_(self._requires_grad)
        self._version = _version(tensor)

    def _restore_unseen(self) -> None:
        """BatchNorm in training writes its statistics past the version counter (torch 2.11 to 2.13)."""
        if self._values is not None and not _equal(self._before, self._values):
            with torch.no_grad():
                self._before.copy_(self._values)


def _equal(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether the values are the same; those that cannot be asked (sparse, of `meta`) count as the same."""
    unknown = left.layout is not torch.strided or left.is_quantized or left.is_nested or left.is_meta
    return unknown or torch.equal(left, right)


def _version(tensor: torch.Tensor) -> int:
    """How often `tensor` was written in place, as far as autograd counts it."""
    try:
        return tensor._version
    except RuntimeError:
        return 0
