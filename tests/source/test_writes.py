"""What changes a name in a text: found by its last attribute, near where it is read, and never in a constructor."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest
from inductor_debug.source.writes import default_of, function_at, owner_of, writes_near

TEXT = dedent(
    """
    STEPS = 0

    def count():
        global STEPS
        STEPS += 1

    class Net:
        def __init__(self):
            self.n = 0
            self.sizes = {}

        def forward(self, x, seen=[], *, limit=None):
            y = self.block.n + len(self.sizes)
            return y

        def tick(self):
            self.n, other = self.n + 1, 2
            self.sizes["a"]["b"] = 1
            self.sizes.update(c=2)
            del self.old[0]
            self.sizes.get("a")

    class Other:
        def tick(self):
            self.n = 3
            self.lonely: int = 2
    """
)
TREE = ast.parse(TEXT)
FORWARD = TEXT.splitlines().index("        y = self.block.n + len(self.sizes)") + 1


@pytest.mark.parametrize(
    ("name", "writes"),
    [
        ("self.block.n", ["self.n, other = (self.n + 1, 2)"]),
        ("self.sizes", ["self.sizes['a']['b'] = 1", "self.sizes.update(c=2)"]),
        ("self.sizes['a']", ["self.sizes['a']['b'] = 1", "self.sizes.update(c=2)"]),  # no other item is known to be it
        ('self.sizes["a"]["b"]', ["self.sizes['a']['b'] = 1"]),
        ("self.old", ["del self.old[0]"]),
        ("self.lonely", ["self.lonely: int = 2"]),  # nothing nearer changes it
        ("STEPS", ["STEPS += 1", "STEPS = 0"]),
        ("nothing", []),
    ],
)
def test_writes_are_found_nearby(name: str, writes: list[str]) -> None:
    as_written_here = [ast.unparse(ast.parse(write)) for write in writes]  # Python 3.10 has brackets around tuples
    assert [ast.unparse(node) for node in writes_near(TREE, FORWARD, name)] == as_written_here


def test_the_function_of_the_reader_comes_first() -> None:
    line = TEXT.splitlines().index("    STEPS += 1") + 1
    assert [ast.unparse(node) for node in writes_near(TREE, line, "STEPS")] == ["STEPS += 1"]


def test_defaults_are_found_by_parameter() -> None:
    function = function_at(TREE, FORWARD)
    assert function is not None
    assert [ast.unparse(found[1]) for name in ("seen", "limit", "x") if (found := default_of(function, name))] == [
        "[]",
        "None",
    ]


def test_what_a_statement_changes() -> None:
    [statement] = ast.parse("self.counts['a'] += 1").body
    owner = owner_of(statement)
    assert owner is not None
    assert ast.unparse(owner) == "self.counts"
