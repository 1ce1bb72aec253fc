"""What a backend crashes on or computes wrong becomes the smallest script that shows it, whatever the failure needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from inductor_debug.repro.backend import backend_script
from inductor_debug.repro.backend.backend_oracle import Symptom
from repro_jobs import reproduce

pytestmark = pytest.mark.torch

HEAD = """
from torch._dynamo import register_backend


def wrong(name):
    def decorate(function):
        register_backend(function, name=name)
        return function
    return decorate


def get_inputs():
    torch.manual_seed(0)
    return [torch.randn(4, 8)]

"""
NET = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(6)])

    def forward(self, x):
        for index, layer in enumerate(self.layers):
            x = torch.tanh(layer(x))
            if index == 3:
                x = torch.relu(x)
        return x.sum(-1)
"""


def source(model: str, backend: str = "") -> str:
    return HEAD + model + backend


def fails_at(operation: str, statement: str, name: str) -> str:
    """A backend that runs `statement` where a graph has the operation."""
    return f"""
@wrong("{name}")
def {name}(graph, inputs):
    import os, signal
    if any("{operation}" in str(node.target) for node in graph.graph.nodes):
        {statement}
    return graph.forward


"""


def test_a_crash_becomes_the_operation_that_the_backend_crashes_on(tmp_path: Path) -> None:
    found = reproduce(tmp_path, source(NET), backend="relu_compile_error_TESTING_ONLY")
    assert found.lines == ["relu = torch.relu(x)"]
    assert found.document["nodes_before"] > 10
    assert found.status() == 0
    assert found.status(found.script.replace("torch.relu(x)", "torch.tanh(x)")) == 1
    assert any("nodes left" in event.message for event in found.progress)


def test_a_crash_inside_of_inductor_names_its_own_exception(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor import lowering

    def refuse(*args: Any) -> Any:
        raise ValueError("no lowering of relu 7 today")

    monkeypatch.setitem(lowering.lowerings, torch.ops.aten.relu.default, refuse)
    # Every attempt has the relu, so that Inductor never gets as far as building something.
    small = "class Model(nn.Module):\n    def forward(self, x):\n        return torch.relu(x).sum(-1)\n"
    found = reproduce(tmp_path, source(small), rule="capture-error", stage="inductor")
    assert found.lines == ["relu = torch.relu(x)"]
    assert "raises LoweringException" in found.script
    assert "ValueError: no lowering of relu" in found.script
    assert found.status() == 0
    assert (
        found.status(
            found.script.replace("torch.relu(x)", "torch.neg(x)").replace('backend="inductor', 'backend="eager')
        )
        == 1
    )


def test_wrong_numbers_become_the_operation_that_is_wrong(tmp_path: Path) -> None:
    found = reproduce(tmp_path, source(NET), backend="relu_accuracy_error_TESTING_ONLY")
    assert found.lines == ["relu = torch.relu(x)"]
    assert found.status() == 0
    assert found.status(found.script.replace("torch.relu(x)", "torch.tanh(x)")) == 1
    assert "torch.randn" in found.script
    assert not found.files


def test_what_takes_too_long_with_any_backend_is_not_called_a_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend_script, "symptom_of", lambda *given, **named: Symptom("hangs"))
    found = reproduce(tmp_path, source(NET), backend="aot_eager")
    assert found.document["script"] is None
    assert "takes too long here, whatever the backend" in found.why


def test_a_backend_that_does_nothing_wrong_is_said_to(tmp_path: Path) -> None:
    found = reproduce(tmp_path, source(NET), backend="eager")
    assert found.document["script"] is None
    assert found.why == "backend eager does nothing wrong to Model"


def test_an_unknown_backend_is_said_to_be_unknown(tmp_path: Path) -> None:
    assert "there is no backend 'nonsense'" in reproduce(tmp_path, source(NET), backend="nonsense").why


