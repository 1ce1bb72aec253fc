"""`aot_mock_backend`: judges the forward and backward of every graph against an accelerator, then compiles it.

For people who compile and train in scripts of their own, without the daemon:

    torch.compile(model, backend=aot_mock_backend)
    torch.compile(model, backend=aot_mock_backend(strict=True, constraints=["dtype", "memory"], accelerator="spyre"))
    torch.compile(model, backend="inductor_debug_aot")           # no import needed

Where `mock_backend` runs what Dynamo captured, this one hands the graph to TorchInductor, and the model trains at full
speed. It never changes what a graph computes, and a failure of its own never stops a compilation. Without a C++
compiler, which Inductor needs on a CPU, it says so and goes on with AOTAutograd alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from inductor_debug_schema import Stage
from torch.fx import GraphModule

from inductor_debug.capture.dynamo import dynamo_positions
from inductor_debug.capture.script_backends.graph_recording import record_lowered
from inductor_debug.capture.script_backends.script_judgement import (
    Accelerator,
    Compiled,
    GraphJudgement,
    MockBackendError,
    MockBackendWarning,
    warn,
)
from inductor_debug.rules.judging.base import Constraint

__all__ = ["MockBackendError", "MockBackendWarning", "aot_mock_backend", "inductor_debug_aot"]

_NO_COMPILER = (
    "TorchInductor found no working C++ compiler, so this graph runs through AOTAutograd without generated kernels; "
    "install g++ or clang, or name one in the environment variable CXX ({})"
)

dynamo_positions.install()


def aot_mock_backend(
    graph_module: GraphModule | None = None,
    example_inputs: list[Any] | None = None,
    *,
    strict: bool | None = None,
    constraints: Sequence[str | Constraint] | None = None,
    accelerator: Accelerator | None = None,
    options: Mapping[str, Any] | None = None,
    **_: Any,
) -> Compiled:
    """A backend for `torch.compile`, or, called without a graph, a maker of such backends.

    Args:
        graph_module: the graph that Dynamo captured; None makes a backend with the other arguments.
        example_inputs: Dynamo's example inputs, for Inductor.
        strict: raise one `MockBackendError` for a graph instead of one `MockBackendWarning` for each finding. By
            default the environment decides: `MOCK_STRICT=1`.
        constraints: the only rules to judge by: ids (`"dtype"`, `"alignment"`; `inductor-debug explain` lists them) or
            rules of your own, instances of `inductor_debug.rules.judging.base.Constraint`. None for all rules.
        accelerator: a built-in profile's name, the path of a TOML profile, or such a document. By default what the
            nearest `pyproject.toml` says, else "mock".
        options: the same arguments, as given to `torch.compile(..., options={...})`.

    Returns:
        What Inductor makes of the graph; or a backend.

    Raises:
        MockBackendError: strict, and the forward or the backward has findings.
        ProfileError: there is no such accelerator, or its profile is broken.
        UnknownRuleError: `constraints` names a rule that there is not.
    """
    options = options or {}
    strict = options.get("strict", strict)
    constraints = options.get("constraints", constraints)
    accelerator = options.get("accelerator", accelerator)
    if graph_module is None:
        return _configured_backend(strict, constraints, accelerator)
    GraphJudgement.of(Stage.AOT, strict, accelerator, constraints).tell(graph_module, record_lowered)
    return _compiled(graph_module, example_inputs or [])


def inductor_debug_aot(graph_module: GraphModule, example_inputs: list[Any], **keywords: Any) -> Compiled:
    """The backend under the name `"inductor_debug_aot"`, which torch finds by its entry point."""
    return aot_mock_backend(graph_module, example_inputs, **keywords)


def _configured_backend(
    strict: bool | None, constraints: Sequence[str | Constraint] | None, accelerator: Accelerator | None
) -> Compiled:
    @functools.wraps(aot_mock_backend)
    def backend(graph_module: GraphModule, example_inputs: list[Any], **keywords: Any) -> Compiled:
        given = {"strict": strict, "constraints": constraints, "accelerator": accelerator, **keywords}
        return aot_mock_backend(graph_module, example_inputs, **given)

    return backend


def _compiled(graph_module: GraphModule, example_inputs: list[Any]) -> Compiled:
    lookup: Callable[[str], Compiled] = torch._dynamo.lookup_backend
    lacking = _lacking_compiler(example_inputs)
    if lacking:
        warn(_NO_COMPILER.format(lacking))
    compiled: Compiled = lookup("aot_eager" if lacking else "inductor")(graph_module, example_inputs)
    return compiled


def _lacking_compiler(example_inputs: list[Any]) -> str:
    """What Inductor would say of the missing C++ compiler, asked before it begins: a backward is compiled much later.

    `get_cpp_compiler` and `InvalidCxxCompiler` as in torch 2.11 to 2.13; without them Inductor speaks for itself.
    """
    tensors = [example for example in example_inputs if isinstance(example, torch.Tensor)]
    if tensors and all(tensor.device.type != "cpu" for tensor in tensors):
        return ""
    try:
        from torch._inductor.cpp_builder import get_cpp_compiler
        from torch._inductor.exc import InvalidCxxCompiler
    except ImportError:
        return ""
    try:
        get_cpp_compiler()
    except InvalidCxxCompiler as error:
        return str(error)
    return ""
