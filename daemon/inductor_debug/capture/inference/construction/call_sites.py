"""How the project itself builds a class: its calls, read as syntax and evaluated only where they are plain.

What is plain says `plain_values`: literals, constants, options of the command line, what functions of the file return
by their text. The function around a call is gone through as well, with what it is itself given by those who call it.
"""

from __future__ import annotations

import ast
import builtins
import collections
import contextlib
import functools
import itertools
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

from torch import nn

from inductor_debug.capture.inference.construction.composition import main_configuration
from inductor_debug.capture.inference.construction.configuration_files import parsed
from inductor_debug.capture.inference.construction.project_files import (
    MOST_FILES,
    files_of,
    folders_around,
    names_of,
    text_of_file,
    tree_of_text,
)
from inductor_debug.capture.inference.construction.written_examples import examples_in_docstrings, examples_in_readmes
from inductor_debug.capture.inference.values.command_line_options import options_of
from inductor_debug.capture.inference.values.following import Follower
from inductor_debug.capture.inference.values.function_syntax import Function
from inductor_debug.capture.inference.values.plain_values import Names
from inductor_debug.capture.inference.values.symbolic_values import (
    ConfigurationTable,
    SymbolicValue,
    UnknownError,
    is_same,
)

Call = tuple[list[Any], dict[str, Any]]
"""Positional and keyword arguments; what is not plain is `UnknownError`."""

_MOST_CALLERS = 2
_MOST_TIMES = 3
_MOST_COMPUTED = 60
_FURTHEST = 4
_FURTHEST_IN_PROJECT = 1
_SECONDS = 1.0
_SECONDS_IN_PROJECT = 0.15
_ALIAS = re.compile(r"\b(\w+) as (\w+)")
_ANY_METHOD = frozenset(
    ("forward", "build", "make", "get", "create", "setup", "run", "main", "train", "test", "__call__")
)
"""What functions of other projects' files are called as well: calls of such a name elsewhere mean any of them."""


@dataclass(frozen=True)
class _Site:
    """A call and the definitions around it, outermost first."""

    node: ast.Call
    around: tuple[Any, ...]

    @property
    def owner(self) -> Function | None:
        """The function that the call stands in; None for the file itself."""
        return next((item for item in reversed(self.around) if isinstance(item, Function)), None)


@dataclass(frozen=True)
class _Reached:
    """What a call is given when it is reached; `receiver` has the method that is called, `callee` is what else is."""

    args: list[Any]
    kwargs: dict[str, Any]
    callee: Any
    receiver: Any


