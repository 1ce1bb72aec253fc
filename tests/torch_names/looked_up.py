"""What our modules look up in torch, seen as they run, and look-ups that fail as though torch had no such name.

torch itself keeps all its names: it is our modules that are read differently. Where one of them imports a private name
of torch (`from torch._subclasses import fake_tensor`), reads one (`torch._dynamo.config`, `getattr(torch._C, name)`),
makes a setting (`config.patch(name=…)`), or reads an attribute that a torch object has for itself (`tensor._base`),
`LookUp` is asked first. It writes the name down, or has Python raise what it raises where the name does not
exist, in our module. No list of names is kept anywhere: they are those that are asked for while something runs.

Runs in the worker's process, with the standard library alone.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

WITHOUT = "INDUCTOR_DEBUG_TEST_WITHOUT"
"""The variable with the name that is not there."""
SEEN = "INDUCTOR_DEBUG_TEST_SEEN"
"""The variable with the file to which names are added as they are looked up, one a line."""
VERSION = "2.99.0"
"""The torch that ours passes for: newer than any that was tried."""
VERSION = "2.99.0"
"""The torch that ours passes for: newer than any that was tried."""
_ASKED = "__look_up__"
_OURS = "_inductor_debug_"
"""How attributes begin that we give torch's objects ourselves."""


def is_private(name: str) -> bool:
    """Whether a dotted name is torch's, and some part of it is private."""
    first, *parts = name.split(".")
    if first != "torch" or any(part.startswith(("__", _OURS)) for part in parts):
        return False
    return any(part.startswith("_") for part in parts)


class LookUp:
    """What rewritten modules ask before torch. Names are noted once for each process that looks them up first."""

    def __init__(self) -> None:
        self._gone = os.environ.get(WITHOUT, "")
        # What is only done with a torch that it was read in has no name to look for in another one.
        torch = importlib.import_module("torch")
        torch.__version__ = torch.torch_version.TorchVersion(VERSION)
        # What is only done with a torch that it was read in has no name to look for in another one.
        torch = importlib.import_module("torch")
        torch.__version__ = torch.torch_version.TorchVersion(VERSION)
        self._noted: set[str] = set()
        path = os.environ.get(SEEN)
        # Opened before anything is contained: a worker may not open files of its own.
        self._seen = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) if path else None

    def lacks(self, name: str) -> bool:
        """Notes the name, and says whether it is not there."""
        if name == self._gone:
            return True
        if self._seen is not None and name not in self._noted:
            self._noted.add(name)
            os.write(self._seen, f"{name}\n".encode())
        return False

    def owner(self, owner: Any, name: str) -> Any:
        """Whom the attribute `name` is asked of: the owner, or what is called like it and has nothing."""
        path = _path_of(owner, name)
        if not path or not hasattr(owner, name) or not self.lacks(path):
            return owner
        return empty(owner)

    def nothing_of(self, owner: Any) -> Any:
        """What is called like the owner and has nothing."""
        return empty(owner)

    def module(self, name: str) -> str:
        """The module that is imported in place of `name`: itself, or one that does not exist."""
        return f"{name}_" if is_private(name) and self.lacks(name) else name

    def setting(self, owner: Any, name: str) -> str:
        """The name under which a setting is made: its own, or one that is none."""
        path = _path_of(owner, name) if _is_settings(owner) else ""
        return f"{name}_" if path and self.lacks(path) else name

    def settings(self, owner: Any, changes: Any) -> Any:
        """The same for what is handed to `owner.patch`."""
        if isinstance(changes, dict) and _is_settings(owner):
            return {self.setting(owner, name): value for name, value in changes.items()}
        return self.setting(owner, changes) if isinstance(changes, str) else changes


def empty(owner: Any) -> Any:
    """Something of the same name without attributes, so that Python says of it what it says of the owner."""
    if isinstance(owner, types.ModuleType):
        return types.ModuleType(owner.__name__)
    home = owner if isinstance(owner, type) else type(owner)
    stand_in = type(home.__name__, (), {"__module__": home.__module__, "__qualname__": home.__qualname__})
    return stand_in if isinstance(owner, type) else stand_in()


