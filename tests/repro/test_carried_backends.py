"""A backend that only the user's file knows comes along in a script as source, or the script says why it cannot."""

from __future__ import annotations

import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from inductor_debug.repro.script.backend_source import BackendSource, carried
from repro_jobs import reproduce

pytestmark = pytest.mark.torch


def _carried(text: str, name: str = "mine", backend: Any = None) -> BackendSource:
    text = "import torch\n" + textwrap.dedent(text)
    module = ModuleType("carried_backend_file")
    exec(compile(text, "file.py", "exec"), vars(module))
    return carried(name, vars(module)[name] if backend is None else backend, vars(module), text)


def test_a_function_brings_what_it_needs_of_its_file_and_nothing_else() -> None:
    found = _carried("""
        import functools
        import math
        from torch.fx import GraphModule, Node

        LIMIT = 2 * math.pi
        UNUSED = 3


        class Refused(Exception):
            pass


        def names(graph: GraphModule):
            # a comment stays
            return [str(node.target) for node in graph.graph.nodes]


        @functools.lru_cache
        def least():
            return LIMIT


        def mine(graph, inputs):
            if len(names(graph)) > least():
                raise Refused
            return graph.forward
    """)
    assert not found.problem
    assert found.expression == "mine"
    assert found.imports == ("from torch.fx import GraphModule", "import functools", "import math")
    assert "UNUSED" not in found.code
    assert "# a comment stays" in found.code
    namespace: dict[str, Any] = {}
    exec("\n".join(["import torch", *found.imports, found.code]), namespace)
    assert namespace["least"]() > 6
    order = [found.code.index(name) for name in ("LIMIT = ", "class Refused", "def names", "@functools", "def mine")]
    assert order == sorted(order)


def test_what_registers_a_backend_is_left_out() -> None:
    found = _carried("""
        from torch._dynamo import register_backend


        def named(name):
            return lambda function: register_backend(function, name=name)


        @named("carried_backend_by_name")
        def mine(graph, inputs):
            return graph.forward
    """)
    assert found.code.startswith("def mine(")
    assert "register" not in found.code


def test_a_backend_of_aot_autograd_is_an_assignment() -> None:
    found = _carried("""
        from torch._dynamo.backends.common import aot_autograd


        def compiler(graph, inputs):
            return graph.forward


        mine = aot_autograd(fw_compiler=compiler)
    """)
    assert not found.problem
    assert found.code.endswith("mine = aot_autograd(fw_compiler=compiler)")
    assert found.imports == ("from torch._dynamo.backends.common import aot_autograd",)


REFUSED = {
    "another library": ("import msgpack\ndef mine(graph, inputs):\n    return msgpack.packb(1)", "it needs `msgpack`"),
    "one inside": ("def mine(graph, inputs):\n    import msgpack\n    return graph", "it needs `msgpack`"),
    "what a loop makes": (
        "for n in range(3):\n    pass\ndef mine(graph, inputs):\n    return n",
        "it needs `n`, a int",
    ),
    "a closure": ("def make():\n    def mine(graph, inputs):\n        pass\n    return mine\nmine = make()", ""),
    "a name of the script's": (
        "def outcome():\n    pass\ndef mine(graph, inputs):\n    return outcome()",
        "the script has a `outcome` of its own",
    ),
    "too much": ("def mine(graph, inputs):\n" + "    pass\n" * 500, "that would be 500 lines"),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_come_along_is_named(text: str, reason: str) -> None:
    found = _carried(text)
    if reason:
        assert reason in found.problem
        assert found.expression == '"mine"'
    else:
        assert "def make" in found.code


def test_what_another_function_made_has_no_source_of_its_own() -> None:
    assert (
        "made by another one" in _carried("def mine(graph, inputs):\n    pass", backend=lambda graph, inputs: 0).problem
    )


REGISTERED = """
from torch._dynamo import register_backend

LEAST = 2


def gelus(graph):
    return sum("gelu" in str(node.target) for node in graph.graph.nodes)


@register_backend
def carried_backend(graph, inputs):
    if gelus(graph) >= LEAST:
        raise NotImplementedError("no two of them")
    return graph.forward


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(8, 8) for _ in range(4)])

    def forward(self, x):
        for block in self.blocks:
            x = F.gelu(block(x))
        return x


def get_inputs():
    return [torch.randn(2, 8)]
"""


def test_the_script_of_a_registered_backend_runs_without_the_file(tmp_path: Path) -> None:
    found = reproduce(tmp_path, REGISTERED, backend="carried_backend")
    assert found.lines == ["functional.gelu(x)", "gelu_2 = functional.gelu(x_2)"]
    assert "backend=carried_backend" in found.script
    assert "LEAST = 2" in found.script
    assert not found.why
    assert found.status() == 0
    assert found.status(found.script.replace("LEAST = 2", "LEAST = 3")) == 1


def test_a_function_that_nobody_registered_is_meant_by_its_name(tmp_path: Path) -> None:
    source = REGISTERED.replace("@register_backend\n", "").replace("def carried_backend", "def plain_backend")
    found = reproduce(tmp_path, source, backend="plain_backend")
    assert found.document["nodes_after"] == 2
    assert found.status() == 0
