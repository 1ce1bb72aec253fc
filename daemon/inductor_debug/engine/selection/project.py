"""A project's files by the names that they import each other by, and what a class's bases make of it.

Files are read and parsed, once each; nothing is imported. Names that lead out of the project are judged by what they
are called, for the libraries of the project's interpreter are not looked at.
"""

from __future__ import annotations

import ast
import builtins
import os
import sys
from enum import Enum

from inductor_debug_schema import Finding

from inductor_debug.engine.selection.outline import FileSketch, Function, outline_of
from inductor_debug.engine.text.source_files import read_source
from inductor_debug.source.parsing import SyntaxFault, parse

_NO_MODULES = (
    "torch.nn.Parameter",
    "torch.nn.Buffer",
    "torch.nn.parameter.",
    "torch.nn.utils.",
    "torch.nn.functional.",
)
_OTHER_MODULES = ("torch.jit.ScriptModule", "torch.fx.GraphModule")
_NO_MODELS = frozenset({"datasets", "data", "transforms", "utils", "io"})
"""Parts of the libraries named after torch whose classes are no modules."""

_OTHER_FRAMEWORKS = frozenset(
    {
        "caffe",
        "caffe2",
        "chainer",
        "flax",
        "haiku",
        "jax",
        "jittor",
        "keras",
        "megengine",
        "mindspore",
        "mlx",
        "mxnet",
        "oneflow",
        "paddle",
        "tensorflow",
        "tf_keras",
        "theano",
        "tinygrad",
    }
)
"""Libraries with models of their own, which have a `forward`, too."""


class ModuleKind(Enum):
    """What a class is, as far as its bases tell."""

    MODEL = "model"
    FOREIGN = "foreign"
    """It has a base of another library, which may be a module or not, and nothing in it computes."""
    OTHER = "other"


class Project:
    """The files below `root`, which is an absolute path."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._reaching: set[str] = set()
        """Files of which it is known that they reach torch."""
        self._outlines: dict[str, FileSketch | None] = {}
        self._found: dict[tuple[str, str], tuple[str, tuple[str, ...]] | None] = {}

    def stand_in(self, path: str, text: str) -> None:
        """Takes `text` for that of the file at an absolute path."""
        tree = parse(text)
        self._outlines[path] = None if isinstance(tree, SyntaxFault) else outline_of(tree)

    def outline(self, path: str) -> FileSketch | None:
        """The outline of the file at an absolute path; None if it cannot be read or parsed."""
        if path not in self._outlines:
            text = read_source(path)
            if isinstance(text, Finding):
                self._outlines[path] = None
            else:
                self.stand_in(path, text)
        return self._outlines[path]

    def reaches_torch(self, path: str) -> bool:
        """Whether the file, or one of the project that it imports, imports torch or a library named after it."""
        waiting, seen = [path], {path}
        while waiting:
            importer = waiting.pop()
            imported, beyond = self._imports(importer)
            if beyond or not self._reaching.isdisjoint(imported):
                self._reaching |= {path, importer}
                return True
            waiting += imported - seen
            seen |= imported
        return False

    def _imports(self, path: str) -> tuple[set[str], bool]:
        """The files of the project that a file imports, and whether it imports torch itself."""
        outline = self.outline(path)
        modules = outline.modules if outline is not None else []
        located = {module: self._locate(module, path) for module in modules}
        files = {found[0] for found in located.values() if found is not None}
        return files, any(found is None and is_torch(module) for module, found in located.items())

    def kind_of_class(
        self, node: ast.ClassDef, path: str, seen: frozenset[tuple[str, str]] = frozenset()
    ) -> ModuleKind:
        """What the class that `node` defines in the file at `path` is."""
        outline = self.outline(path)
        if outline is None:
            return ModuleKind.OTHER
        kinds = []
        for base in node.bases:
            name = outline.dotted(base.value if isinstance(base, ast.Subscript) else base)
            kinds.append(ModuleKind.FOREIGN if name is None else self._kind_of(name, path, seen))
        if ModuleKind.MODEL in kinds or (ModuleKind.FOREIGN in kinds and _computes(node, outline)):
            return ModuleKind.MODEL
        return ModuleKind.FOREIGN if ModuleKind.FOREIGN in kinds else ModuleKind.OTHER

    def _kind_of(self, name: str, path: str, seen: frozenset[tuple[str, str]]) -> ModuleKind:
        """What the class is that the file at `path` calls by a name, which is dotted as `FileSketch.dotted` says."""
        outline = self.outline(path)
        if outline is None or (path, name) in seen:
            return ModuleKind.OTHER
        seen |= {(path, name)}
        if name in outline.classes:
            return self.kind_of_class(outline.classes[name], path, seen)
        if name in outline.functions:
            return ModuleKind.FOREIGN  # a function that makes classes
        if name in outline.names and outline.names[name] != name:
            return self._kind_of(outline.names[name], path, seen)
        located = self._locate(name, path)
        if located is not None:
            home, rest = located
            return self._kind_of(".".join(rest), home, seen) if rest else ModuleKind.OTHER
        if "." in name or hasattr(builtins, name):
            return _kind_of_foreign(name)
        through = [self._kind_of(f"{star}.{name}", path, seen) for star in outline.stars]
        return ModuleKind.MODEL if ModuleKind.MODEL in through else ModuleKind.FOREIGN

    def _locate(self, name: str, importer: str) -> tuple[str, tuple[str, ...]] | None:
        """The project's file that holds a dotted name, and what is left of the name inside of it; None if none does."""
        folder = os.path.dirname(importer)
        key = (folder, name)
        if key not in self._found:
            self._found[key] = self._search(name, folder)
        return self._found[key]

    def _search(self, name: str, folder: str) -> tuple[str, tuple[str, ...]] | None:
        plain = name.lstrip(".")
        parts = tuple(plain.split(".")) if plain else ()
        for _ in range(len(name) - len(plain) - 1):
            folder = os.path.dirname(folder)
        if plain != name:
            return _descend(folder, parts, inside=True)
        return next((found for root in self._import_roots(folder) if (found := _descend(root, parts))), None)

    def _import_roots(self, folder: str) -> list[str]:
        """Where absolute imports may start: the importer's folder, those around it in its project, and its `src`."""
        roots = [folder]
        inside = self._root.rstrip(os.sep) + os.sep
        while folder.startswith(inside) or os.path.isfile(os.path.join(folder, "__init__.py")):
            folder = os.path.dirname(folder)
            roots.append(folder)
        return [*roots, os.path.join(self._root, "src")]