def test_a_backend_that_kills_its_process_is_survived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = reproduce(
        tmp_path, source(NET, fails_at("relu", "os.kill(os.getpid(), signal.SIGSEGV)", "kills")), backend="kills"
    )
    assert found.lines == ["relu = torch.relu(x)"]
    assert "SIGSEGV" in found.script
    assert found.status() == 0
    commands: list[list[str]] = []

    def run(command: list[str]) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 2)

    monkeypatch.setattr(subprocess, "run", run)
    namespace = {"__name__": "script", "__file__": "script.py"}
    exec(compile(found.script, "script.py", "exec"), namespace)
    assert not namespace["reproduces"]()
    assert commands == [[sys.executable, "script.py", "--run"]]  # which finds torch where this process does


BACKWARD = """
@wrong("backward")
def backward(graph, inputs):
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    def run(*args):
        return tuple(Wrong.apply(out) for out in graph.forward(*args))
    if any("relu" in str(node.target) for node in graph.graph.nodes):
        return run
    return graph.forward
"""


def test_a_failure_of_the_backward_pass_is_found_by_running_it(tmp_path: Path) -> None:
    found = reproduce(tmp_path, source(NET, BACKWARD), backend="backward")
    assert found.document["nodes_after"] <= 3
    assert "autograd.backward(" in found.script
    assert "requires_grad_()" in found.script


LOSES = {
    "gradients": ("with torch.no_grad(): return graph.forward(*args)", "1, 0.0001 allowed"),
    "a tensor": ("return (*graph.forward(*args)[:-1], None)", "tensors that come back: 1, wanted: 2"),
    "a dtype": (
        "return tuple(out.to(torch.float64) if out.isreal().all() else out for out in graph.forward(*args))",
        "float64 in place of torch.float32",
    ),
    "a sign": ("return [out.conj().resolve_conj() for out in graph.forward(*args)]", "allowed"),
}


@pytest.mark.parametrize(("statement", "words"), LOSES.values(), ids=LOSES.keys())
def test_a_backend_that_loses_something_is_wrong(statement: str, words: str, tmp_path: Path) -> None:
    text = f"""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(8))

    def forward(self, x):
        return torch.softmax(x * self.weight, -1), torch.complex(x, x)


@wrong("loses")
def loses(graph, inputs):
    def run(*args):
        {statement}
    return run
"""
    found = reproduce(tmp_path, HEAD + text, backend="loses")
    assert words in found.script
    assert found.status() == 0
    assert found.status(found.script.replace(statement, "return graph.forward(*args)")) == 1


VALUES = """
class Model(nn.Module):
    def forward(self, x):
        return torch.exp(torch.sin(x * 2))


@wrong("values")
def values(graph, inputs):
    def run(*args):
        found = graph.forward(*args)
        if any(bool(((arg - 0.123).abs() < 1e-6).any()) for arg in args if isinstance(arg, torch.Tensor)):
            return tuple(out + 1 for out in found)
        return found
    return run
"""


def test_values_that_matter_are_written_down(tmp_path: Path) -> None:
    text = source(VALUES).replace("torch.randn(4, 8)", "torch.arange(32.).reshape(4, 8).sub(5).mul(0.041)")
    found = reproduce(tmp_path, text, backend="values")
    assert "torch.tensor([" in found.script
    assert "recorded values of" in found.script
    assert not found.files


def test_many_values_that_matter_are_saved_beside_the_script(tmp_path: Path) -> None:
    text = source(VALUES).replace("torch.randn(4, 8)", "torch.arange(4096.).reshape(64, 64).sub(5).mul(0.041)")
    found = reproduce(tmp_path, text, backend="values")
    (name,) = found.files
    assert name.removesuffix(".safetensors") in found.script
    (tmp_path / f"kept-{name}").write_bytes(found.files[name])
    namespace = {"__name__": "script", "__file__": str(tmp_path / "script.py")}
    exec(compile(found.script, "script.py", "exec"), namespace)
    (values,) = namespace["make_inputs"]()
    assert values.flatten()[8].item() == pytest.approx(0.123)


MUTATING = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Linear(8, 8)
        self.tied = nn.Linear(8, 8)
        self.tied.weight = self.shared.weight

    def forward(self, x):
        y = self.shared(x)
        y.add_(1)
        z = F.dropout(self.tied(y), 0.5)
        z[:, :2] = 0
        return torch.relu(z), x[1:3]
