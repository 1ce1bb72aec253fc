"""What a project gives a model after building it: `model.drop_prob = args.drop_prob`, `net.reset(batch_size)`.

Values are looked for only where methods of the class read what nothing in its own text gives it. What another method
of the class gives before the first run (`init_hidden`, `init_sequence`, `reset`) that method is called for, once the
object is built. What a class has by itself is never replaced.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from inductor_debug.capture.failures.attributes.missing import reads_of, unset_reads
from inductor_debug.capture.failures.attributes.setting import Function, first_parameter, set_by
from inductor_debug.capture.inference.construction.call_sites import CallSites, set_later
from inductor_debug.capture.inference.construction.invention import constructor_value
from inductor_debug.capture.inference.construction.signatures import spelled
from inductor_debug.capture.inference.specs.argument_names import DEFAULT_SIZES, is_batch
from inductor_debug.capture.inference.values.guarded_execution import TooLongError, at_most
from inductor_debug.capture.inference.values.symbolic_values import fresh, is_known
from inductor_debug.capture.runtime import foreign

_SECONDS = 2.0
"""What a method may take that is called for what it gives: one that trains a model is none of those."""


@dataclass(frozen=True)
class SetLater:
    """The attributes that a project gives the objects of a class, and those of them whose values are made up.

    `preparing` has the methods that give attributes before the first run, with what they give.
    """

    attributes: Mapping[str, Any] = field(default_factory=dict)
    made_up: frozenset[str] = frozenset()
    preparing: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def on(self, built: Any) -> Any:
        """The object, with those attributes that it has not got by itself."""
        for name, value in self.attributes.items():
            if not hasattr(built, name):
                setattr(built, name, fresh(value))
        for method, given in self.preparing.items():
            if not all(hasattr(built, name) for name in given):
                _prepare(built, method)
        return built

    def calls(self, kind: type) -> tuple[str, ...]:
        """The calls of methods before the first run, as they would be written."""
        given = ((method, _arguments(getattr(kind, method), 1)) for method in self.preparing)
        texts = ((method, (f"{name}={value!r}" for name, value in values.items())) for method, values in given)
        return tuple(f"{method}({', '.join(arguments)})" for method, arguments in texts)


def _prepare(built: Any, method: str) -> None:
    """Calls a method for what it gives the object; where it refuses, its first run will tell what is missing."""
    with contextlib.suppress(Exception, TooLongError), at_most(_SECONDS):
        function = getattr(built, method)
        function(**_arguments(function))


def _arguments(function: Any, bound: int = 0) -> dict[str, Any]:
    """Values for what a method has no defaults for, after so many parameters as are bound otherwise."""
    values: dict[str, Any] = {}
    for parameter in (foreign.parameters(function) or [])[bound:]:
        if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            values[parameter.name] = _argument(parameter, values)
    return values


def _argument(parameter: inspect.Parameter, known: dict[str, Any]) -> Any:
    """As many in a batch as inputs have, where it is called so."""
    if is_batch(parameter.name):
        return DEFAULT_SIZES["B"]
    return constructor_value(parameter.name, spelled(parameter.annotation), known, 0)


def attributes_set_later(
    kind: type, module: ModuleType, tree: ast.Module, path: str, root: str, sites: CallSites
) -> SetLater:
    """What the project sets on the objects of a class after building them.

    Args:
        kind: the class.
        module: its file, executed.
        tree: its file.
        path: where its file is.
        root: the project's folder.
        sites: the calls in its file.
    """
    node = next((item for item in tree.body if isinstance(item, ast.ClassDef) and item.name == kind.__name__), None)
    preparing = _preparing(node, kind) if node is not None else {}
    wanted = unset_reads(node, kind) if node is not None else set()
    if not wanted:
        return SetLater(preparing=preparing)
    found = {
        name: value for name, value in set_later(root, path, kind.__name__, sites, module).items() if name in wanted
    }
    unknown = frozenset(name for name, value in found.items() if not is_known(value))
    return SetLater({**found, **{name: constructor_value(name, "", {}, 0) for name in unknown}}, unknown, preparing)


def _preparing(node: ast.ClassDef, kind: type) -> dict[str, frozenset[str]]:
    """The methods that give what a run reads and neither the constructor nor a run gives; what gives most is first."""
    methods = {item.name: item for item in node.body if isinstance(item, Function) and first_parameter(item)}
    if "forward" not in methods or "__init__" not in methods:
        return {}
    made, run = (set(_reached(methods, start)) for start in ("__init__", "forward"))
    given = {name: set_by(item) for name, item in methods.items()}
    needed = {read for name in run for read in reads_of(methods[name])} - set(dir(kind))
    needed -= set().union(*(given[name] for name in made | run))
    found: dict[str, frozenset[str]] = {}
    outside = {name: set().union(*(given[one] for one in _reached(methods, name))) for name in methods}
    for name in sorted(outside, key=lambda item: (-len(outside[item] & needed), item)):
        gives = outside[name] & needed if name not in made | run else set()
        if gives:
            found[name] = frozenset(gives)
            needed -= gives
    return found


def _reached(methods: Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef], start: str) -> Iterator[str]:
    """A method, and those of the same object that it calls."""
    waiting, seen = [start], {start}
    while waiting:
        name = waiting.pop()
        yield name
        called = {item for item in reads_of(methods[name]) if item in methods} - seen
        seen |= called
        waiting += called