class CallSites:
    """The calls in one file. What is read for one question is bounded in processor time, whatever the load.

    Args:
        tree: the file.
        namespace: what its names stand for.
        elsewhere: the calls of a function outside of the file, for what nobody calls in it.
    """

    def __init__(
        self, tree: ast.Module, namespace: Mapping[str, Any], elsewhere: Callable[[str], Iterator[Call]] | None = None
    ) -> None:
        self._tree, self._namespace, self._elsewhere = tree, namespace, elsewhere
        self.options = options_of(tree, Follower(namespace, {}))
        self._of_torch = _taken_from_torch(tree)
        self._named: dict[str, list[_Site]] = {}
        self._computed: list[_Site] = []
        self._left = _SECONDS
        self._collect()

    def of(self, name: str) -> Iterator[Call]:
        """The calls of `name`, except for those inside of what is called so."""
        self._left = _SECONDS
        for reached in self._calls_of(name, 0):
            yield reached.args, reached.kwargs

    def of_method(self, name: str) -> Iterator[Call]:
        """The calls of a method of that name, on whatever."""
        self._left = _SECONDS
        for site in self._named.get(name, ()):
            if isinstance(site.node.func, ast.Attribute):
                yield from ((item.args, item.kwargs) for item in self._reached(site, 0))

    def anywhere(self, name: str) -> Iterator[Call]:
        """The calls of `name` in the file, in examples and elsewhere; last of all those that the class has itself.

        A class that makes an empty instance of its own fills that afterwards.
        """
        others, own = self._sites_of(name)
        self._left = _SECONDS
        yield from ((item.args, item.kwargs) for site in others for item in self._reached(site, 0))
        yield from self._elsewhere(name) if self._elsewhere is not None else ()
        self._left = _SECONDS
        yield from ((item.args, item.kwargs) for site in own for item in self._reached(site, 0))

    def computed(self, kind: Any) -> Iterator[Call]:
        """The calls of `kind` under other names: `cls(...)`, `MODELS[name](...)`, `block(...)`."""
        self._left = _SECONDS
        for site in self._computed[:_MOST_COMPUTED]:
            for reached in self._reached(site, 0):
                if reached.callee is kind:
                    yield reached.args, reached.kwargs

    def of_instances(self, kind: Any) -> Iterator[Call]:
        """The calls of what calls of `kind` gave, by whichever function: `model = build(64)`, `model(x)`."""
        return iter(self._of_instances.get(id(kind), ()))

    @functools.cached_property
    def _of_instances(self) -> dict[int, list[Call]]:
        """Such calls by the class, found once for all."""
        self._left = _SECONDS
        found: dict[int, list[Call]] = {}
        for site in (*self._computed[:_MOST_COMPUTED], *self._named.get("forward", ())[:_MOST_COMPUTED]):
            for reached in self._reached(site, 0):
                called = reached.receiver if isinstance(site.node.func, ast.Attribute) else reached.callee
                if isinstance(called, SymbolicValue | nn.Module):
                    kind = called.kind if isinstance(called, SymbolicValue) else type(called)
                    found.setdefault(id(kind), []).append((reached.args, reached.kwargs))
        return found

    def set_after(self, name: str) -> Names:
        """The attributes that are set on what calls of `name` gave, `UnknownError` for those that are not plain."""
        self._left = _SECONDS
        found: Names = {}
        for site in self._named.get(name, ()):
            found = {**self._set_on(site), **found}
        return found

    def _set_on(self, site: _Site) -> Names:
        """The attributes that are set on what one call gave, in the function around it."""
        around = site.owner or self._tree
        assigned = [item for item in ast.walk(around) if isinstance(item, ast.Assign)]
        holders = {ast.unparse(target) for item in assigned if item.value is site.node for target in item.targets}
        found: Names = {}
        for item in assigned:
            found.update(dict.fromkeys(_attributes_in(item, holders), UnknownError))
        if not found or self._left <= 0:
            return found
        follower, started = Follower(self._namespace, self.options), time.process_time()

        def look(part: ast.AST, names: Names) -> None:
            if isinstance(part, ast.Assign):
                found.update({name: follower.or_unknown(part.value, names) for name in _attributes_in(part, holders)})

        follower.look = look
        with contextlib.suppress(UnknownError):
            names = follower.defaults(site.owner) if site.owner is not None else {}
            follower.run(around.body, {**names, **next(self._given(site, 0), {})})
        self._left -= time.process_time() - started
        return found

    def _collect(self) -> None:
        pending: collections.deque[tuple[tuple[Any, ...], ast.AST]] = collections.deque([((), self._tree)])
        while pending:
            around, node = pending.popleft()
            if isinstance(node, Function | ast.ClassDef):
                around = (*around, node)
            if isinstance(node, ast.Call):
                called, site = node.func, _Site(node, around)
                if isinstance(called, ast.Attribute | ast.Name) and _root_of(called) not in self._of_torch:
                    name = called.attr if isinstance(called, ast.Attribute) else called.id
                    self._named.setdefault(name, []).append(site)
                if not isinstance(called, ast.Attribute) and not self._is_known(called):
                    self._computed.append(site)
            pending += [(around, child) for child in ast.iter_child_nodes(node)]

    def _is_known(self, called: ast.expr) -> bool:
        """Whether what is called is a class or a function that the file knows by its name: no instance."""
        if not isinstance(called, ast.Name):
            return False
        value = self._namespace.get(called.id, getattr(builtins, called.id, UnknownError))
        return value is not UnknownError and not isinstance(value, SymbolicValue | nn.Module)

    def _calls_of(self, name: str, depth: int) -> Iterator[_Reached]:
        for site in itertools.chain(*self._sites_of(name)):
            yield from self._reached(site, depth)

    def _sites_of(self, name: str) -> tuple[list[_Site], list[_Site]]:
        """The calls of `name` elsewhere in the file, and those in methods of the class that need no instance."""
        others: list[_Site] = []
        own: list[_Site] = []
        for site in self._named.get(name, ()):
            if not any(item.name == name for item in site.around):
                others.append(site)
            elif site.owner is not None and site.owner.name != name and _is_of_class(site.owner):
                own.append(site)
        return others, own

    def _reached(self, site: _Site, depth: int) -> Iterator[_Reached]:
        """What one call is given, for each who calls the function around it."""
        if self._left > 0:
            for given in self._given(site, depth):
                yield from self._harvest(site, given)

    def _harvest(self, site: _Site, given: Names) -> Iterator[_Reached]:
        """What one call is given, each time that it is reached in going through the function around it."""
        found: list[_Reached] = []
        follower, started = Follower(self._namespace, self.options), time.process_time()

        def look(part: ast.AST, names: Names) -> None:
            if len(found) < _MOST_TIMES and _is_in(site.node, part):
                called = site.node.func
                try:
                    args, kwargs = follower.arguments(site.node, names)
                except UnknownError:
                    return
                receiver: Any = None
                callee: Any = UnknownError
                if isinstance(called, ast.Attribute):
                    receiver = follower.or_unknown(called.value, names)
                else:
                    callee = follower.or_unknown(called, names)
                reached = _Reached(args, kwargs, callee, receiver)
                if not any(is_same([item.args, item.kwargs], [args, kwargs]) for item in found):
                    found.append(reached)

        follower.look = look
        owner = site.owner
        try:
            names = {**(follower.defaults(owner) if owner is not None else {}), **given}
            follower.run((owner or self._tree).body, names)
        except UnknownError:
            pass
        self._left -= time.process_time() - started
        yield from found

    def _given(self, site: _Site, depth: int) -> Iterator[Names]:
        """What the function around a call is given by those who call it, one after the other; at least nothing."""
        owner, found = site.owner, False
        if owner is None or depth >= _FURTHEST:
            yield {}
            return
        around = site.around[: site.around.index(owner)]
        home = around[-1] if around and isinstance(around[-1], ast.ClassDef) else None
        called, itself = owner.name, ""
        if home is not None and owner.args.args and "staticmethod" not in _decorators(owner):
            itself = owner.args.args[0].arg
            called = home.name if called == "__init__" else called
        own = self._namespace.get(home.name, UnknownError) if home is not None and _is_of_class(owner) else None
        for reached in itertools.islice(self._callers(called, depth + 1), _MOST_CALLERS):
            if any(value is not UnknownError for value in (*reached.args, *reached.kwargs.values())):
                found = True
                first = [own or _instance(reached, called, owner)] if itself else []
                follower = Follower(self._namespace, self.options)
                yield follower.bound(owner, [*first, *reached.args], reached.kwargs)
        if not found:
            yield {itself: own or SimpleNamespace()} if itself else self._configured(owner)

    def _callers(self, name: str, depth: int) -> Iterator[_Reached]:
        """The calls of a function of the file, those elsewhere only where there are none."""
        callers = self._calls_of(name, depth)
        first = next(callers, None)
        if first is not None:
            yield from itertools.chain([first], callers)
        elif self._elsewhere is not None and name not in _ANY_METHOD:
            yield from (_Reached(args, kwargs, UnknownError, None) for args, kwargs in self._elsewhere(name))

    def _configured(self, owner: Function) -> Names:
        """What a function is given by hydra, which calls it with the configuration of its decorator."""
        first = next(iter(owner.args.args), None)
        path = self._namespace.get("__file__")
        if first is None or not isinstance(path, str):
            return {}
        composed = main_configuration(owner.decorator_list, path, parsed)
        return {first.arg: ConfigurationTable.of(composed)} if composed is not None else {}