"""


def test_mutation_tied_weights_views_and_random_operations_are_no_obstacle(tmp_path: Path) -> None:
    found = reproduce(tmp_path, source(MUTATING), backend="relu_compile_error_TESTING_ONLY")
    assert found.lines == ["relu = torch.relu(x)"]
    assert found.status() == 0


RANDOM = """
class Model(nn.Module):
    def forward(self, x):
        return torch.relu((torch.rand_like(x) + F.dropout(x, 0.5)) * 2)
"""


def test_random_numbers_do_not_hide_wrong_ones(tmp_path: Path) -> None:
    found = reproduce(tmp_path, source(RANDOM), backend="relu_accuracy_error_TESTING_ONLY")
    assert found.lines == ["relu = torch.relu(x)"]
    assert found.status() == 0


CALLS = """
@wrong("calls")
def calls(graph, inputs):
    seen = []

    def run(*args):
        seen.append(1)
        if len(seen) > 2:
            raise RuntimeError("called too often")
        return graph.forward(*args)
    return run
"""


def test_a_failure_that_needs_several_calls_is_called_several_times(tmp_path: Path) -> None:
    found = reproduce(tmp_path, source(NET, CALLS), backend="calls")
    assert "for _ in range(3)" in found.script
    assert found.document["nodes_after"] == 1


BRANCH = """
class Model(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda y: torch.relu(y), lambda y: y.cos(), (x,))
"""


def test_an_operation_of_a_branch_is_shown_without_the_branch(tmp_path: Path) -> None:
    looks_inside = """
@wrong("looks_inside")
def looks_inside(graph, inputs):
    if any("relu" in part.code for part in graph.modules() if isinstance(part, torch.fx.GraphModule)):
        raise NotImplementedError("no relu")
    return graph.forward
"""
    found = reproduce(tmp_path, source(BRANCH, looks_inside), backend="looks_inside")
    assert found.lines == ["relu = torch.relu(x)"]
    assert found.status() == 0


def test_a_failure_that_needs_branches_has_them_as_functions(tmp_path: Path) -> None:
    refuses = fails_at("cond", 'raise NotImplementedError("no branch")', "refuses")
    found = reproduce(tmp_path, source(BRANCH, refuses), backend="refuses")
    assert "    def cond_true_0(" in found.script
    assert "    cond = torch.ops.higher_order.cond(" in found.script
    assert not found.files
    assert found.status() == 0
    # Another exception is another failure, even one that is its own cause.
    other = "error = KeyError(); raise error from error"
    assert found.status(found.script.replace('raise NotImplementedError("no branch")', other)) == 1


SCAN = """
from torch._higher_order_ops.scan import scan


class Model(nn.Module):
    def forward(self, x):
        return scan(lambda total, row: (total + row, torch.relu(total * row)), x[0], x)[1]
