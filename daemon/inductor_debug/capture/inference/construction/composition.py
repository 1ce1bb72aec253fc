"""Configurations that are put together of several files, as hydra does it: a `defaults` list, groups, references.

Files are read as data by whoever asks; hydra and OmegaConf are neither needed nor run. What only they can know
(resolvers such as `${oc.env:HOME}`, sweeps, overrides of the command line) stays as it is written.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable
from typing import Any

_DEFAULTS = "defaults"
_SELF = "_self_"
_DEEPEST = 6
_REFERENCE = re.compile(r"\$\{([\w.]+)\}")
_ENDINGS = (".yaml", ".yml")
Read = Callable[[str], Any]
"""The document in a file, None where there is none."""


def composed(path: str, read: Read) -> Any:
    """The document of a file with those that its defaults list names, references resolved; None where it has none.

    Args:
        path: the file; groups lie in folders beside it.
        read: reads one file.
    """
    document = read(path)
    if not isinstance(document, dict):
        return document
    root = os.path.dirname(path)
    whole = _with_defaults(document, root, root, read, 0)
    return _resolved(whole, whole, 0)


def main_configuration(decorators: list[ast.expr], path: str, read: Read) -> dict[str, Any] | None:
    """What `@hydra.main(config_path=…, config_name=…)` gives the function below it; None where nothing does.

    Args:
        decorators: those of a function.
        path: its file, from which `config_path` goes.
        read: reads one file.
    """
    for item in decorators:
        if isinstance(item, ast.Call) and ast.unparse(item.func) in ("hydra.main", "main"):
            given = dict(zip(("config_path", "config_name"), item.args, strict=False))
            given.update({word.arg: word.value for word in item.keywords if word.arg})
            folder, name = _text(given.get("config_path")), _text(given.get("config_name"))
            if name:
                found = _first(os.path.join(os.path.dirname(path), folder, name), lambda file: composed(file, read))
                return found if isinstance(found, dict) else None
    return None


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _first(stem: str, read: Read) -> Any:
    """The document of a file that is named without its ending, perhaps."""
    names = [stem] if stem.endswith(_ENDINGS) else [stem + ending for ending in _ENDINGS]
    return next((found for name in names if (found := read(name)) is not None), None)


def _with_defaults(document: dict[str, Any], folder: str, root: str, read: Read, depth: int) -> dict[str, Any]:
    """A document and what its defaults list names, in that order: its own values last where it does not say."""
    own = {key: value for key, value in document.items() if key != _DEFAULTS}
    listed = document.get(_DEFAULTS)
    if not isinstance(listed, list) or depth > _DEEPEST:
        return own
    whole: dict[str, Any] = {}
    for entry in listed if _SELF in listed else [*listed, _SELF]:
        if entry == _SELF:
            _merge(whole, own)
            continue
        for group, option in entry.items() if isinstance(entry, dict) else (("", entry),):
            for name in option if isinstance(option, list) else [option]:
                if isinstance(name, str) and not group.startswith("override "):
                    _merge(whole, _chosen(group.removeprefix("optional "), name, folder, root, read, depth))
    return whole


def _chosen(group: str, name: str, folder: str, root: str, read: Read, depth: int) -> dict[str, Any]:
    """What one entry of a defaults list adds, under the package that its group or the entry says."""
    place, _, package = group.partition("@")
    home = os.path.join(root, place.lstrip("/")) if place.startswith("/") else os.path.join(folder, place)
    document = _first(os.path.join(home, name), read)
    if not isinstance(document, dict):
        return {}
    found = _with_defaults(document, os.path.dirname(os.path.join(home, name)), root, read, depth + 1)
    keys = package.split(".") if package else [part for part in place.split("/") if part]
    for key in reversed([key for key in keys if key not in ("_global_", "_here_")]):
        found = {key: found}
    return found


def _merge(into: dict[str, Any], other: dict[str, Any]) -> None:
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = dict(value) if isinstance(value, dict) else value


def _resolved(value: Any, root: dict[str, Any], depth: int) -> Any:
    """The value with references to other places of the document followed; those that lead nowhere stay."""
    if isinstance(value, dict):
        return {key: _resolved(item, root, depth) for key, item in value.items()}
    if isinstance(value, list):
        return [_resolved(item, root, depth) for item in value]
    match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if match is None or depth > _DEEPEST:
        return value
    found: Any = root
    for key in match[1].split("."):
        if not isinstance(found, dict) or key not in found:
            return value
        found = found[key]
    return _resolved(found, root, depth + 1)
