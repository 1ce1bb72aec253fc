"""Which module an import did not find, and what of the project would bring it: a set-up file, a git submodule.

Of `from . import nms_cuda` Python says that the package is only half imported, "most likely due to a circular import";
what lacks is an extension that nobody has built. Set-up files are read as syntax; nothing is imported or run here.
Submodules are those that `.gitmodules` at the project's root names (gitmodules(5)).
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from types import ModuleType

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.failed_statement import last_frame, raised_by
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.import_roots import has_module
from inductor_debug.capture.runtime.loading import is_installed

_SET_UP = "setup.py"
_SUBMODULES = ".gitmodules"
_PATH = re.compile(r"^\s*path\s*=\s*(.+?)\s*$", re.MULTILINE)
_STAR = re.compile(r"^\s*from\s+\S+\s+import\s+\*", re.MULTILINE)
"""By which a package has names that its text does not mention."""
_EXTENSION = "Extension"
"""How the classes end that stand for extensions: `CUDAExtension`, `CppExtension`, `Extension`."""


def lacking_module(error: ImportError) -> str:
    """The whole name of the module that was not found; nothing where a module lacks something else."""
    name = foreign.text_attribute(error, "name")
    if isinstance(error, ModuleNotFoundError):
        return name
    package = foreign.text_attribute(error, "path")
    raised_at = raised_by(error)
    statement = raised_at[1] if raised_at is not None else None
    if not isinstance(statement, ast.ImportFrom) or os.path.basename(package) != "__init__.py":
        return ""
    # What an installed library lacks is a name that it has no more, or not yet; its own parts are all there.
    if is_installed(package) or _makes_names(sys.modules.get(name)):
        return ""
    if not statement.level and _STAR.search(_text_of(package)):
        return ""
    said = _words_of(package)
    lacking = (
        item.name
        for item in statement.names
        if item.name not in said and not has_module(os.path.dirname(package), item.name)
    )
    return next((f"{name}.{part}" for part in lacking), "")


def _makes_names(module: ModuleType | None) -> bool:
    """Whether a package gives names that its text does not have, when they are asked for (PEP 562, and its like)."""
    return module is not None and (type(module) is not ModuleType or "__getattr__" in foreign.namespace(module))


def builder_of(module: str, error: ImportError, project_root: str) -> str:
    """The path, from the project's root, of the set-up file that builds a module as an extension; empty if none does.

    Looked for around the file that imports it.
    """
    frame, _ = last_frame(error)
    folder = os.path.dirname(frame.f_code.co_filename) if frame is not None else ""
    wanted = module.rpartition(".")[2]
    while os.path.join(folder, "").startswith(os.path.join(project_root, "")):
        path = os.path.join(folder, _SET_UP)
        if any(name.rpartition(".")[2] == wanted for name in _extensions_in(path)):
            return os.path.relpath(path, project_root)
        folder = os.path.dirname(folder)
    return ""


def submodule_of(module: str, error: ImportError, sources: SourceMap) -> str:
    """The path of a git submodule that was not fetched and has a module; empty if there is none.

    It is called as the module is, or spoken of in the file that imports it.
    """
    frame, _ = last_frame(error)
    text = sources.text(frame.f_code.co_filename) if frame is not None else None
    importing, project_root = "\n".join(text.lines) if text is not None else "", sources.project_root
    for path in _PATH.findall(_text_of(os.path.join(project_root, _SUBMODULES))):
        folder = os.path.join(project_root, path)
        is_there = os.path.isdir(folder) and os.listdir(folder)
        if not is_there and (os.path.basename(path) == module.partition(".")[0] or path in importing):
            return str(path)
    return ""


def _extensions_in(path: str) -> Iterator[str]:
    """The names of the extensions that a set-up file writes down."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            tree = ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node).endswith(_EXTENSION):
            named = [item.value for item in node.keywords if item.arg == "name"]
            for value in [*node.args[:1], *named]:
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield value.value


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _words_of(path: str) -> set[str]:
    return set(re.findall(r"\w+", _text_of(path)))


def _text_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""