"""


def test_what_cannot_be_written_as_code_is_exported_and_said_so(tmp_path: Path) -> None:
    refuses = fails_at("scan", 'raise NotImplementedError("no loop")', "refuses")
    found = reproduce(tmp_path, source(SCAN, refuses), backend="refuses")
    assert "does not take from code" in found.why
    (name,) = found.files
    assert name.endswith(".pt2")
    assert name.removesuffix(".pt2") in found.script
    assert "torch.export keeps it beside the script" in found.script
    assert found.status() == 0
    assert found.status(found.script.replace('raise NotImplementedError("no loop")', "pass")) == 1


def test_a_graph_that_is_no_code_and_does_nothing_wrong_is_said_to_be_right(tmp_path: Path) -> None:
    assert "does nothing wrong" in reproduce(tmp_path, source(SCAN), backend="eager").why


OWN_OPERATOR = """
@torch.library.custom_op("repro_backend_tests::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x):
    return torch.empty_like(x)


class Model(nn.Module):
    def forward(self, x):
        return torch.tanh(torch.ops.repro_backend_tests.twice(torch.relu(x)))
"""


LIBRARY = """
library = torch.library.Library("repro_backend_library_tests", "DEF")
library.define("twice(Tensor x) -> Tensor")
library.impl("twice", lambda x: x * 2, "CompositeExplicitAutograd")


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(torch.ops.repro_backend_library_tests.twice(x))
"""


def test_a_file_that_defines_a_library_of_operators_is_loaded_more_than_once(tmp_path: Path) -> None:
    found = reproduce(tmp_path, source(LIBRARY), backend="relu_compile_error_TESTING_ONLY")
    assert found.lines == ["relu = torch.relu(x)"]


def test_an_operator_of_the_projects_own_has_a_stand_in_for_backends_too(tmp_path: Path) -> None:
    found = reproduce(tmp_path, source(OWN_OPERATOR), backend="relu_compile_error_TESTING_ONLY")
    assert found.lines == ["relu = torch.relu(x)"]
    refuses = fails_at("twice", 'raise NotImplementedError("there is no kernel")', "refuses")
    # A file is executed once for each way of building its targets, and its backends are registered each time.
    found = reproduce(tmp_path, HEAD + refuses + OWN_OPERATOR, backend="refuses")
    assert found.lines == ["twice = torch.ops.repro_backend_tests.twice.default(x)"]
    assert "stand-in" in found.script


def test_the_script_of_a_flaky_failure_looks_for_it_more_than_once(tmp_path: Path) -> None:
    # Memory that forked attempts share: every other compilation fails, whoever asks for it.
    shared = "import mmap\n\n\nCOMPILATIONS = mmap.mmap(-1, 1)\n"
    second = 'COMPILATIONS[0] ^= 1\n        if COMPILATIONS[0]: raise RuntimeError("not today")'
    found = reproduce(tmp_path, source(NET, shared + fails_at("relu", second, "flaky")), backend="flaky")
    assert "flaky: it showed in 1 of 3 runs" in found.why
    assert "any(reproduces() for _ in range(10))" in found.script
    assert found.status() == 0


LOSES = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.zeros(8))

    def forward(self, x):
        y = torch.sin(x)
        self.steps.add_(y.sum(0))
        return y * 2


@wrong("loses")
def loses(graph, inputs):
    return lambda *args: graph.forward(*[arg.clone() for arg in args])
"""


def test_what_is_written_to_an_input_is_compared(tmp_path: Path) -> None:
    found = reproduce(tmp_path, source(LOSES), backend="loses")
    assert found.document["nodes_after"] == 1
    assert "steps.add_(x)" in found.script
    assert "the inputs, which are written to" in found.script


SYMBOLIC = """
class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x).reshape(x.shape[0] * 2, 4)


@wrong("numbers_only")
def numbers_only(graph, inputs):
    if any(isinstance(value, torch.SymInt) for value in inputs):
        raise RuntimeError("there are no symbols here")
    return graph.forward
"""


def test_a_failure_that_needs_symbolic_sizes_is_compiled_for_all_sizes(tmp_path: Path) -> None:
    found = reproduce(tmp_path, source(SYMBOLIC), backend="numbers_only")
    assert "dynamic=True" in found.script
    assert found.document["nodes_after"] == 1
    assert found.status() == 0
    assert found.status(found.script.replace("dynamic=True", "dynamic=False")) == 1


def test_inputs_are_called_as_in_the_source_and_the_place_is_that_of_the_operation(tmp_path: Path) -> None:
    found = reproduce(tmp_path, source(MUTATING, REFUSES_LINEAR), backend="refuses_linear")
    assert "shared_weight,  # float32[" in found.script
    assert "parameter shared.weight" in found.script
    assert "y = self.shared(x)" in found.script.partition("import sys")[0]


REFUSES_LINEAR = """
@wrong("refuses_linear")
def refuses_linear(graph, inputs):
    if any("linear" in str(node.target) for node in graph.graph.nodes):
        raise NotImplementedError("there is no such kernel")
    return graph.forward
"""


AFTER_A_BREAK = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        y = self.layer(x)
        torch._dynamo.graph_break()
        return torch.relu(y * 2)
"""


def test_gradients_that_flow_on_to_an_earlier_graph_are_compared(tmp_path: Path) -> None:
    found = reproduce(tmp_path, source(AFTER_A_BREAK, BACKWARD), backend="backward")
    assert "autograd.backward(" in found.script
    assert found.document["nodes_after"] <= 2
