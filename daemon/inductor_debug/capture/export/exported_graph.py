"""The graph of an exported program as a table, in the names of the target that was exported. Runs nothing."""

from __future__ import annotations

from dataclasses import replace

from inductor_debug_schema import Graph, GraphDocument, GraphKind, NodeRole, Stage
from torch.export import ExportedProgram

from inductor_debug.capture.export.export_run import ExportAttempt
from inductor_debug.capture.export.shape_rows import names_of_inputs
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.graphs.graph_arguments import GraphArgument
from inductor_debug.capture.graphs.graph_tables import document_of, table_of
from inductor_debug.capture.running.target import BuiltTarget

_WRAPPED = ("function", "owner")
"""What `ListedArguments` calls the target."""


def exported_document(target: BuiltTarget, attempt: ExportAttempt, sources: SourceMap) -> GraphDocument:
    """The document of what came of an export: its one graph, or none."""
    program = attempt.program
    if program is None:
        return document_of(target, Stage.EXPORT, [])
    table = table_of(
        program.graph_module,
        name="0",
        kind=GraphKind.FORWARD,
        sources=sources,
        module_names=None,
        arguments=_arguments(program, target),
    )
    places = {node.name: attempt.place_of(node) for node in program.graph.nodes}
    nodes = [replace(node, place=places.get(node.name) or node.place, module=_own(node.module)) for node in table.nodes]
    return document_of(target, Stage.EXPORT, [Graph(table.name, table.kind, nodes, table.made_from)])


def _arguments(program: ExportedProgram, target: BuiltTarget) -> dict[str, GraphArgument]:
    signature = program.graph_signature
    held = ((signature.inputs_to_parameters, NodeRole.PARAMETER), (signature.inputs_to_buffers, NodeRole.BUFFER))
    found = {name: GraphArgument(role, _own(path)) for table, role in held for name, path in table.items()}
    given = zip(signature.user_inputs, names_of_inputs(target), strict=False)
    return {**found, **{str(name): GraphArgument(NodeRole.INPUT, called) for name, called in given}}


def _own(path: str) -> str:
    """The path of a module or tensor in the target, by that in what was exported."""
    first, _, rest = path.partition(".")
    return rest if first in _WRAPPED else path