def _is_settings(owner: Any) -> bool:
    return isinstance(owner, types.ModuleType) and type(owner) is not types.ModuleType


def _path_of(owner: Any, name: str) -> str:
    """The dotted name of an attribute of torch's, if it is private; of an object's own attributes, its class's."""
    if not isinstance(name, str) or name.startswith("__"):
        return ""
    if isinstance(owner, types.ModuleType):
        path = f"{owner.__name__}.{name}"
    else:
        path = _path_in_class(owner if isinstance(owner, type) else type(owner), name)
    return path if is_private(path) else ""


def _path_in_class(home: type, name: str) -> str:
    """The name in the class that has it, or in the public one that users have it from: `Tensor` of `TensorBase`."""
    line = home.__mro__
    below = next((at for at, each in enumerate(line) if name in vars(each)), 0)
    paths = [f"{each.__module__}.{each.__qualname__}" for each in reversed(line[: below + 1])]
    return f"{next((path for path in paths if not is_private(path)), paths[0])}.{name}"


class _Rewriter(ast.NodeTransformer):
    """Puts the question before each look-up of one module."""

    def __init__(self) -> None:
        self._scopes: list[dict[str, str]] = []
        self.changed = False

    def visit_Module(self, node: ast.Module) -> ast.AST:
        self._scopes.append(_bound(node.body))
        self.generic_visit(node)
        return node

    def _in_function(self, node: Any) -> ast.AST:
        arguments = node.args
        own = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        body = node.body if isinstance(node.body, list) else [ast.Expr(node.body)]
        self._scopes.append({**{each.arg: "" for each in own if each is not None}, **_bound(body)})
        self.generic_visit(node)
        self._scopes.pop()
        return node  # type: ignore[no-any-return]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._in_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._in_function(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return self._in_function(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.value = self.visit(node.value) if node.value is not None else None
        return node

    def visit_If(self, node: ast.If) -> Any:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return node
        return self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> Any:
        return [*(self._absent(alias.name, "") for alias in node.names if is_private(alias.name)), node]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        names = [alias.name for alias in node.names if node.level == 0 and is_private(f"{node.module}.{alias.name}")]
        return [*(self._absent(node.module or "", name) for name in names), node]

    def _absent(self, module: str, name: str) -> ast.stmt:
        """Raises where the name is not there what importing it raises."""
        self.changed = True
        said = f"cannot import name {name!r} from {module!r}" if name else f"No module named {module!r}"
        kind = "ImportError" if name else "ModuleNotFoundError"
        source = f"if {_ASKED}.lacks({f'{module}.{name}'.rstrip('.')!r}):\n    raise {kind}({said!r}, name={module!r})"
        return ast.parse(source).body[0]

    def visit_Assign(self, node: ast.Assign) -> Any:
        target = node.targets[0]
        self.generic_visit(node)
        if isinstance(target, ast.Attribute) and is_private(name := self._dotted(target)) and ".config." in name:
            setting = self._call("setting", target.value, ast.Constant(target.attr))
            return ast.Expr(ast.Call(ast.Name("setattr", ast.Load()), [target.value, setting, node.value], []))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        name = self._dotted(node)
        if isinstance(node.ctx, ast.Load) and is_private(name):
            nothing = self._call("nothing_of", node.value)
            asked = self._call("lacks", ast.Constant(name))
            return ast.Attribute(ast.IfExp(asked, nothing, node.value), node.attr, node.ctx)
        if name:
            return node
        self.generic_visit(node)
        own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        if isinstance(node.ctx, ast.Load) and node.attr.startswith("_") and not node.attr.startswith("__") and not own:
            return ast.Attribute(self._call("owner", node.value, ast.Constant(node.attr)), node.attr, node.ctx)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        function = node.func
        patches = isinstance(function, ast.Attribute) and function.attr == "patch" and self._dotted(function)
        owner = function.value if patches and isinstance(function, ast.Attribute) else None
        self.generic_visit(node)
        if owner is not None:
            return self._patch(node, owner)
        if isinstance(function, ast.Name) and len(node.args) > 1:
            first, second, *more = node.args
            if function.id in ("getattr", "hasattr") and isinstance(second, ast.Constant | ast.Name):
                node.args = [self._call("owner", first, second), second, *more]
            elif function.id == "setattr":
                node.args = [first, self._call("setting", first, second), *more]
        if isinstance(function, ast.Attribute) and ast.unparse(function) == "importlib.import_module":
            node.args[0] = self._call("module", node.args[0])
        return node

    def _patch(self, node: ast.Call, owner: ast.expr) -> ast.Call:
        arguments = [self._call("settings", owner, each) for each in node.args]
        named = ast.Dict(
            [ast.Constant(each.arg) if each.arg else None for each in node.keywords],
            [each.value for each in node.keywords],
        )
        more = [ast.keyword(None, self._call("settings", owner, named))] if node.keywords else []
        return ast.Call(node.func, arguments, more)

    def _dotted(self, node: ast.AST) -> str:
        """The dotted name in torch of an expression; empty where it is none."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        root = next((scope[node.id] for scope in reversed(self._scopes) if node.id in scope), "")
        return ".".join([root, *reversed(parts)]) if root else ""

    def _part(self, kind: str) -> ast.expr:
        self.changed = True
        return ast.Attribute(ast.Name(_ASKED, ast.Load()), kind, ast.Load())

    def _call(self, kind: str, *arguments: ast.expr) -> ast.expr:
        return ast.Call(self._part(kind), list(arguments), [])


def _bound(body: Sequence[ast.stmt]) -> dict[str, str]:
    """What names of a scope mean in torch: its imports; empty for those that it gives other meanings."""
    bound: dict[str, str] = {}
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.setdefault(node.name, "")
            waiting += node.body if isinstance(node, ast.ClassDef) else []
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.setdefault(node.id, "")
        waiting += ast.iter_child_nodes(node)
    return {name: path if path.partition(".")[0] == "torch" else "" for name, path in bound.items()}


def rewritten(source: bytes, path: str) -> types.CodeType | None:
    """A module's code with the questions in it; None where it has nothing to ask."""
    tree = ast.parse(source)
    rewriter = _Rewriter()
    tree = rewriter.visit(tree)
    if not rewriter.changed:
        return None
    return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a module with its questions."""

    def __init__(self, name: str, path: str, code: types.CodeType) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> types.CodeType:
        """The rewritten module's."""
        return self._code


