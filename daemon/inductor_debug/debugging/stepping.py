"""The backend of a debugged run: each graph runs first as its Python file, then as what Inductor made of it.

The same class makes the files (in a worker, where nothing is compared) and runs them: what it is given as `folder` says
which. The order in which graphs and modules come is what ties a run to the files of an earlier one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from inductor_debug_schema import Location
from inductor_debug_schema.answers.debug_document import DebugFile, DebugFileKind, DebugStop
from torch.fx import GraphModule

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.debugging.generated_modules import Generated, modules_taken, without_number
from inductor_debug.debugging.graph_source import COMPARE, GraphSource, graph_source
from inductor_debug.debugging.values_apart import BothSides, CompiledValues, compared
from inductor_debug.kerneldiff.execution.node_graphs import NodePlaces
from inductor_debug.kerneldiff.execution.run_state import seed_everything
from inductor_debug.kerneldiff.execution.structure import cloned

MOST_COMPARED = 300
"""Nodes of all graphs that are compiled as outputs where nobody names an expression: more take minutes."""
_NOT_ASKED = "not compiled as a value of its own: name the expression's line"


@dataclass
class Shown:
    """The value of an expression on both sides, as it came last."""

    name: str
    place: Location | None
    value: BothSides


@dataclass
class Stepping:
    """Makes the files of one target's graphs, or runs those in `folder`.

    `at` says which expressions are computed by the compiler as values of their own, None for all of a small target.
    """

    target: str
    places: NodePlaces
    sources: SourceMap
    seed: int
    at: Callable[[Location], bool] | None = None
    folder: Path | None = None
    files: list[DebugFile] = field(default_factory=list)
    stops: list[DebugStop] = field(default_factory=list)
    shown: dict[str, Shown] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    nodes: int = 0
    graphs: int = 0
    _current: str = ""
    _numbers: dict[str, str] = field(default_factory=dict)

    def backend(self, module: GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        """What `torch.compile` calls for each graph."""
        from torch._inductor.compile_fx import compile_fx as compile_graph

        compile_fx: Any = compile_graph
        number, self.graphs = self.graphs, self.graphs + 1
        name = f"graph_{number}"
        title = f"Graph {number} of {self.target}, as torch.compile captured it."
        source = graph_source(f"{name}.py", title, module, self.places, self.sources)
        self.stops += source.stops
        path = self._kept(f"{name}.py", DebugFileKind.GRAPH, source.text)
        run = _GraphRun(self, name, module, source, path) if self.folder is not None else None
        self._current = name
        try:
            actual = compile_fx(module, example_inputs)
        finally:
            self._current = ""

        def call(*args: Any) -> Any:
            if run is not None:
                run(cloned(args))
            return actual(*args)

        return call

    def wanted(self, source: GraphSource) -> dict[str, Location | None]:
        """The nodes of a graph whose compiled values are asked for, with their expressions."""
        if self.at is None:
            self.nodes += len(source.stops)
            return {stop.name: stop.place for stop in source.stops} if self.nodes <= MOST_COMPARED else {}
        return {stop.name: stop.place for stop in source.stops if stop.place is not None and self.at(stop.place)}

    def taking(self) -> AbstractContextManager[None]:
        """What the whole run is in: a backward pass is compiled when it first runs, long after its forward pass."""
        return modules_taken(self._take)

    def _take(self, module: Generated) -> str | None:
        """The file of a module; None for what is none of the target's: values that are compiled to be compared."""
        if module.number and self._current and not module.backward:
            self._numbers[module.number] = self._current
        graph = self._numbers.get(module.number, "") if module.backward else self._current
        if not graph:
            return None
        stem = f"{graph}_inductor_{'backward' if module.backward else 'forward'}"
        known = {file.name: without_number(file.text) for file in self.files}
        name, again = f"{stem}.py", 1
        # Torch may load a module twice, once out of its cache.
        while known.get(name, without_number(module.text)) != without_number(module.text):
            again += 1
            name = f"{stem}_{again}.py"
        if name in known:
            return str(self.folder / name) if self.folder is not None else None
        self.stops += _stops_of(name, module, self.sources)
        path = self._kept(name, DebugFileKind.GENERATED, module.text)
        return str(path) if path is not None else None

    def _kept(self, name: str, kind: DebugFileKind, text: str) -> Path | None:
        """Where the file is, which is written anew where the compiler made another one than when it was written."""
        self.files.append(DebugFile(name=name, file_kind=kind, text=text))
        if self.folder is None:
            return None
        path = self.folder / name
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
        if without_number(before) != without_number(text):
            path.write_text(text, encoding="utf-8")
            self.changed.append(name)
        return path


class _GraphRun:
    """Runs the Python of a graph, with the compiled values at hand."""

    def __init__(
        self, stepping: Stepping, name: str, module: GraphModule, source: GraphSource, path: Path | None
    ) -> None:
        assert path is not None
        self._stepping, self._name, self._module = stepping, name, module
        self._wanted = stepping.wanted(source)
        self._values = CompiledValues(module, self._wanted)
        self._compiled: dict[str, torch.Tensor] = {}
        names = {**source.names, "__name__": name, "__file__": str(path), COMPARE: self._compared}
        exec(compile(source.text, str(path), "exec"), names)
        self._forward = names["forward"]

    def __call__(self, args: Any) -> None:
        seed_everything(self._stepping.seed)
        self._compiled = self._values.of(cloned(args))
        if self._values.problem:
            self._stepping.problems.append(f"{self._name}.py: {self._values.problem}")
        seed_everything(self._stepping.seed)
        with torch.no_grad():
            self._forward(self._module, *args)
        seed_everything(self._stepping.seed)

    def _compared(self, name: str, value: torch.Tensor) -> BothSides:
        """What the file calls behind each statement; a debugger shows what it returns."""
        found = compared(value, self._compiled.get(name), self._values.problem or _NOT_ASKED)
        if name in self._wanted:
            self._stepping.shown[f"{self._name}.{name}"] = Shown(name, self._wanted[name], found)
        return found


def _stops_of(name: str, module: Generated, sources: SourceMap) -> list[DebugStop]:
    """Where the results of kernels are there, once for each line of the user's that a kernel computes."""
    found: dict[tuple[int, str, int], DebugStop] = {}
    for kernel in module.kernels:
        for stack in kernel.stacks:
            own = [frame for frame in stack if sources.in_project(frame[0])]
            for path, line in own[-1:]:
                place = sources.location(path, line)
                found[kernel.line, path, line] = DebugStop(file=name, line=kernel.line, name="", place=place)
    return list(found.values())
