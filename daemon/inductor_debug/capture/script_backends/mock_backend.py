"""`mock_backend`: a `torch.compile` backend that judges every graph against an accelerator, then runs it eagerly.

For people who compile in scripts of their own, without the daemon:

    torch.compile(model, backend=mock_backend)
    torch.compile(model, backend=mock_backend(strict=True, accelerator="spyre"))
    torch.compile(model, backend="inductor_debug_mock")          # no import needed

Importing this module, which torch does for the last form before it traces anything, hooks into Dynamo so that findings
have exact columns. The backend never changes what a graph computes, and a failure of its own never stops a compilation.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from inductor_debug_schema import Stage
from torch.fx import GraphModule

from inductor_debug.capture.dynamo import dynamo_positions
from inductor_debug.capture.script_backends.graph_recording import record_graph
from inductor_debug.capture.script_backends.script_judgement import (
    Accelerator,
    Compiled,
    GraphJudgement,
    MockBackendError,
    MockBackendWarning,
)
from inductor_debug.capture.script_backends.transfer_log import logged

__all__ = ["MockBackendError", "MockBackendWarning", "inductor_debug_mock", "mock_backend"]

dynamo_positions.install()


def mock_backend(
    graph_module: GraphModule | None = None,
    example_inputs: list[Any] | None = None,
    *,
    strict: bool | None = None,
    accelerator: Accelerator | None = None,
    options: Mapping[str, Any] | None = None,
    **_: Any,
) -> Compiled:
    """A backend for `torch.compile`, or, called without a graph, a maker of such backends.

    Args:
        graph_module: the graph that Dynamo captured; None makes a backend with the other arguments.
        example_inputs: Dynamo's example inputs; not looked at.
        strict: raise one `MockBackendError` for a graph instead of one `MockBackendWarning` for each finding. By
            default the environment decides: `MOCK_STRICT=1`.
        accelerator: a built-in profile's name, the path of a TOML profile, or such a document. By default what the
            nearest `pyproject.toml` says, else "mock".
        options: `strict` and `accelerator` as given to `torch.compile(..., options={...})`.

    Returns:
        The graph's own forward function, which tells of its transfers where `INDUCTOR_DEBUG_TRANSFERS` asks for that;
        or a backend.

    Raises:
        MockBackendError: strict, and the graph has findings.
        ProfileError: there is no such accelerator, or its profile is broken.
    """
    options = options or {}
    strict = options.get("strict", strict)
    accelerator = options.get("accelerator", accelerator)
    if graph_module is None:
        return _configured_backend(strict, accelerator)
    verdict = GraphJudgement.of(Stage.MOCK, strict, accelerator)
    verdict.tell(graph_module, record_graph)
    compiled: Compiled = logged(graph_module, verdict.profile)
    return compiled


def _configured_backend(strict: bool | None, accelerator: Accelerator | None) -> Compiled:
    @functools.wraps(mock_backend)
    def backend(graph_module: GraphModule, example_inputs: list[Any], **keywords: Any) -> Compiled:
        return mock_backend(graph_module, example_inputs, strict=strict, accelerator=accelerator, **keywords)

    return backend


def inductor_debug_mock(graph_module: GraphModule, example_inputs: list[Any], **keywords: Any) -> Compiled:
    """The backend under the name `"inductor_debug_mock"`, which torch finds by its entry point."""
    return mock_backend(graph_module, example_inputs, **keywords)
