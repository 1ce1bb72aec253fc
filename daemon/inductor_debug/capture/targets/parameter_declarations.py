"""Which expression of the source declared each parameter, buffer and submodule of a model.

Registration hooks of `nn.Module` (public since torch 2.0) take the stack when a parameter is registered; names are only
known once the whole model stands. Copied modules (`nn.TransformerEncoder` copies its layer) register nothing, so they
take the expression that put them into the model. Modules are never looked into, nor kept: with their weights, those
that a search for inputs builds would fill the memory.
"""

from __future__ import annotations

import ast
import contextlib
import sys
import weakref
from collections.abc import Iterator

import torch
from torch.nn.modules.module import (
    register_module_buffer_registration_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)

from inductor_debug.capture.expressions.instruction_expressions import SourcePositions
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.runtime.loading import run_user_code
from inductor_debug.rules.recording.ops import Frame

Frames = tuple[Frame, ...]


class Declarations:
    """Takes down who registers what while models are built."""

    def __init__(self, sources: SourceMap) -> None:
        self._sources = sources
        self._tensors: dict[int, dict[str, Frames]] = {}
        self._modules: dict[int, Frames] = {}
        self._alive: dict[int, weakref.ref[torch.nn.Module]] = {}
        """Whose numbers the keys of both are, as long as they are nobody else's."""
        self._assigning: dict[str, dict[int, list[ast.Assign | ast.AnnAssign]]] = {}
        self._values: dict[Frame, Frame] = {}

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Takes down every registration inside."""
        handles = (
            register_module_parameter_registration_hook(self._on_tensor),
            register_module_buffer_registration_hook(self._on_tensor),
            register_module_module_registration_hook(self._on_module),
        )
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def of(self, module: torch.nn.Module) -> dict[str, Frames]:
        """Dotted name of each parameter, buffer and submodule to the frames that declare it, innermost first."""
        result: dict[str, Frames] = {}
        self._collect(module, "", (), result, set())
        return result

    def _collect(
        self, module: torch.nn.Module, prefix: str, inherited: Frames, result: dict[str, Frames], seen: set[int]
    ) -> None:
        if id(module) in seen:
            return
        seen.add(id(module))
        inherited = self._modules.get(id(module), inherited)
        declared = self._tensors.get(id(module), {})
        for name, tensor in (*module._parameters.items(), *module._buffers.items()):
            if tensor is None:
                continue
            frames = declared.get(name) or inherited
            if frames:
                result[prefix + name] = self._with_value(frames)
        for name, child in module._modules.items():
            if child is not None:
                frames = self._modules.get(id(child), inherited)
                if frames:
                    result[prefix + name] = self._with_value(frames)
                self._collect(child, f"{prefix}{name}.", inherited, result, seen)

    def _on_tensor(self, module: torch.nn.Module, name: str, tensor: torch.Tensor | None) -> None:
        if tensor is not None:
            declared = self._tensors.setdefault(self._number(module), {})
            declared[name] = self._sources.stack(sys._getframe(1), run_user_code.__code__)

    def _on_module(self, module: torch.nn.Module, name: str, child: torch.nn.Module | None) -> None:
        if child is not None:
            self._modules[self._number(child)] = self._sources.stack(sys._getframe(1), run_user_code.__code__)

    def _number(self, module: torch.nn.Module) -> int:
        """What a module is known by until it is no more."""
        number = id(module)
        if number not in self._alive:
            self._alive[number] = weakref.ref(module, lambda _: self._forget(number))
        return number

    def _forget(self, number: int) -> None:
        for known in (self._tensors, self._modules, self._alive):
            known.pop(number, None)

    def _with_value(self, frames: Frames) -> Frames:
        """Points at `value` where the innermost frame stands at the target of `target = value`."""
        innermost = frames[0]
        found = self._values.get(innermost)
        if found is None:
            found = self._values[innermost] = self._assigned(innermost)
        return frames if found is innermost else (found, *frames[1:])

    def _assigned(self, frame: Frame) -> Frame:
        start = frame.location.range.start
        for node in self._assignments(frame.location.path).get(start.line + 1, ()):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if node.value is not None and any(self._range(frame, each) == frame.location.range for each in targets):
                positions = _positions(node.value)
                return self._sources.frame_from_positions(frame.location.path, frame.function, positions) or frame
        return frame

    def _range(self, frame: Frame, node: ast.expr) -> object:
        return self._sources.location(
            frame.location.path, node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
        ).range

    def _assignments(self, path: str) -> dict[int, list[ast.Assign | ast.AnnAssign]]:
        """The assignments of a file by their first lines: looked for once, for a model has thousands of parts."""
        if path not in self._assigning:
            found: dict[int, list[ast.Assign | ast.AnnAssign]] = {}
            tree = self._sources.tree(path)
            for node in ast.walk(tree) if tree is not None else ():
                if isinstance(node, ast.Assign | ast.AnnAssign):
                    found.setdefault(node.lineno, []).append(node)
            self._assigning[path] = found
        return self._assigning[path]


def _positions(node: ast.expr) -> SourcePositions:
    return SourcePositions(node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
