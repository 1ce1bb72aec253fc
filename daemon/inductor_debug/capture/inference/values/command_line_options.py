"""What a file's command line gives where nobody types anything: argparse, optparse, click, typer, absl, as syntax."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from inductor_debug.capture.inference.values.plain_values import PlainValues
from inductor_debug.capture.inference.values.symbolic_values import UnknownError

_PARSERS = ("add_argument", "add_option")
"""The methods of argparse's parsers and of optparse's."""
_CLICK = ("option", "argument")
_TYPER = ("Option", "Argument")
PARSING = ("parse_args", "parse_known_args")
"""The methods that read the command line."""
_BLOCKS = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)


def options_of(tree: ast.Module, reader: PlainValues) -> dict[str, Any]:
    """The values of options that are plain, by the names that code knows them by: defaults, flags, first choices."""
    found: dict[str, Any] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = _name_of(node)
        said = {item.arg: item.value for item in node.keywords}
        texts = [item.value for item in node.args if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        if called in (*_PARSERS, *_CLICK):
            name = _destination(texts, said, click=called in _CLICK)
            if name:
                found[name] = _value(reader, said)
        elif called.startswith("DEFINE_") and texts:
            default = node.args[1] if len(node.args) > 1 else said.get("default")
            found[texts[0]] = reader.or_unknown(default, {}) if default is not None else UnknownError
        elif called == "set_defaults":
            found.update({item.arg: reader.or_unknown(item.value, {}) for item in node.keywords if item.arg})
    known = {name: value for name, value in found.items() if value is not UnknownError}
    return _as_set_afterwards(known, tree, reader)


def _as_set_afterwards(options: dict[str, Any], tree: ast.Module, reader: PlainValues) -> dict[str, Any]:
    """The options as the statements leave them that always follow on reading the command line in the same block.

    `args.rates = [int(rate) for rate in args.rates.split("+")]` leaves no text.
    """
    for block in (node.body for node in ast.walk(tree) if isinstance(node, _BLOCKS)):
        name = None
        for statement in block:
            if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
                continue
            target = statement.targets[0]
            if isinstance(statement.value, ast.Call) and _name_of(statement.value) in PARSING:
                first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
                name = first.id if isinstance(first, ast.Name) else None
            elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == name:
                value = reader.or_unknown(statement.value, {target.value.id: SimpleNamespace(**options)})
                options.pop(target.attr, None)
                if value is not UnknownError:
                    options[target.attr] = value
    return options


def takes_options(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether decorators say that the command line gives a function its arguments."""
    return any(isinstance(item, ast.Call) and _name_of(item) in _CLICK for item in function.decorator_list)


def default_of(written: ast.expr) -> ast.expr:
    """What a parameter is where nobody gives it: of `typer.Option(64)` its first argument."""
    if isinstance(written, ast.Call) and _name_of(written) in _TYPER:
        named = [item.value for item in written.keywords if item.arg == "default"]
        return next(iter([*written.args, *named]), written)
    return written


def _name_of(node: ast.Call) -> str:
    called = node.func
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def _destination(flags: list[str], said: Mapping[str | None, ast.expr], *, click: bool) -> str:
    """The name that an option has in code: `dest`, click's name without dashes, the first long flag."""
    named = said.get("dest")
    if isinstance(named, ast.Constant) and isinstance(named.value, str):
        return named.value
    plain = [flag for flag in flags if click and flag.isidentifier()]
    chosen = next(iter([*plain, *(flag for flag in flags if flag.startswith("--")), *flags[-1:]]), "")
    return chosen.partition("/")[0].lstrip("-").replace("-", "_")


def _value(reader: PlainValues, said: Mapping[str | None, ast.expr]) -> Any:
    """What an option is where nobody gives it."""
    if "default" in said:
        return reader.or_unknown(said["default"], {})
    action = said.get("action")
    if isinstance(action, ast.Constant) and action.value in ("store_true", "store_false"):
        return action.value == "store_false"
    if isinstance(said.get("is_flag"), ast.Constant):
        return False
    choices = reader.or_unknown(said["choices"], {}) if "choices" in said else ()
    return next(iter(choices), UnknownError) if isinstance(choices, list | tuple) else UnknownError