def _descend(folder: str, parts: tuple[str, ...], *, inside: bool = False) -> tuple[str, tuple[str, ...]] | None:
    """Follows the parts of a name from a folder down to a file; a package stands for its `__init__.py`.

    With `inside`, the folder itself may be the package that the name is in.
    """
    package: tuple[str, tuple[str, ...]] | None = None
    for index in range(len(parts) + 1):
        init = os.path.join(folder, "__init__.py")
        if (index or inside) and os.path.isfile(init):
            package = (init, parts[index:])
        if index == len(parts):
            break
        file = os.path.join(folder, parts[index] + ".py")
        if os.path.isfile(file):
            return file, parts[index + 1 :]
        folder = os.path.join(folder, parts[index])
        if not os.path.isdir(folder):
            break
    return package


def is_torch(name: str) -> bool:
    """Whether a dotted name is of torch, or of a library that is named after it (`torchvision`, `torch_geometric`)."""
    return name.startswith("torch")


def _kind_of_foreign(name: str) -> ModuleKind:
    head = name.partition(".")[0]
    if head == "torch":
        is_module = name.startswith("torch.nn.") and not name.startswith(_NO_MODULES)
        return ModuleKind.MODEL if is_module or name in _OTHER_MODULES else ModuleKind.OTHER
    if is_torch(name):
        return ModuleKind.FOREIGN if _NO_MODELS.intersection(name.split(".")) else ModuleKind.MODEL
    is_python = not head or head in sys.stdlib_module_names or hasattr(builtins, head)
    return ModuleKind.OTHER if is_python or head in _OTHER_FRAMEWORKS else ModuleKind.FOREIGN


def _computes(node: ast.ClassDef, outline: FileSketch) -> bool:
    """Whether a class looks like a model from inside: it has a `forward`, or it is built from parts of `torch.nn`.

    Libraries split theirs, for others to replace a part of it: `forward_features`, `forward_head`.
    """
    if any(isinstance(item, Function) and item.name.startswith("forward") for item in node.body):
        return True
    calls = (item for item in ast.walk(node) if isinstance(item, ast.Call))
    return any(_kind_of_foreign(outline.dotted(call.func) or "") is ModuleKind.MODEL for call in calls)
