"""From a backend's name, or from the backend itself, to something that compiles a target.

Names are looked up in this order: `eager`, `dynamo`, the backends that torch knows, functions of the user's file,
installed accelerator adapters, accelerator profiles (whose arithmetic is emulated). Nothing is compiled here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Union

import torch
from torch.fx import Node

from inductor_debug.accelerators.adapter import CompilationResult
from inductor_debug.accelerators.guarded_adapter import GuardedAdapter
from inductor_debug.accelerators.installed import AdapterError, installed_adapter, installed_adapters
from inductor_debug.accelerators.profile import Profile, built_in_names, load_document, read_profile
from inductor_debug.accelerators.suggestions import unknown
from inductor_debug.capture.runtime import foreign
from inductor_debug.kerneldiff.execution.node_graphs import NodeGraph, SharedGraphs, Visitor, run_graph
from inductor_debug.kerneldiff.execution.operation_arithmetic import Arithmetic, Eager

DYNAMO = "dynamo"
"""Dynamo's graphs, run as they are: what torch calls the backend `eager`, which here means no compiler at all."""
BackendLike = Union[str, "os.PathLike[str]", Callable[..., Any]]


class UnknownBackendError(LookupError):
    """There is no such backend, with the nearest one; or it is an adapter that raised, with what."""


@dataclass
class Backend:
    """A backend that is ready to compile.

    Transparent backends have an `arithmetic` and a `visitor` that runs ATen graphs with it. Opaque ones have a
    `graph_compiler`, `(GraphModule, example inputs) -> callable`. Eager has none of these. `graphs` counts what the
    backend was given so far: where it is nothing, the backend has computed nothing. `artifacts` are what the compiler
    of an adapter left of graphs, by file name; what it leaves of their pieces later is not kept under the same name.
    """

    name: str
    arithmetic: Arithmetic | None = None
    visitor: Visitor | None = None
    graph_compiler: Callable[..., Any] | None = None
    graphs: int = 0
    artifacts: dict[str, bytes] = field(default_factory=dict)

    def compile(
        self, function: Callable[..., Any], shared: SharedGraphs, dynamic: bool | None = None
    ) -> Callable[..., Any]:
        """The compiled function.

        Args:
            function: what is compiled.
            shared: its graphs, for those who run them.
            dynamic: as for `torch.compile`: None makes a size symbolic once another call has another one.
        """
        if self.visitor is not None:
            return shared.run_by(self.visitor)
        compiler = self.graph_compiler
        if compiler is None:
            return function

        def counted(graph_module: Any, example_inputs: Any) -> Any:
            self.graphs += 1
            return compiler(graph_module, example_inputs)

        return torch.compile(function, backend=counted, dynamic=dynamic)

    @property
    def is_eager(self) -> bool:
        """Whether it is no backend at all."""
        return self.name == "eager"


def resolve(backend: BackendLike, profile: dict[str, Any] | None = None, file: ModuleType | None = None) -> Backend:
    """The backend that is meant.

    Args:
        backend: a name, the path of an accelerator's TOML file, or `(GraphModule, example inputs) -> callable`.
        profile: an accelerator's document that is known already; it is meant where its name is `backend`.
        file: the user's file, whose functions are backends, too.

    Raises:
        UnknownBackendError: nothing has that name, or it is that of an adapter that raised.
        ProfileError: the accelerator's file is not one.
    """
    if callable(backend):
        return _of_callable(backend, getattr(backend, "__name__", type(backend).__name__))
    if not isinstance(backend, str | os.PathLike):
        raise UnknownBackendError(f"a backend is a name, a TOML file or a callable, not {backend!r}")
    backend = os.fspath(backend)
    if backend == "eager":
        return Backend("eager")
    if backend == DYNAMO:
        return _of_callable(lambda graph_module, _: graph_module.forward, DYNAMO)
    if backend in _torch_backends():
        return _of_torch(backend)
    own = backend_in(file, backend)
    if own is not None:
        return _of_callable(own, backend)
    installed = installed_adapter(backend)
    if installed is not None:
        try:
            return _of_adapter(GuardedAdapter.of(installed))
        except AdapterError as error:
            raise UnknownBackendError(str(error)) from error
    document = profile if profile is not None and profile.get("name") == backend else _document(backend)
    return transparent(emulated(read_profile(document)))


def is_offered(name: str, file: ModuleType | None = None) -> bool:
    """Whether torch, the user's file or an installed adapter has something of that name; nothing of it is loaded."""
    return name in _torch_backends() or backend_in(file, name) is not None or installed_adapter(name) is not None


def compiles(name: str, file: ModuleType | None = None) -> bool:
    """Whether what `resolve` gives is a compiler, and not the arithmetic of an accelerator.

    Raises:
        AdapterError: it is an adapter that cannot be loaded.
    """
    if name in _torch_backends() or backend_in(file, name) is not None:
        return True
    installed = installed_adapter(name)
    return installed is not None and GuardedAdapter.of(installed).has("compiler")


