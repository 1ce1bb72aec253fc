"""Measures the minimiser against torch's own on the same seeded failures; run as a module, it prints JSON.

Prints one JSON document. A process of its own, because it needs torch and the command line does not. Models are built
here with random weights, small enough to run; nothing of the user's is looked at. torch's minifier is
`torch._functorch.fx_minifier` (torch 2.11 to 2.13).
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import runpy
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from inductor_debug.repro.minimiser.minimise import Minimiser
from inductor_debug.repro.program.from_graph import program_of_graph
from inductor_debug.repro.program.program import Program
from torch import nn
from torch.fx import GraphModule

from inductor_debug_benchmarks.processes.predicates import Pattern, PatternOracle, shape_of_graph, shape_of_program


@dataclass(frozen=True)
class FailureCase:
    """One failure in one graph, and how both minimisers fared: nodes left, attempts, seconds."""

    graph: str
    failure: str
    nodes: int
    ours_nodes: int
    ours_attempts: int
    ours_seconds: float
    theirs_nodes: int
    theirs_attempts: int
    theirs_seconds: float


class Branching(nn.Module):
    """Four branches of different depth that meet twice."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[batch, 16] to [batch, 16]."""
        a = torch.tanh(self.layers[0](x)) * torch.sigmoid(self.layers[1](x))
        b = torch.relu(self.layers[2](x)).cumsum(-1) + self.layers[3](a)
        c = torch.sin(self.layers[4](x)).softmax(-1) - torch.cos(b).exp()
        d = self.layers[5](a + c).erf() @ self.layers[6](b).transpose(0, 1)
        result: torch.Tensor = self.layers[7](d.sqrt().abs() @ x + torch.stack([a, b, c]).mean(0))
        return result


def graphs(examples: Path) -> Iterator[tuple[str, GraphModule, list[Any]]]:
    """Name, graph and inputs: a branching one, BERT with twelve layers, and examples."""
    yield "branching", *captured(Branching(), (torch.randn(16, 16),))
    with contextlib.suppress(ImportError):
        library = importlib.import_module("transformers")  # not every interpreter has it
        small = library.BertConfig(hidden_size=32, num_hidden_layers=12, num_attention_heads=4, intermediate_size=64)
        small.vocab_size = 128
        yield "bert-12", *captured(library.BertModel(small).train(False), (torch.randint(0, 128, (1, 16)),))
    for name, (kind, arguments, inputs) in _EXAMPLES.items():
        path = examples / f"{name}.py"
        if path.is_file():
            yield name, *captured(runpy.run_path(str(path))[kind](*arguments).eval(), inputs())


_EXAMPLES: dict[str, tuple[str, tuple[Any, ...], Callable[[], tuple[Any, ...]]]] = {
    "tiny_attention": ("TinyAttention", (64, 4), lambda: (torch.randn(2, 16, 64),)),
    "ssm": ("StateSpaceModel", (256, 32, 4), lambda: (torch.zeros(2, 16, dtype=torch.int64),)),
    "resnet18": ("Model", (10,), lambda: (torch.randn(1, 3, 64, 64),)),
}
"""Class, arguments of its constructor and inputs of each example that is one model; sizes are smaller than there."""


def captured(model: nn.Module, arguments: tuple[Any, ...]) -> tuple[GraphModule, list[Any]]:
    """The first graph that Dynamo makes of a model, with its inputs."""
    found: list[tuple[GraphModule, list[Any]]] = []

    def backend(graph_module: GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        def call(*values: Any) -> Any:
            found.append((graph_module, list(values)))
            return graph_module.forward(*values)

        return call

    torch._dynamo.reset()
    with torch.no_grad():
        torch.compile(model, backend=backend, dynamic=False)(*arguments)
    return found[0]


def patterns(program: Program) -> dict[str, Pattern]:
    """Failures of a graph: one operation early, midway and late, chains, and operations far apart."""
    shape = shape_of_program(program)
    names = [name for name, _ in shape]
    once = list(dict.fromkeys(names))
    count = len(names)
    found = {
        "an early operation": Pattern((names[count // 10],)),
        "an operation midway": Pattern((names[count // 2],)),
        "a late operation": Pattern((names[-1 - count // 20],)),
        "every use of one": Pattern((max(once, key=names.count),), least=min(4, max(names.count(n) for n in once))),
        "two far apart": Pattern((names[1], names[-2])),
    }
    for index in (count // 3, 3 * count // 4):
        reads = [read for read in shape[index][1] if names[read] != names[index]]
        if reads:
            found[f"a pair at {index}"] = Pattern((names[reads[0]], names[index]), linked=True)
    return found


def compare(name: str, graph: GraphModule, inputs: list[Any]) -> Iterator[FailureCase]:
    """All failures of one graph, by both minimisers."""
    program = program_of_graph(graph, inputs)
    for words, pattern in patterns(program).items():
        if not (pattern.holds(shape_of_program(program)) and pattern.holds(shape_of_graph(graph))):
            continue
        started = time.perf_counter()
        ours = Minimiser(PatternOracle(pattern)).run(program)
        ours_seconds = time.perf_counter() - started
        theirs_nodes, theirs_attempts, theirs_seconds = _torchs(graph, inputs, pattern)
        yield FailureCase(
            name,
            words,
            len(program.steps),
            len(ours.program.steps),
            ours.for_nodes,
            round(ours_seconds, 3),
            theirs_nodes,
            theirs_attempts,
            round(theirs_seconds, 3),
        )


def _torchs(graph: GraphModule, inputs: list[Any], pattern: Pattern) -> tuple[int, int, float]:
    from torch._functorch.fx_minifier import minifier

    attempts = 0

    def fails(candidate: GraphModule, values: Any) -> bool:
        nonlocal attempts
        attempts += 1
        return pattern.holds(shape_of_graph(candidate))

    started = time.perf_counter()
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()), torch.no_grad():
        left, _ = minifier(graph, inputs, fails, dump_state=lambda *_: None)
    return len(shape_of_graph(left)), attempts, time.perf_counter() - started


def main(examples: str) -> None:
    """Runs everything and prints the document."""
    torch.manual_seed(0)
    cases = [case for name, graph, inputs in graphs(Path(examples)) for case in compare(name, graph, inputs)]
    print(json.dumps({"torch": torch.__version__, "cases": [asdict(case) for case in cases]}))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "examples")
