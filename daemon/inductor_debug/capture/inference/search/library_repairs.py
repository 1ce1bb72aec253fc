"""Other calls of a library's model that its users may make, where its own code refused the usual one.

`if use_cache: cache = Cache(config)` before `cache.length()`: without the flag there is no cache to be asked.
Read from the syntax of the functions that an exception came through, and from the values of their names; nothing is
run. Where the user's own code raised, nothing is offered: what its defaults lead to, and that it takes batches of one
only, is to be told.
"""

from __future__ import annotations

import ast
import traceback
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FrameType

from inductor_debug.capture.inference.search.refusals import syntax_of
from inductor_debug.capture.inference.search.trial import TrialOutcome
from inductor_debug.capture.inference.specs.call_plan import CallPlan
from inductor_debug.capture.inference.specs.specs import ConstantSpec, Guess

_NOT_READ = ("torch", "inductor_debug")


def by_library(outcome: TrialOutcome, plan: CallPlan) -> Iterator[Guess]:
    """The call with another value of one flag, and with a batch of one."""
    if outcome.error is None or outcome.place:
        return
    guess, optional = outcome.guess, set(plan.optional)
    steps = [(frame, line) for frame, line in traceback.walk_tb(outcome.error.__traceback__) if _is_read(frame)]
    # What was None is rather to be given than not to be asked for.
    asked = [step for step in steps if not outcome.raised.about_none]
    flags = {name: value for step in asked for name, value in _flags(*step).items() if name in optional}
    for name, value in flags.items():
        other = ConstantSpec(repr(not value), not value)
        if guess.spec_of(name) is None:
            yield plan.with_optional(guess, name, other)
    wanted, got = outcome.raised.volumes_of_view or (0, 0)
    if "B" in guess.used_sizes() and wanted == got * guess.size_of()["B"] > got:
        yield guess.with_sizes(B=1)


def _is_read(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] not in _NOT_READ


def _flags(frame: FrameType, line: int) -> dict[str, bool]:
    """The names that are True or False in the conditions under which a statement ran, or what it uses was made."""
    names = _in_conditions(frame.f_code, line - frame.f_code.co_firstlineno + 1)
    return {name: value for name in names if type(value := frame.f_locals.get(name)) is bool}


@lru_cache(maxsize=512)
def _in_conditions(code: CodeType, line: int) -> tuple[str, ...]:
    """The names in those conditions, for the statement at a line of a function."""
    tree = syntax_of(code)
    nodes = list(ast.walk(tree)) if tree is not None else []
    branches = [node for node in nodes if isinstance(node, ast.If)]
    statements = [node for node in nodes if isinstance(node, ast.stmt) and node.lineno <= line <= _end(node)]
    before = [node for node in nodes if isinstance(node, ast.Assign) and _end(node) < line]
    # Outer statements come first; of one with a body, the line is in what it tests.
    used = _names(statements[-1]) if statements and not hasattr(statements[-1], "body") else set()
    lines = [line]
    for node in sorted(before, key=_end, reverse=True):
        if any(used & _names(target) for target in node.targets):
            used |= _names(node.value)
            lines.append(node.lineno)
    tests = (item.test for item in branches if any(item.body[0].lineno <= at <= _end(item.body[-1]) for at in lines))
    return tuple(sorted({name for test in tests for name in _names(test)}))


def _names(node: ast.AST) -> set[str]:
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno
