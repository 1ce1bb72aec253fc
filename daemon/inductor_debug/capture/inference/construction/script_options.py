"""Options of a project's scripts, for classes that are handed them whole: `Model(args)` in a file of its own.

A class that reads `configs.seq_len` and `configs.d_model` is given the defaults of the script whose parser has most of
those names, as if nobody had typed anything; or what has most of them in any other file: a call that names them
(`HParams(seq_len=96, …)`), a dict, a class that holds nothing but values. Files are read as syntax; none is imported.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from inductor_debug.capture.inference.construction.configuration_files import (
    ConfigurationFiles,
    WrittenConfiguration,
    fields_asked,
)
from inductor_debug.capture.inference.construction.demand import Demand
from inductor_debug.capture.inference.construction.invention import constructor_value
from inductor_debug.capture.inference.construction.project_files import files_of, names_of, text_of_file
from inductor_debug.capture.inference.values.built_tables import tables_built_in
from inductor_debug.capture.inference.values.command_line_options import PARSING, options_of
from inductor_debug.capture.inference.values.following import Follower
from inductor_debug.capture.inference.values.symbolic_values import is_known

_MARKERS = ("add_argument(", "add_option(", "DEFINE_", ".option(")
_BUILDS = re.compile(r"^\s*\w+(\.\w+)+ *= *\S", re.MULTILINE)
_SECONDS = 0.3
_FEWEST_FIELDS = 2
"""One name alone is in too many scripts to mean anything."""
_NEARLY_ALL = 0.8
_FEWEST_WRITTEN = 3
"""Two may be the arguments of any call."""


def options_for(demand: Demand, files: ConfigurationFiles) -> WrittenConfiguration | None:
    """What the script or file with most of the fields gives, of equal ones the nearest; None where none has half.

    Args:
        demand: what a class asks of the argument.
        files: those around the file of the class; one of them may be laid over what code builds.
    """
    found: list[WrittenConfiguration] = []
    for script, options in _scripts(files.root):
        known = {name: value for name, value in options.items() if _serves(value, demand.fields.get(name))}
        found.append(WrittenConfiguration(script, f"the options of {files.shown(script)}", known))
    found += _tables_with(demand, files)
    found += files.most_of(demand, max(_FEWEST_WRITTEN, fields_asked(demand) / 2))
    enough = [item for item in found if item.covered(demand) >= max(_FEWEST_FIELDS, fields_asked(demand) / 2)]
    own = os.path.splitext(os.path.basename(files.path))[0]

    def likeness(item: WrittenConfiguration) -> tuple[int, bool, int]:
        named = own in os.path.relpath(item.path, files.root)
        return item.covered(demand), named, _nearness(item.path, files.path)

    return max(enough, key=likeness, default=None)


def whole_options_for(demand: Demand, files: ConfigurationFiles) -> WrittenConfiguration | None:
    """The same for what must be a dict, where it has nearly all fields: other methods may set one of their own."""
    found = options_for(demand, files)
    if found is None or found.covered(demand) < _NEARLY_ALL * fields_asked(demand):
        return None
    missing = {name: inner for name, inner in demand.fields.items() if name not in found.values}
    more = {name: constructor_value(name, "", {}, 0, inner) for name, inner in missing.items()}
    files.used = replace(found, values={**found.values, **more})
    return files.used


def _tables_with(demand: Demand, files: ConfigurationFiles) -> Iterator[WrittenConfiguration]:
    """What files of a project name with at least half of the fields; bounded in processor time whatever the load."""
    deadline, asked = time.process_time() + _SECONDS, fields_asked(demand)
    enough = max(_FEWEST_WRITTEN, asked / 2)
    for file in files_of(files.root) if asked >= _FEWEST_WRITTEN else ():
        if time.process_time() > deadline:
            return
        text = text_of_file(file)
        if sum(name in text for name in demand.fields) < len(demand.fields) / 2:
            continue
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            continue
        shown = files.shown(file)
        for table in tables_built_in(tree, names_of(tree, file, files.root)) if _BUILDS.search(text) else ():
            whole = files.laid_over(WrittenConfiguration(file, shown, table), demand)
            if whole.covered(demand) >= enough:
                yield whole
        for written in map(_written_in, ast.walk(tree)):
            if len(demand.fields.keys() & written.keys()) >= enough:
                follower = Follower(names_of(tree), {})
                values = {name: follower.or_unknown(node, {}) for name, node in written.items()}
                known = {
                    name: value
                    for name, value in values.items()
                    if is_known(value) and _serves(value, demand.fields.get(name))
                }
                yield WrittenConfiguration(file, shown, known)


def _written_in(node: ast.AST) -> dict[str, ast.expr]:
    """What a call, a dict or a class that holds nothing but values names, each with how it is written."""
    if isinstance(node, ast.Call):
        return {item.arg: item.value for item in node.keywords if item.arg}
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {
            key.value: value for key, value in pairs if isinstance(key, ast.Constant) and isinstance(key.value, str)
        }
    if not isinstance(node, ast.ClassDef) or any(isinstance(item, ast.FunctionDef) for item in node.body):
        return {}
    plain = (item for item in node.body if isinstance(item, ast.Assign) and len(item.targets) == 1)
    return {item.targets[0].id: item.value for item in plain if isinstance(item.targets[0], ast.Name)}


def _nearness(one: str, other: str) -> int:
    return len(os.path.commonpath((one, other)))


def _serves(value: Any, demand: Demand | None) -> bool:
    """Whether an option that nobody typed has a value: no None unless it is asked about, no text that lists others."""
    if isinstance(value, str) and demand is not None and "sequence" in demand.roles and "text" not in demand.roles:
        return False
    return value is not None or (demand is not None and not {"optional", "flag"}.isdisjoint(demand.roles))


@functools.lru_cache(maxsize=1)
def _scripts(root: str) -> list[tuple[str, Mapping[str, Any]]]:
    """The scripts of a project that take options; bounded in processor time whatever the load.

    Where a folder spreads the options of one command over files that parse none themselves, all of it counts as well.
    """
    deadline = time.process_time() + _SECONDS
    found: list[tuple[str, Mapping[str, Any]]] = []
    parts: dict[str, dict[str, Any]] = {}
    for file in files_of(root):
        if time.process_time() > deadline:
            break
        text = text_of_file(file)
        if any(marker in text for marker in _MARKERS):
            try:
                tree = ast.parse(text)
            except (SyntaxError, ValueError, RecursionError):
                continue
            options = options_of(tree, Follower(names_of(tree), {}))
            found.append((file, options))
            if not any(f".{name}(" in text for name in PARSING):
                parts.setdefault(os.path.dirname(file), {}).update(options)
    return [*found, *((os.path.join(folder, ""), options) for folder, options in parts.items())]
