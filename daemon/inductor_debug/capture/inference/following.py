"""Follows functions of the project by their text: what they return, and what calls in them are given.

Statements are gone through one after the other. What is not plain gives names that are not known; a function that
depends on such a one has no value. No function of the project is ever called.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from inductor_debug.capture.inference.made import Made, UnknownError, is_known
from inductor_debug.capture.inference.plain_values import Names, PlainValues, bind
from inductor_debug.capture.inference.pure_calls import combined
from inductor_debug.capture.inference.syntax import Function, function_tree

_DEEPEST = 6
_MOST_ROUNDS = 200


@dataclass(frozen=True)
class Definition:
    """A function of a file that was not executed."""

    node: Function


class _ReturnedError(Exception):
    """A `return` was reached."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Follower(PlainValues):
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
    ) -> None:
        super().__init__(namespace, options)
        self.look, self.depth = look, 0

    def followed(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """What a function of the project gives, by its text."""
        tree = function.node if isinstance(function, Definition) else _project_function(function)
        if tree is None or self.depth >= _DEEPEST:
            raise UnknownError
        inner = Follower(getattr(function, "__globals__", self.namespace), self.options)
        inner.depth, inner.steps = self.depth + 1, self.steps
        try:
            names = inner.bound(tree, args, kwargs)
            inner.run(tree.body, names)
        except _ReturnedError as returned:
            if not is_known(returned.value) and not isinstance(returned.value, Made):
                raise UnknownError from None
            return returned.value
        finally:
            self.steps = inner.steps
        return None

    def bound(self, tree: Function, args: list[Any], kwargs: dict[str, Any]) -> Names:
        """The names of a function's parameters, with the defaults of those that are not given."""
        names = self.defaults(tree)
        plain = [item.arg for item in (*tree.args.posonlyargs, *tree.args.args)]
        names.update(zip(plain, args, strict=False))
        others = {name: value for name, value in kwargs.items() if name not in names}
        names.update({name: value for name, value in kwargs.items() if name in names})
        if tree.args.vararg is not None:
            names[tree.args.vararg.arg] = tuple(args[len(plain) :])
        if tree.args.kwarg is not None:
            names[tree.args.kwarg.arg] = others
        return names

    def defaults(self, tree: Function) -> Names:
        """All parameters of a function, each with its default; those without one are not known."""
        plain = [*tree.args.posonlyargs, *tree.args.args]
        names: Names = {item.arg: UnknownError for item in (*plain, *tree.args.kwonlyargs)}
        for item, default in zip(reversed(plain), reversed(tree.args.defaults), strict=False):
            names[item.arg] = self.or_unknown(default, {})
        for item, value in zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True):
            if value is not None:
                names[item.arg] = self.or_unknown(value, {})
        return names

    def run(self, body: list[ast.stmt], names: Names) -> None:
        """Goes through statements in order."""
        for node in body:
            self.steps -= 1
            if self.steps < 0:
                raise UnknownError
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
            elif isinstance(node, ast.While):
                self.unknown(node, names)
                if self.look is not None:
                    self.run(node.body, names)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                if node.name not in self.namespace:
                    names[node.name] = UnknownError if isinstance(node, ast.ClassDef) else Definition(node)
            else:
                self.seen(node, names, [node])
                self.simple(node, names)

    def seen(self, node: ast.AST, names: Names, parts: list[Any]) -> None:
        """Tells of a statement, or of expressions of it."""
        if self.look is not None:
            for part in parts:
                self.look(part, names)

    def branch(self, node: ast.If, names: Names) -> None:
        """Takes the branch that is known to be taken; where that is not known, what either sets is not known."""
        self.seen(node, names, [node.test])
        test = self.or_unknown(node.test, names)
        known = is_known(test) and not isinstance(test, Made)
        if self.look is not None:
            taken, other = (node.body, node.orelse) if not known or test else (node.orelse, node.body)
            apart = dict(names)
            self.run(other, apart)
            self.run(taken, names)
            for name, value in apart.items():
                if names.get(name, UnknownError) is UnknownError:
                    names[name] = value
        elif known:
            self.run(node.body if test else node.orelse, names)
        elif any(isinstance(item, ast.Return) for item in ast.walk(node)):
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
                    break
                self.run(node.body, inner)
        except (UnknownError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
            if self.look is None and any(isinstance(item, ast.Return) for item in ast.walk(node)):
                raise UnknownError from None
            self.unknown(node, names)
            if self.look is not None:
                self.run(node.body, names)

    def unknown(self, node: ast.AST, names: Names) -> None:
        """Forgets what a statement that cannot be followed may set."""
        for item in ast.walk(node):
            if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
                names[item.id] = UnknownError
            elif isinstance(item, ast.Attribute) and isinstance(item.ctx, ast.Store):
                self.store(item, UnknownError, names)

    def simple(self, node: ast.stmt, names: Names) -> None:
        """Goes through one statement that has no others in it."""
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            value = self.or_unknown(node.value, names)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self.store(target, value, names)
        elif isinstance(node, ast.AugAssign):
            read: Any = ast.parse(ast.unparse(node.target), mode="eval").body
            try:
                value = combined(node.op, self.value(read, names), self.value(node.value, names))
            except (UnknownError, ArithmeticError, LookupError, TypeError, ValueError):
                value = UnknownError
            self.store(node.target, value, names)
        elif isinstance(node, ast.Return) and self.look is None:
            raise _ReturnedError(self.value(node.value, names) if node.value is not None else None)
        elif isinstance(node, ast.Raise) and self.look is None:
            raise UnknownError
        elif isinstance(node, ast.Expr):
            self.or_unknown(node.value, names)

    def store(self, target: ast.expr, value: Any, names: Names) -> None:
        """Sets a name, an attribute of something that was made here, or an item of a list or dict."""
        if isinstance(target, ast.Tuple | ast.List):
            fits = type(value) in (list, tuple) and len(value) == len(target.elts)
            for index, item in enumerate(target.elts):
                self.store(item, value[index] if fits else UnknownError, names)
        elif isinstance(target, ast.Attribute):
            owner = self.or_unknown(target.value, names)
            if isinstance(owner, Made):
                owner.attributes[target.attr] = value
            elif isinstance(owner, SimpleNamespace):
                setattr(owner, target.attr, value)
        elif isinstance(target, ast.Subscript):
            owner, index = self.or_unknown(target.value, names), self.or_unknown(target.slice, names)
            if isinstance(owner, dict | list) and isinstance(index, str | int):
                try:
                    owner[index] = value
                except IndexError:
                    return
        else:
            bind(target, value, names)


def _project_function(function: Any) -> Function | None:
    """The text of a Python function that is no library's."""
    if not inspect.isfunction(function):
        return None
    file = function.__code__.co_filename
    own = "site-packages" not in file and not (function.__module__ or "").startswith(("torch.", "numpy."))
    return function_tree(function) if own and not inspect.isgeneratorfunction(function) else None
