"""Which formats take an exported program: `.pt2`, ONNX and ExecuTorch, as torch and the installed libraries say.

Nothing is written but to memory, weights stay away where the format can do without, and no verdict is made up: a
library that is not installed is named, and what could not be tried says so. Private are ONNX's dispatcher
(`torch.onnx._internal.exporter`, torch 2.13) and ExecuTorch's list of exceptions
(`EdgeCompileConfig._core_aten_ops_exception_list`, 1.5); without them only the first operator that stops a conversion
is told.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any, NamedTuple

import torch
from inductor_debug_schema.answers.formats_document import ExportFormat, FormatState
from torch._subclasses.fake_tensor import FakeTensor
from torch.export import ExportedProgram
from torch.fx import Node

from inductor_debug.capture.failures.failures import describe
from inductor_debug.capture.runtime.torch_logs import VARIABLE

_MOST_OPERATORS = 8
"""How many operators are sought that ExecuTorch does not take: each costs another conversion."""
_MOST_WEIGHTS = 256 << 20
"""Bytes of zeros that stand for the weights where a format needs some."""


class Conversion(NamedTuple):
    """What came of converting a program: the error, or none, and the nodes that have no place in the format."""

    error: BaseException | None = None
    nodes: tuple[Node, ...] = ()
    untried: str = ""


class Format(NamedTuple):
    """A format, the call that makes it, the packages which that needs, and how it is tried."""

    name: str
    call: str
    packages: tuple[str, ...]
    convert: Callable[[ExportedProgram], Conversion]


def made_by(form: Format) -> str:
    """The call that makes a format, with the versions of what it needs."""
    versions = " and ".join(f"{name} {metadata.version(name)}" for name in form.packages)
    return f"{form.call} with {versions}" if versions else form.call


def missing(form: Format) -> ExportFormat | None:
    """The verdict on a format whose packages are not installed; None where they are."""
    lacking = [name for name in form.packages if find_spec(name) is None]
    if not lacking:
        return None
    return ExportFormat(
        format=form.name,
        state=FormatState.NOT_INSTALLED,
        made_by=form.call,
        why=f"pip install {' '.join(lacking)}",
    )


def tried(form: Format, program: ExportedProgram) -> Conversion:
    """What the format says of a program; whatever the library raises is its answer."""
    with _silent():
        try:
            return form.convert(program)
        except (Exception, SystemExit) as error:
            return Conversion(error, tuple(filter(None, [node_at_fault(error)])))


def node_at_fault(error: BaseException) -> Node | None:
    """The node that a conversion was at when it raised: of those in its frames the innermost that it also speaks of."""
    said, nodes = "", []
    each: BaseException | None = error
    while each is not None:
        said += str(each)
        traceback = each.__traceback__
        while traceback is not None:
            nodes += [value for value in traceback.tb_frame.f_locals.values() if isinstance(value, Node)]
            traceback = traceback.tb_next
        each = each.__cause__ or each.__context__
    return next((node for node in reversed(nodes) if node.op == "call_function" and str(node.target) in said), None)


def reason(error: BaseException) -> str:
    """What was raised first, in one line: the outer errors say how to report it."""
    while (cause := error.__cause__) is not None:
        error = cause
    return describe(error)


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Keeps converters from the log, but for who asks for torch's."""
    before = logging.root.manager.disable
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        if not os.environ.get(VARIABLE):
            logging.disable(logging.CRITICAL)
        try:
            yield
        finally:
            logging.disable(before)


def _to_pt2(program: ExportedProgram) -> Conversion:
    kept = io.BytesIO()
    # One number stands for a weight: torch tells weights apart by where their values lie, and fake ones have none.
    with _valued(program, lambda value: torch.zeros((), dtype=value.dtype).expand(value.shape)):
        torch.export.save(program, kept)
    kept.seek(0)
    torch.export.load(kept)
    return Conversion()


def _to_onnx(program: ExportedProgram) -> Conversion:
    try:
        # Its optimizer would look at the weights.
        torch.onnx.export(program, dynamo=True, optimize=False, verbose=False)
    except Exception as error:
        node = node_at_fault(error)
        return Conversion(error, _unknown_to_onnx(node) if node is not None else ())
    return Conversion()


def _unknown_to_onnx(first: Node) -> tuple[Node, ...]:
    """The nodes of the graph of `first` for which ONNX has no function: torch stops at the first."""
    try:
        dispatch = import_module("torch.onnx._internal.exporter._dispatching").dispatch
        registry = import_module("torch.onnx._internal.exporter._registration").ONNXRegistry.from_torchlib()
        nodes = [node for node in first.graph.nodes if isinstance(node.target, torch._ops.OpOverload)]
        found = tuple(node for node in nodes if dispatch(node, registry)[0] is None)
    except Exception:
        return (first,)
    return found if first in found else (first,)


def _to_executorch(program: ExportedProgram) -> Conversion:
    exir = import_module("executorch.exir")
    allowed: list[Any] = []
    found: dict[str, Node] = {}
    stopped: BaseException | None = None
    edge = None
    while edge is None:
        options = {"compile_config": exir.EdgeCompileConfig(_core_aten_ops_exception_list=allowed)} if allowed else {}
        try:
            edge = exir.to_edge(program, **options)
        except Exception as error:
            node = node_at_fault(error)
            stopped = stopped or error
            if node is None or node.target in allowed or len(found) == _MOST_OPERATORS:
                break
            allowed.append(node.target)
            found.update({each.name: each for each in node.graph.nodes if each.target is node.target})
    if stopped is not None or edge is None:
        return Conversion(stopped, tuple(found.values()))
    size = sum(values[name].nbytes for values, name in _without_values(program))
    if size > _MOST_WEIGHTS:
        return Conversion(
            untried=f"its operators are known, but the program is written with its {size >> 20} MiB of weights"
        )
    with _valued(program, lambda value: torch.zeros(value.shape, dtype=value.dtype)):
        exir.to_edge(program).to_executorch()
    return Conversion()


@contextlib.contextmanager
def _valued(program: ExportedProgram, make: Callable[[torch.Tensor], torch.Tensor]) -> Iterator[None]:
    """Has tensors that `make` gives stand for those without values until it is left."""
    held = [(values, name, values[name]) for values, name in _without_values(program)]
    for values, name, value in held:
        made = make(value)
        is_parameter = isinstance(value, torch.nn.Parameter)
        values[name] = torch.nn.Parameter(made, value.requires_grad) if is_parameter else made
    try:
        yield
    finally:
        for values, name, value in held:
            values[name] = value


def _without_values(program: ExportedProgram) -> list[tuple[dict[str, Any], str]]:
    held: tuple[dict[str, Any], ...] = (program.state_dict, program.constants)
    return [(values, name) for values in held for name, value in values.items() if isinstance(value, FakeTensor)]


FORMATS = (
    Format("pt2", "torch.export.save", (), _to_pt2),
    Format("onnx", "torch.onnx.export", ("onnx", "onnxscript"), _to_onnx),
    Format("executorch", "executorch.exir.to_edge", ("executorch",), _to_executorch),
)
