"""Follows functions of the project by their text: what they return, and what calls in them are given.

Statements are gone through one after the other. What is not plain gives names that are not known; a function that
depends on such a one has no value. No function of the project is ever called.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from inductor_debug.capture.inference.values.command_line_options import default_of, takes_options
from inductor_debug.capture.inference.values.function_syntax import Function, function_tree
from inductor_debug.capture.inference.values.library_tables import is_table, set_in
from inductor_debug.capture.inference.values.plain_calls import PlainCalls
from inductor_debug.capture.inference.values.plain_values import Names, ValueBudget, bind
from inductor_debug.capture.inference.values.pure_calls import CHANGING, truth
from inductor_debug.capture.inference.values.symbolic_values import (
    LaterInstance,
    SymbolicValue,
    UnknownError,
    fresh,
    is_known,
)
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.loading import is_installed, is_standard

_DEEPEST = 6
_MOST_ROUNDS = 200
_LEAVE = (ast.Return, ast.Break, ast.Continue)
_LEFT_ALONE = (ast.While, ast.Match, ast.AsyncFor, ast.AsyncWith)
"""Statements that are not gone through as Python would."""


@dataclass(frozen=True)
class FollowedFunction:
    """A function of a file that was not executed.

    Of another file than the one that is read it knows that file's names, and its options where it reads some.
    """

    node: Function
    names: Mapping[str, Any] | None = field(default=None, compare=False, hash=False)
    options: Mapping[str, Any] | None = field(default=None, compare=False, hash=False)


class _ReturnedError(Exception):
    """A `return` was reached."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class _LeftError(Exception):
    """A `break` or a `continue` was reached."""

    def __init__(self, *, whole: bool) -> None:
        super().__init__()
        self.whole = whole


