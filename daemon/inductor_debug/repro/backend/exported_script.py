"""For a graph that has no form as ordinary code: a script that loads it from a `torch.export` file beside it.

Such a graph is not reduced. What the script shows is what the exported graph does, so a failure that exporting makes
go has no script, and that is said.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
from typing import Any

import torch
from torch.fx import GraphModule

from inductor_debug.repro.backend.backend_checks import backend_check
from inductor_debug.repro.backend.backend_oracle import Compiler, Manner, Symptom, ending_of, shown
from inductor_debug.repro.program.capturing import CapturedGraph
from inductor_debug.repro.program.sharing import copies_of
from inductor_debug.repro.script.backend_source import BackendSource
from inductor_debug.repro.script.reproducer import Reproducer
from inductor_debug.repro.script.writing import Header, assembled

SUFFIX = ".pt2"
_SAVED = '''\
def saved():
    """The graph that fails. It has no form as ordinary code, so torch.export keeps it in a file beside this script."""
    return torch.export.load(next(pathlib.Path(__file__).parent.glob("*{mark}*{suffix}")))'''
_INPUTS = '''\
def make_inputs():
    """The inputs that the graph was exported with."""
    args, _ = saved().example_inputs
    return [{one} for {each}]'''


def exported(graph: CapturedGraph) -> bytes:
    """The graph as a `torch.export` file, b"" where torch cannot export it either."""
    content = io.BytesIO()
    try:
        program = torch.export.export(graph.graph_module, tuple(graph.inputs), strict=False)
        _without_places(program.graph_module)
        torch.export.save(program, content)
    except Exception:
        return b""
    return content.getvalue()


def _without_places(graph_module: GraphModule) -> None:
    """Takes out where operations come from: stack traces have the folders of whoever made the file."""
    for module in graph_module.modules():
        for node in module.graph.nodes if isinstance(module, GraphModule) else ():
            for name in ("stack_trace", "nn_module_stack", "source_fn_stack"):
                node.meta.pop(name, None)


def symptom_of_graph(graph: CapturedGraph, backend: str | Compiler, manner: Manner) -> Symptom:
    """What the backend does to the graph as Dynamo captured it."""
    return ending_of(lambda: shown(graph.graph_module.forward, lambda: copies_of(graph.inputs), backend, manner))


def symptom_of_exported(content: bytes, graph: CapturedGraph, backend: str | Compiler, manner: Manner) -> Symptom:
    """What the backend does to the graph as the script will have it."""

    def work() -> dict[str, Any]:
        program = torch.export.load(io.BytesIO(content))
        given = program.example_inputs[0]

        def inputs() -> list[Any]:
            return [_fresh(value, wanted) for value, wanted in zip(given, _gradients(graph), strict=True)]

        return shown(program.module(), inputs, backend, manner)

    return ending_of(work)


def exported_script(
    content: bytes,
    graph: CapturedGraph,
    backend: BackendSource,
    symptom: Symptom,
    manner: Manner,
    header: Header,
    name: str,
) -> Reproducer:
    """The script and the file."""
    mark = "graph_" + hashlib.blake2b(content, digest_size=5).hexdigest()
    check = backend_check(backend, symptom, manner)
    check = dataclasses.replace(check, body=f"failing = saved().module()\n{check.body}")
    gradients = _gradients(graph)
    one, each = "value.clone() if isinstance(value, torch.Tensor) else value", "value in args"
    if manner.backward:
        one = "value.clone().requires_grad_(wanted) if isinstance(value, torch.Tensor) else value"
        each = f"value, wanted in zip(args, {gradients})"
    text = assembled(
        _SAVED.format(mark=mark, suffix=SUFFIX),
        _INPUTS.format(one=one, each=each),
        check,
        header,
        standard=["import pathlib"],
    )
    size = sum(node.op.startswith("call_") for node in graph.graph_module.graph.nodes)
    return Reproducer(text, name, size, size, 1, {f"{mark}{SUFFIX}": content})


def _gradients(graph: CapturedGraph) -> list[bool]:
    return [isinstance(value, torch.Tensor) and value.requires_grad for value in graph.inputs]


def _fresh(value: Any, gradient: bool) -> Any:
    return value.detach().clone().requires_grad_(gradient) if isinstance(value, torch.Tensor) else value
