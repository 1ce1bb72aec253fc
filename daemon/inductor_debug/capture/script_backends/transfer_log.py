"""Logs of what crosses a graph's border: for scripts by an environment variable, for tasks by a listener.

The graph runs as it would without a log. What a transfer is and does to values is `capture.script_backends.transfers`'
business.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import torch
from inductor_debug_schema import Location, to_wire
from torch.fx import GraphModule
from torch.utils import _pytree as pytree

from inductor_debug.accelerators.capabilities import Profile
from inductor_debug.capture.graphs.graph_arguments import GraphArgument, arguments_of_dynamo
from inductor_debug.capture.script_backends.transfers import Border, Transfer, transfer_of

VARIABLE = "INDUCTOR_DEBUG_TRANSFERS"
"""`1` logs to stderr, any other value but `0` is the path of a JSON Lines file that is appended to."""


class TransferLog:
    """Tells `listener` of each transfer as it happens; graphs are numbered in the order in which they were captured.

    `values` is how many of a tensor's first and last elements, and of those that differ, are told.
    """

    def __init__(self, profile: Profile, listener: Callable[[Transfer], None], values: int = 0) -> None:
        self._profile, self._values = profile, values
        self._listener = listener
        self._graphs = 0

    def wrap(
        self, graph_module: GraphModule, declared: Callable[[GraphArgument], Location | None] = lambda argument: None
    ) -> Callable[..., Any]:
        """The forward of a graph that a backend was just given, with a log of its tensors at every call.

        Args:
            graph_module: Dynamo's graph.
            declared: where the user declared a parameter or gave an input.
        """
        forward = graph_module.forward
        borders = [
            Border(argument.role.value, argument.name, argument.place or declared(argument))
            for argument in arguments_of_dynamo(graph_module)
        ]
        graph = str(self._graphs)
        self._graphs += 1

        def call(*args: Any) -> Any:
            for index, argument in enumerate(args):
                border = borders[index] if index < len(borders) else Border("input", f"input {index}")
                self._note(graph, True, border, argument)
            results = forward(*args)
            for index, result in enumerate(pytree.tree_leaves(results)):
                self._note(graph, False, Border("output", f"output {index}"), result)
            return results

        return call

    def _note(self, graph: str, to_device: bool, border: Border, value: Any) -> None:
        if isinstance(value, torch.Tensor):
            transfer = transfer_of(
                value, self._profile, graph=graph, to_device=to_device, border=border, values=self._values
            )
            self._listener(transfer)


def logged(graph_module: GraphModule, profile: Profile, environment: Mapping[str, str] = os.environ) -> Any:
    """The graph's forward, with the log that `INDUCTOR_DEBUG_TRANSFERS` asks for, if it does.

    A file that cannot be written ends its log only.
    """
    destination = environment.get(VARIABLE, "").strip()
    if destination in ("", "0"):
        return graph_module.forward
    key = (profile.name, destination)
    if key not in _logs:
        _logs[key] = TransferLog(profile, _tell if destination == "1" else _Appender(destination))
    return _logs[key].wrap(graph_module)


_logs: dict[tuple[str, str], TransferLog] = {}
"""By profile and wish: one log for a process, so that every graph has a number of its own."""


def _tell(transfer: Transfer) -> None:
    print(f"inductor-debug: {transfer.line()}", file=sys.stderr)


class _Appender:
    def __init__(self, path: str) -> None:
        self._path: str | None = path

    def __call__(self, transfer: Transfer) -> None:
        if self._path is None:
            return
        try:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(json.dumps(to_wire(transfer.on_wire())) + "\n")
        except OSError as error:
            print(f"inductor-debug: {VARIABLE}: {self._path} cannot be written: {error}", file=sys.stderr)
            self._path = None