@functools.lru_cache(maxsize=2)
def calls_in(tree: ast.Module, module: ModuleType, path: str, root: str) -> CallSites:
    """The calls in an executed file at `path` of the project at `root`, found once for all its classes."""

    def elsewhere(name: str) -> Iterator[Call]:
        yield from calls_in_examples(tree, path, root, name, vars(module))
        yield from calls_in_project(root, path, name, vars(module))

    return CallSites(tree, vars(module), elsewhere)


def calls_in_examples(
    tree: ast.Module, path: str, root: str, name: str, namespace: Mapping[str, Any]
) -> Iterator[Call]:
    """The calls of `name` in the examples of a file's docstrings and of the READMEs around it."""
    for example in (*examples_in_docstrings(tree), *examples_in_readmes(path, root)):
        yield from CallSites(example, {**namespace, **names_of(example)}).of(name)


def _is_in(node: ast.Call, part: Any) -> bool:
    """Whether a call is part of a statement or an expression of the same file."""
    around = part.lineno <= node.lineno and (node.end_lineno or 0) <= (part.end_lineno or 0)
    return around and any(item is node for item in ast.walk(part))


def _is_of_class(function: Function) -> bool:
    """Whether a function is called on the class."""
    return bool({"classmethod", "staticmethod"} & _decorators(function))