def backend_in(file: ModuleType | None, name: str) -> Callable[..., Any] | None:
    """What `name` calls in a loaded file that may be a backend: no class and no model. None where there is none."""
    found = foreign.namespace(file).get(name) if file is not None else None
    return found if callable(found) and not isinstance(found, (type, torch.nn.Module)) else None


def transparent(arithmetic: Arithmetic) -> Backend:
    """A backend that computes with `arithmetic`, one operation at a time."""
    made = Backend(arithmetic.name, arithmetic=arithmetic)

    def run(graph: NodeGraph, args: list[Any]) -> Any:
        made.graphs += 1
        return run_graph(graph, args, arithmetic.compute)

    made.visitor = run
    return made


def ideal(arithmetic: Arithmetic) -> Backend:
    """The best that a backend with the number format of `arithmetic` could do: what its error is judged against."""
    return Backend(
        f"{arithmetic.name}, at its best", visitor=lambda graph, args: run_graph(graph, args, arithmetic.ideal)
    )


def spoilt(backend: Backend, faults: Sequence[str], line_of: Callable[[Node], int | None], unit: float) -> Backend:
    """`backend` with faults in its arithmetic. Eager's arithmetic can be had operation by operation, too.

    Args:
        backend: a transparent backend, or eager.
        faults: `FAULT` or `FAULT@LINE`.
        line_of: the line that a node comes from, counted from zero.
        unit: the precision of eager's arithmetic.

    Raises:
        ValueError: there is no such fault, or nothing can be put into this backend.
    """
    from inductor_debug.kerneldiff.emulation.injected_faults import FaultyArithmetic, read_injection

    arithmetic = Eager(unit) if backend.is_eager else backend.arithmetic
    if arithmetic is None:
        raise ValueError(f"faults can be put into eager and into emulated accelerators only, not into {backend.name}")
    made = transparent(FaultyArithmetic(arithmetic, [read_injection(text) for text in faults], line_of))
    made.name = f"{backend.name} with {', '.join(faults)}"
    return made


def emulated(profile: Profile) -> Arithmetic:
    """The arithmetic of an accelerator that is not there."""
    from inductor_debug.kerneldiff.emulation.emulation import EmulatedArithmetic

    return EmulatedArithmetic.from_profile(profile)


def known_names() -> list[str]:
    """All names that `resolve` knows."""
    adapters = [adapter.name for adapter in installed_adapters()]
    return list(dict.fromkeys(["eager", DYNAMO, *_torch_backends(), *adapters, *_emulated_names()]))


def _emulated_names() -> list[str]:
    """The built-in accelerators but for GPUs, which compute in the formats that the host has."""
    return [name for name in built_in_names() if "gpu" not in load_document(name)]


def _torch_backends() -> list[str]:
    return list(torch._dynamo.list_backends(exclude_tags=()))


def _of_torch(name: str) -> Backend:
    def compile_graph(graph_module: Any, example_inputs: Any) -> Any:
        return torch._dynamo.lookup_backend(name)(graph_module, example_inputs)

    return _of_callable(compile_graph, name)


def _of_callable(backend: Callable[..., Any], name: str) -> Backend:
    return Backend(name, graph_compiler=backend)


def _of_adapter(adapter: GuardedAdapter) -> Backend:
    """An installed accelerator: its compiler where it has one, else its arithmetic, real or emulated.

    Raises:
        AdapterError: it raised.
    """
    compiler = adapter.compiler()
    if compiler is None:
        own = adapter.arithmetic()
        made = transparent(own if own is not None else emulated(adapter.capabilities()))
        made.name = adapter.name
        return made
    backend = Backend(adapter.name)

    def compile_graph(graph_module: Any, example_inputs: Any) -> Any:
        number, started, failed = backend.graphs - 1, time.perf_counter(), ""
        operations = sum(node.op.startswith("call_") for node in graph_module.graph.nodes)
        try:
            return compiler(graph_module, example_inputs)
        except Exception as error:
            failed = f"{type(error).__name__}: {error}"
            raise
        finally:
            result = CompilationResult(number, operations, time.perf_counter() - started, failed)
            for made in adapter.artifacts(result):
                backend.artifacts.setdefault(made.name, made.content)

    backend.graph_compiler = compile_graph
    return backend


def not_compared(error: Exception) -> str:
    """Why a comparison could not begin, as a sentence."""
    said = str(error)
    return f"Nothing was compared: {said if said.endswith(('.', '?')) else f'{said}.'}"


def _document(name: str) -> dict[str, Any]:
    if name in built_in_names() or name.endswith(".toml"):
        return load_document(name)
    known = [known for known in known_names() if not known.endswith("_TESTING_ONLY")]
    raise UnknownBackendError(unknown(name, known, "backend"))
