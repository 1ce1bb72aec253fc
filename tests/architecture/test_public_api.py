"""What scripts import of the package: the same names for Python and for type checkers, each with its documentation."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path

import inductor_debug
import pytest

STUB = Path(inductor_debug.__file__).with_suffix(".pyi")
NAMES = [name for name in inductor_debug.__all__ if not name.startswith("_")]


def stubbed() -> dict[str, str]:
    """The names that the stub exports, and the module that it takes each from."""
    nodes = [node for node in ast.parse(STUB.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in nodes for alias in node.names if alias.asname == alias.name}


def test_type_checkers_know_the_names_that_python_knows() -> None:
    assert sorted(stubbed()) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_what_its_stub_says_and_says_what_it_takes(name: str) -> None:
    value = getattr(inductor_debug, name)
    assert value is getattr(importlib.import_module(stubbed()[name]), name)
    documentation = inspect.getdoc(value) or ""
    assert documentation
    for method, function in callables(value):
        text = documentation + (inspect.getdoc(function) or "")
        unsaid = [parameter for parameter in inspect.signature(function).parameters if parameter not in text]
        assert [parameter for parameter in unsaid if parameter not in ("self", "args", "kwargs")] == [], method


def callables(value: object) -> list[tuple[str, object]]:
    """A function, or the methods of a class that are written for users (dataclasses document their fields)."""
    if not inspect.isclass(value):
        return [("", value)]
    own = [(name, member) for name, member in vars(value).items() if inspect.isfunction(member)]
    return [(name, member) for name, member in own if not name.startswith("_")]