def _taken_from_torch(tree: ast.Module) -> frozenset[str]:
    """The names by which a file has something of torch: `nn.Sequential` builds no class of the project's so called."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level and node.module.split(".")[0] == "torch":
            found |= {item.asname or item.name for item in node.names}
        elif isinstance(node, ast.Import):
            found |= {item.asname or "torch" for item in node.names if item.name.split(".")[0] == "torch"}
    return frozenset(found)


def _root_of(called: ast.expr) -> str:
    """The name that a dotted name begins with; "" where it begins with something else."""
    while isinstance(called, ast.Attribute):
        called = called.value
    return called.id if isinstance(called, ast.Name) else ""


def _attributes_in(node: ast.Assign, holders: set[str]) -> list[str]:
    """The attributes of one of `holders`, as they are written, that an assignment sets."""
    stored = (item for item in node.targets if isinstance(item, ast.Attribute))
    return [item.attr for item in stored if ast.unparse(item.value) in holders]


def _decorators(function: Function) -> set[str]:
    return {item.id for item in function.decorator_list if isinstance(item, ast.Name)}


def _instance(reached: _Reached, called: str, owner: Function) -> Any:
    """What a method is called on, as far as it is known."""
    known = called == owner.name and reached.receiver is not None and reached.receiver is not UnknownError
    return reached.receiver if known else SimpleNamespace()


def calls_in_project(
    root: str, path: str, name: str, namespace: Mapping[str, Any] | None = None, depth: int = 0
) -> Iterator[Call]:
    """The calls of `name` in the other files of the project; bounded in files and processor time whatever the load.

    Args:
        root: the project's folder.
        path: the file that defines `name`.
        name: what is called.
        namespace: of the file at `path`, where it is executed: others import what they call `name` with from it.
        depth: how many calls lead there from the one that was looked for first.
    """
    for sites, called in _sites_in_project(root, path, name, namespace or {}, depth):
        yield from sites.of(called)


@functools.lru_cache(maxsize=16)
def calls_of_instances(tree: ast.Module, module: ModuleType, path: str, root: str, kind: type) -> tuple[Call, ...]:
    """What a project calls the instances of a class with: in its own file, in examples, and in other files."""
    found = list(calls_in(tree, module, path, root).of_instances(kind))
    for example in (*examples_in_docstrings(tree), *examples_in_readmes(path, root)):
        found += CallSites(example, {**vars(module), **names_of(example)}).of_instances(kind)
    for sites, _ in _sites_in_project(root, path, kind.__name__, vars(module), 0):
        found += sites.of_instances(kind)
    return tuple(found)


def calls_of_method(root: str, path: str, name: str, sites: CallSites, module: ModuleType) -> Iterator[Call]:
    """What a project calls a method of that name with: first in the file at `path`, whose calls are `sites`."""
    yield from sites.of_method(name)
    for others, called in _sites_in_project(root, path, name, vars(module), 0, of_method=True):
        yield from others.of_method(called)


def set_later(root: str, path: str, name: str, sites: CallSites, module: ModuleType) -> Names:
    """The attributes that a project sets on what its calls of `name` gave; what `sites` of its own file tell wins.

    Args:
        root: the project's folder.
        path: the file that defines `name`.
        name: what is called.
        sites: the calls in that file.
        module: what that file gave when it was executed.
    """
    found = sites.set_after(name)
    for others, called in _sites_in_project(root, path, name, vars(module), 0):
        found = {**others.set_after(called), **found}
    return found


def _sites_in_project(
    root: str, path: str, name: str, namespace: Mapping[str, Any], depth: int, *, of_method: bool = False
) -> Iterator[tuple[CallSites, str]]:
    """The other files of the project that call `name` of the file at `path`, and what they call it.

    A method is called by whoever has an object, whatever else goes by its name there.
    """
    deadline = time.process_time() + _SECONDS_IN_PROJECT
    every = dict.fromkeys([name, *_aliases_in(root).get(name, ())])
    for file in itertools.islice(_nearest_first(root, path), MOST_FILES):
        if time.process_time() > deadline:
            return
        text = text_of_file(file) if file != path else ""
        called = [item for item in every if f"{item}(" in text]
        try:
            tree = tree_of_text(text) if called else ast.Module([], [])
        except (SyntaxError, ValueError, RecursionError):
            continue
        own = {item.name for item in tree.body if isinstance(item, Function | ast.ClassDef)}
        imports = list(_imports_of(tree, file, root))
        named = [other for node, other in imports if any(item.name in (name, "*") for item in node.names)]
        # It may have something of its own that is called so.
        called = [item for item in called if of_method or item not in own]
        if not called or any(other != path and _defines(other, name) for other in named):
            continue  # it calls another file's
        taken = [node for node, other in imports if other == path]
        names = {**names_of(tree, file, root), **_taken(taken, namespace), "__file__": file}
        further = functools.partial(calls_in_project, root, file, depth=depth + 1)
        sites = CallSites(tree, names, further if depth < _FURTHEST_IN_PROJECT else None)
        yield from ((sites, item) for item in called)


@functools.lru_cache(maxsize=2)
def _aliases_in(root: str) -> dict[str, list[str]]:
    """What names are imported as in the files of a project, found once for all its classes."""
    found: dict[str, list[str]] = {}
    for file in itertools.islice(files_of(root), MOST_FILES):
        for name, alias in _ALIAS.findall(text_of_file(file)):
            found.setdefault(name, []).append(alias)
    return found


def _nearest_first(root: str, path: str) -> Iterator[str]:
    """The files of the project, those beside the file at `path` first: there its classes are rather used."""
    beside = os.path.dirname(path)
    near = sorted(item.path for item in os.scandir(beside) if item.name.endswith(".py")) if beside else []
    return itertools.chain(near, (file for file in files_of(root) if os.path.dirname(file) != beside))


def _imports_of(tree: ast.Module, file: str, root: str) -> Iterator[tuple[ast.ImportFrom, str]]:
    """The files of the project that a file at `file` imports names from, the nearest each time."""
    around = folders_around(file, root)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            bases = around[node.level - 1 : node.level] if node.level else around
            places = (os.path.join(base, *node.module.split(".")) + ".py" for base in bases)
            yield from ((node, place) for place in itertools.islice(filter(os.path.isfile, places), 1))


def _taken(imports: Iterable[ast.ImportFrom], namespace: Mapping[str, Any]) -> Names:
    """What such imports take of a file whose names stand for that."""
    found: Names = {}
    for node in imports:
        for item in node.names:
            if item.name == "*":
                found.update({name: value for name, value in namespace.items() if not name.startswith("_")})
            elif item.name in namespace:
                found[item.asname or item.name] = namespace[item.name]
    return found


def _defines(file: str, name: str) -> bool:
    return f"class {name}(" in text_of_file(file)