class Finder(importlib.abc.MetaPathFinder):
    """Finds our modules that ask torch for something; they are read and rewritten once, before anything is forked."""

    def __init__(self, folder: str) -> None:
        self._codes: dict[str, tuple[str, types.CodeType]] = {}
        for parent, _, files in sorted(os.walk(folder)):
            for file in sorted(files):
                path = os.path.join(parent, file)
                if file.endswith(".py"):
                    with open(path, "rb") as stream:
                        source = stream.read()
                    code = rewritten(source, path) if b"torch" in source or b"._" in source else None
                    if code is not None:
                        inner = os.path.relpath(path, os.path.dirname(folder))[: -len(".py")]
                        self._codes[inner.replace(os.sep, ".").removesuffix(".__init__")] = (path, code)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Called by the import system."""
        if fullname not in self._codes:
            return None
        file, code = self._codes[fullname]
        return importlib.util.spec_from_file_location(fullname, file, loader=Loader(fullname, file, code))


def install(folder: str) -> Callable[[], None]:
    """Has the modules below `folder`, a package, rewritten when they are imported; what is returned begins to look.

    Until that is called nobody may import one of them.
    """
    sys.meta_path.insert(0, Finder(folder))

    def begin() -> None:
        setattr(builtins, _ASKED, LookUp())

    return begin