class Follower(PlainCalls):
    """Goes through statements.

    Args:
        namespace: what the module's names stand for.
        options: defaults of the command line's options.
        look: told of every simple statement before it is gone through, with the names at that point. Where it is
            given, all branches are gone through, and nothing ends the way.
    """

    def __init__(
        self,
        namespace: Mapping[str, Any],
        options: Mapping[str, Any],
        look: Callable[[ast.AST, Names], None] | None = None,
        budget: ValueBudget | None = None,
    ) -> None:
        super().__init__(namespace, options, budget)
        self.look, self.depth, self.doubts = look, 0, 0

    def followed(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """What a function of the project gives, by its text."""
        if inspect.ismethod(function):
            function, args = function.__func__, [function.__self__, *args]
        tree = function.node if isinstance(function, FollowedFunction) else _project_function(function)
        if tree is None or self.depth >= _DEEPEST:
            raise UnknownError
        namespace, options = foreign.globals_of(function) or self.namespace, self.options
        if isinstance(function, FollowedFunction):
            namespace, options = function.names or namespace, function.options or options
        if args and isinstance(args[0], LaterInstance) and not (tree.args.posonlyargs or tree.args.args):
            args = [self.instance(args[0]), *args[1:]]
        inner = Follower(namespace, options, budget=self.budget)
        inner.depth = self.depth + 1
        try:
            names = inner.bound(tree, args, kwargs)
            inner.run(tree.body, names)
        except _ReturnedError as returned:
            if not is_known(returned.value) and not isinstance(returned.value, SymbolicValue):
                raise UnknownError from None
            return returned.value
        return None

    def bound(self, tree: Function, args: list[Any], kwargs: dict[str, Any]) -> Names:
        """The names of a function's parameters, with the defaults of those that are not given."""
        names = self.defaults(tree)
        plain = [item.arg for item in (*tree.args.posonlyargs, *tree.args.args)]
        names.update(zip(plain, args, strict=False))
        named = {*plain, *(item.arg for item in tree.args.kwonlyargs)}
        others = {name: value for name, value in kwargs.items() if name not in named}
        names.update({name: value for name, value in kwargs.items() if name in named})
        if tree.args.vararg is not None:
            names[tree.args.vararg.arg] = tuple(args[len(plain) :])
        if tree.args.kwarg is not None:
            names[tree.args.kwarg.arg] = others
        return names

    def defaults(self, tree: Function) -> Names:
        """All parameters of a function, each with its default, unknown without one; there are no more."""
        plain = [*tree.args.posonlyargs, *tree.args.args]
        names: Names = {item.arg: UnknownError for item in (*plain, *tree.args.kwonlyargs)}
        for item, default in zip(reversed(plain), reversed(tree.args.defaults), strict=False):
            names[item.arg] = self.or_unknown(default_of(default), {})
        for item, value in zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True):
            if value is not None:
                names[item.arg] = self.or_unknown(default_of(value), {})
        if tree.args.vararg is not None:
            names[tree.args.vararg.arg] = ()
        if tree.args.kwarg is not None:
            names[tree.args.kwarg.arg] = {}
        if takes_options(tree):
            names.update({name: self.options[name] for name in names if name in self.options})
        return names

    def run(self, body: list[ast.stmt], names: Names) -> None:
        """Goes through statements in order."""
        for node in body:
            self.budget.spend()
            if isinstance(node, ast.If):
                self.branch(node, names)
            elif isinstance(node, ast.For):
                self.loop(node, names)
            elif isinstance(node, ast.With):
                self.seen(node, names, [item.context_expr for item in node.items])
                for item in node.items:
                    if item.optional_vars is not None:
                        bind(item.optional_vars, UnknownError, names)
                self.run(node.body, names)
            elif isinstance(node, ast.Try):
                self.run([*node.body, *node.orelse, *node.finalbody], names)
            elif isinstance(node, _LEFT_ALONE):
                self.left_alone(node, names)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                if node.name not in self.namespace:
                    names[node.name] = UnknownError if isinstance(node, ast.ClassDef) else FollowedFunction(node)
            else:
                self.seen(node, names, [node])
                self.simple(node, names)

    def left_alone(self, node: Any, names: Names) -> None:
        """What such a statement may set is not known; what calls in it are given is."""
        if any(isinstance(item, ast.Return) for item in ast.walk(node)) and self.look is None:
            raise UnknownError
        self.unknown(node, names)
        if self.look is not None:
            for body in [case.body for case in node.cases] if isinstance(node, ast.Match) else [node.body]:
                self.doubtful(body, names)

    def doubtful(self, body: list[ast.stmt], names: Names) -> None:
        """Goes through statements that may not be reached: they end no loop."""
        self.doubts += 1
        try:
            self.run(body, names)
        finally:
            self.doubts -= 1

    def seen(self, node: ast.AST, names: Names, parts: list[Any]) -> None:
        """Tells of a statement, or of expressions of it."""
        if self.look is not None:
            for part in parts:
                self.look(part, names)

    def branch(self, node: ast.If, names: Names) -> None:
        """Takes the branch that is known to be taken; where that is not known, what either sets is not known."""
        self.seen(node, names, [node.test])
        try:
            test, known = truth(self.value(node.test, names)), True
        except UnknownError:
            test, known = False, False
        if self.look is not None:
            taken, other = (node.body, node.orelse) if not known or test else (node.orelse, node.body)
            # What a branch that is not taken adds to a list is not in it.
            apart = {name: value.copy() if type(value) in (list, dict) else value for name, value in names.items()}
            apart.update(dict.fromkeys(_decided_by(node.test, names) if known else (), UnknownError))
            self.doubtful(other, apart)
            (self.run if known else self.doubtful)(taken, names)
            for name, value in apart.items():
                if names.get(name, UnknownError) is UnknownError:
                    names[name] = value
            if not known:
                self.grown(node, names)
        elif known:
            self.run(node.body if test else node.orelse, names)
        elif any(isinstance(item, _LEAVE) for item in ast.walk(node)):
            raise UnknownError
        else:
            self.unknown(node, names)

    def loop(self, node: ast.For, names: Names) -> None:
        """Goes round as often as the loop does, once with unknown items where that is not known."""
        self.seen(node, names, [node.iter])
        rounds = [ast.comprehension(target=node.target, iter=node.iter, ifs=[], is_async=0)]
        try:
            for number, inner in enumerate(self.rounds(rounds, names)):
                if number >= _MOST_ROUNDS:
                    raise UnknownError
                try:
                    self.run(node.body, inner)
                except _LeftError as left:
                    if left.whole:
                        return
            self.run(node.orelse, names)
        except UnknownError:
            self.left_alone(node, names)

    def unknown(self, node: ast.AST, names: Names) -> None:
        """Forgets what a statement that cannot be followed may set or change."""
        for item in ast.walk(node):
            if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store | ast.Del):
                names[item.id] = UnknownError
            elif isinstance(item, ast.Attribute) and isinstance(item.ctx, ast.Store):
                self.store(item, UnknownError, names)
            elif isinstance(item, ast.Subscript) and isinstance(item.ctx, ast.Store):
                self.forget(item.value, names)
        self.grown(node, names)

    def grown(self, node: ast.AST, names: Names) -> None:
        """Forgets what a statement that cannot be followed may add to, or take from."""
        for item in ast.walk(node):
            if isinstance(item, ast.Call) and isinstance(item.func, ast.Attribute) and item.func.attr in CHANGING:
                self.forget(item.func.value, names)

    def forget(self, changed: ast.expr, names: Names) -> None:
        """A list or dict is not known any more."""
        if isinstance(changed, ast.Name) and changed.id in names:
            names[changed.id] = UnknownError
        elif isinstance(changed, ast.Attribute):
            self.store(changed, UnknownError, names)

    def simple(self, node: ast.stmt, names: Names) -> None:
        """Goes through one statement that has no others in it."""
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            value = self.or_unknown(node.value, names)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self.store(target, value, names)
        elif isinstance(node, ast.AugAssign):
            self.store(node.target, self.or_unknown(ast.BinOp(node.target, node.op, node.value), names), names)
        elif isinstance(node, ast.Return) and self.look is None:
            raise _ReturnedError(self.value(node.value, names) if node.value is not None else None)
        elif isinstance(node, ast.Raise) and self.look is None:
            raise UnknownError
        elif isinstance(node, ast.Break | ast.Continue) and not self.doubts:
            raise _LeftError(whole=isinstance(node, ast.Break))
        elif not isinstance(node, ast.Expr) or self.or_unknown(node.value, names) is UnknownError:
            self.unknown(node, names)

    def store(self, target: ast.expr, value: Any, names: Names) -> None:
        """Sets a name, an attribute of something that was made here, or an item of a list or dict."""
        if isinstance(target, ast.Tuple | ast.List):
            fits = type(value) in (list, tuple) and len(value) == len(target.elts)
            for index, item in enumerate(target.elts):
                self.store(item, value[index] if fits else UnknownError, names)
        elif isinstance(target, ast.Attribute):
            owner = self.owner(target.value, names)
            if isinstance(owner, SymbolicValue):
                owner.attributes[target.attr] = value
            elif isinstance(owner, SimpleNamespace):
                vars(owner)[target.attr] = value  # also `options.__dict__`, which cannot be set
            elif _may_be_set_in(owner, value):
                set_in(owner, target.attr, fresh(value))
        elif isinstance(target, ast.Subscript):
            owner, index = self.or_unknown(target.value, names), self.or_unknown(target.slice, names)
            if _may_be_set_in(owner, value):
                set_in(owner, index, fresh(value))
            elif type(owner) in (dict, list) and isinstance(index, str | int):
                try:
                    owner[index] = value
                except IndexError:
                    return
        else:
            bind(target, value, names)


def _may_be_set_in(owner: Any, value: Any) -> bool:
    """Whether something is a library's table, and the value one that needs not be made first."""
    return is_table(owner) and is_known(value) and not isinstance(value, SymbolicValue)


def _decided_by(test: ast.expr, names: Names) -> list[str]:
    """The names of plain values that a condition looks at: where it does not hold, some of them are others."""
    looked_at = [item.id for item in ast.walk(test) if isinstance(item, ast.Name)]
    return [name for name in looked_at if isinstance(names.get(name, UnknownError), str | int | float | None)]


def _project_function(function: Any) -> Function | None:
    """The text of a Python function that is no library's, nor Python's own: `os.makedirs` gives a model nothing."""
    if not inspect.isfunction(function):
        return None
    file = function.__code__.co_filename
    library = is_installed(file) or is_standard(file)
    own = not library and not (function.__module__ or "").startswith(("torch.", "numpy."))
    return function_tree(function) if own and not inspect.isgeneratorfunction(function) else None
