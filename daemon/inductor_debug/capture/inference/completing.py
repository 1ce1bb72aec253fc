"""What an object misses that raises: an optional argument that its class needs after all, or more items of a list.

`assert exists(n)`, `if size is None and scale is None: raise ValueError`, `widths[3]` of a list that was made up with
two, `kwargs["with_token"]`, a file that lies elsewhere in the project, a default that is asserted to be another, and
`1 - self.rate` in `forward` where the constructor takes no rate by default. Read from the statement that raised;
nothing is built here, and what somebody wrote down stays as it is.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import os
import re
from collections.abc import Iterator
from types import FrameType
from typing import Any

from inductor_debug.capture.failures.failed_statement import (
    blocks_at,
    last_frame,
    statement_at,
    users_steps,
    value_of,
)
from inductor_debug.capture.inference.construction import signatures
from inductor_debug.capture.inference.construction.demand import Demand
from inductor_debug.capture.inference.construction.demands import demands
from inductor_debug.capture.inference.construction.given_arguments import Construction
from inductor_debug.capture.inference.construction.invention import constructor_value
from inductor_debug.capture.inference.construction.number_conditions import meeting
from inductor_debug.capture.inference.construction.project_files import MOST_FILES, files_of
from inductor_debug.capture.inference.construction.reconciling import Changes, reconciled
from inductor_debug.capture.runtime import foreign

_ALTERNATIVES = 2
_MOST_ITEMS = 16
_MISSING = re.compile(r"(?P<part>[\w.]+)\.__init__\(\) missing \d+ required [\w -]+: (?P<names>.*)")
_QUOTED = re.compile(r"'(\w+)'")
_PLAIN = (bool, int, float, str)


def completed(construction: Construction, error: BaseException, kind: Any) -> Iterator[Changes]:
    """Arguments that may get a constructor past what it raised, likeliest first.

    Args:
        construction: what it was given.
        error: what it raised.
        kind: the class that was built.
    """
    if isinstance(error, IndexError):
        yield from _longer(construction)
        return
    if isinstance(error, FileNotFoundError):
        yield from _by_file(error, construction, kind)
        return
    frame, line = last_frame(error)
    if frame is not None and isinstance(error, KeyError):
        yield from _by_key(error, frame, construction, kind)
    refuses = isinstance(error, AssertionError | ValueError | TypeError | RuntimeError) or type(error) is Exception
    if frame is None or not refuses:
        return
    lengths = _unequal(frame, line)
    if lengths is not None:
        yield from reconciled(construction, *lengths)
        yield from _as_long(construction, *lengths)
    yield from _handed_on(error, frame, construction, kind)
    if not _is_setting_up(frame, error, kind):
        return
    yield from _meeting_conditions(construction, kind)
    yield from _values_of(_left_out(frame, line), construction, kind)


def _is_setting_up(frame: FrameType, error: BaseException, kind: Any) -> bool:
    """Whether a frame is the constructor's, or that of a method of the same object which the constructor called."""
    code = getattr(getattr(kind, "__init__", None), "__code__", None)
    own = next((step.tb_frame for step in users_steps(error) if step.tb_frame.f_code is code), None)
    itself = frame.f_locals.get("self")
    return own is not None and (frame is own or (itself is not None and itself is own.f_locals.get("self")))


def completed_for_a_call(construction: Construction, error: BaseException, model: Any) -> Iterator[Changes]:
    """Optional arguments of a constructor that a call may miss, likeliest first.

    Those that are kept under their own names, are None, and are read in a statement of the user's that raised.

    Args:
        construction: what the constructor was given.
        error: what a call raised.
        model: what was built and called.
    """
    given = {item.name for item in construction.arguments}
    names: dict[str, None] = {}
    for step in reversed(users_steps(error)):
        statement = statement_at(step.tb_frame, step.tb_lineno)
        if statement is not None and step.tb_frame.f_locals.get("self") is model:
            read = (node for node in ast.walk(statement) if isinstance(node, ast.Attribute))
            members = foreign.members_of(model)
            kept = (node.attr for node in read if isinstance(node.value, ast.Name) and node.value.id == "self")
            names.update(dict.fromkeys(name for name in kept if members.get(name, name) is None and name not in given))
    yield from _values_of(list(names), construction, type(model))


def _handed_on(error: BaseException, frame: FrameType, construction: Construction, kind: Any) -> Iterator[Changes]:
    """What a part needs that is given whatever else the constructor is: `Part(dim, **kwargs)`."""
    missing = _MISSING.match(str(error))
    if missing is None or not any(signatures.takes_more(kind)):
        return
    part = frame.f_globals.get(missing["part"].rpartition(".")[2])
    if not isinstance(part, type):
        return
    names, asked, parameters = _QUOTED.findall(missing["names"]), demands(part), signatures.by_name(part)
    for alternative in range(_ALTERNATIVES):
        known, changes = dict(construction.sizes), dict[str, Any]()
        for name in names:
            annotation = signatures.spelled(parameters[name].annotation) if name in parameters else ""
            changes[name] = constructor_value(name, annotation, known, alternative, asked.get(name, Demand()))
        if changes and all(map(_is_plain, changes.values())):
            yield tuple(changes.items())


def _by_file(error: FileNotFoundError, construction: Construction, kind: Any) -> Iterator[Changes]:
    """Files of the name that was not found, elsewhere in the project: `cfg="net.yaml"` of a program started there."""
    missing = error.filename
    values = {name: item.default for name, item in signatures.by_name(kind).items()}
    values |= {item.name: getattr(item.spec, "value", None) for item in construction.arguments}
    for name, value in values.items():
        if isinstance(value, str) and value == missing and not os.path.isabs(value):
            for place in itertools.islice(_places_of(value), _ALTERNATIVES):
                yield ((name, place),)


def _places_of(file: str) -> Iterator[str]:
    """Where a file of that name lies below the folder that user code runs in, the project's; nearer ones first."""
    name = os.path.basename(file)
    alike = files_of(os.curdir, (os.path.splitext(name)[1],))
    return (os.path.relpath(path) for path in itertools.islice(alike, MOST_FILES) if os.path.basename(path) == name)


def _by_key(error: KeyError, frame: FrameType, construction: Construction, kind: Any) -> Iterator[Changes]:
    """What is looked up among the other arguments that a constructor takes: `kwargs["with_token"]`."""
    key, code = error.args[0] if error.args else None, frame.f_code
    if not isinstance(key, str) or not code.co_flags & inspect.CO_VARKEYWORDS or not signatures.takes_more(kind)[1]:
        return
    others = code.co_varnames[code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)]
    given = frame.f_locals.get(others)
    if not isinstance(given, dict) or key in given:
        return
    asked = demands(kind).get(others, Demand()).asks_of(key)
    for alternative in range(_ALTERNATIVES):
        value = constructor_value(key, "", dict(construction.sizes), alternative, asked)
        if _is_plain(value):
            yield ((key, value),)


def _values_of(names: list[str], construction: Construction, kind: Any) -> Iterator[Changes]:
    """Values for optional arguments of a constructor, one at a time."""
    asked = demands(kind) if names else {}
    parameters = signatures.by_name(kind)
    for alternative in range(_ALTERNATIVES):
        for name in names:
            if name in parameters:
                annotation = signatures.spelled(parameters[name].annotation)
                demand = asked.get(name, Demand())
                value = constructor_value(name, annotation, dict(construction.sizes), alternative, demand)
                if _is_plain(value):
                    yield ((name, value),)


def _meeting_conditions(construction: Construction, kind: Any) -> Iterator[Changes]:
    """Other numbers for those by default that the constructor refuses: `assert groups > 1` where `groups` is one."""
    given = {item.name for item in construction.arguments}
    asked = demands(kind)
    for name, parameter in signatures.by_name(kind).items():
        conditions = asked[name].conditions if name in asked and name not in given else []
        if type(parameter.default) is int and not all(item.takes(parameter.default) for item in conditions):
            yield ((name, meeting(parameter.default, conditions, 0)),)


def _longer(construction: Construction) -> Iterator[Changes]:
    """Each list that was made up, twice as long."""
    for item in construction.arguments:
        value = getattr(item.spec, "value", None) if item.name in construction.invented else None
        if isinstance(value, list | tuple) and 0 < len(value) < _MOST_ITEMS and _is_plain(value):
            yield ((item.name, value * 2),)


def _unequal(frame: FrameType, line: int) -> tuple[int, int] | None:
    """Two positive numbers, one of them a length, that a constructor wants equal; None where it raised otherwise.

    `assert len(heads) == depth`, `if depth != len(heads): raise ValueError`.
    """
    statement = statement_at(frame, line)
    tests: list[tuple[ast.expr, type[ast.cmpop]]] = []
    if isinstance(statement, ast.Assert):
        tests = [(statement.test, ast.Eq)]
    elif isinstance(statement, ast.Raise):
        inner = [block for block in blocks_at(frame, line) if isinstance(block, ast.If)]
        tests = [(block.test, ast.NotEq) for block in inner[-1:]]
    for test, wanted in tests:
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], wanted):
            sides = (test.left, test.comparators[0])
            numbers = [_number(side, frame) for side in sides]
            if any(map(_measured, sides)) and all(number > 0 for number in numbers):
                return numbers[0], numbers[1]
    return None


def _measured(node: ast.expr) -> ast.expr | None:
    """What `len(…)` is the length of."""
    is_length = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"
    return node.args[0] if is_length and isinstance(node, ast.Call) and len(node.args) == 1 else None


def _number(node: ast.expr, frame: FrameType) -> int:
    """A whole number, or the length of a list, that is to be had without running code; else 0."""
    measured = _measured(node)
    _, value = value_of(measured or node, frame)
    if measured is not None:
        return len(value) if isinstance(value, list | tuple) else 0
    return value if type(value) is int else 0


def _as_long(construction: Construction, left: int, right: int) -> Iterator[Changes]:
    """All lists of one length that were made up, as long as the other number says."""
    for have, want in ((left, right), (right, left)) if max(left, right) <= _MOST_ITEMS else ():
        changes = [
            (item.name, [*value[:want], *value[-1:] * (want - have)])
            for item in construction.arguments
            if item.name in construction.invented
            and isinstance(value := getattr(item.spec, "value", None), list)
            and len(value) == have
            and _is_plain(value)
        ]
        if changes:
            yield tuple(changes)


def _left_out(frame: FrameType, line: int) -> list[str]:
    """The arguments that are None where a constructor raised: in the condition for it, or in the statement itself."""
    around = blocks_at(frame, line)
    statement = statement_at(frame, line)
    if statement is None:
        return []
    spoken_of: list[ast.AST] = [statement]
    if isinstance(statement, ast.Raise):
        spoken_of = [block.test for block in reversed(around) if isinstance(block, ast.If)]
    names = (node.id for part in spoken_of for node in ast.walk(part) if isinstance(node, ast.Name))
    return [name for name in dict.fromkeys(names) if name in frame.f_locals and frame.f_locals[name] is None]


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN)
