"""Executes a file's text, saved or not, as the real module that Python would make of it.

The text comes from the request and stands in for that one file only: for imports, `inspect`, `linecache` and tracebacks
alike. What this module never does: leave byte code behind, run the file as `__main__`, or keep the user's own modules
for the next load (see `unload`). Exceptions of user code pass through.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import io
import itertools
import keyword
import linecache
import os
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, Protocol

from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.import_roots import has_module, imports_of, meant_root
from inductor_debug.capture.runtime.running_cells import is_notebook, run_cells
from inductor_debug.source.syntax_tree import tree_of
from inductor_debug.system.own_files import OWN_PACKAGE

_INSTALLED = ("site-packages", "dist-packages")


class StandsIn(Protocol):
    """What stands for the results of imports that fail while a file is loaded; `failures` are what they raised."""

    failures: list[Exception]

    def active(self, is_left: Callable[[Exception, bool], bool]) -> AbstractContextManager[None]:
        """While the file is loaded; `is_left` says whether a failure is raised, as another order or place may help."""
        ...


@dataclass(frozen=True, slots=True)
class ModulePlace:
    """Which module a file is: `name` as imports spell it, `package` for an `__init__.py`, `root` its import root."""

    path: str
    name: str
    root: str
    package: bool


@dataclass(slots=True)
class LoadedModules:
    """What one load brought into `sys.modules`. `own` are the user's modules, the file itself among them."""

    own: dict[str, ModuleType] = field(default_factory=dict)
    third_party: list[str] = field(default_factory=list)

    def dependencies(self, path: str) -> list[str]:
        """Absolute paths of the user's files that were imported, without `path` itself."""
        files = {os.path.abspath(file) for module in self.own.values() if (file := foreign.file_of(module)) is not None}
        return sorted(files - {path})

    def activate(self) -> None:
        """Makes these modules the ones that importing their names gives, after another load may have replaced them."""
        sys.modules.update(self.own)


def place_of(path: str, text: str = "", project_root: str = "") -> ModulePlace:
    """Finds the module name of a file from the packages around it.

    These are folders with an `__init__.py`, or without one those from which the `text` itself imports. The project's
    own folder, in which its scripts are run, is one only where the text imports relatively from there.
    """
    folder, file = os.path.split(path)
    stem = os.path.splitext(file)[0]
    package = file == "__init__.py"
    parts = [] if package else [stem]
    root = _namespace_root(folder, text)
    while folder != root and _is_name(os.path.basename(folder)):
        if root is None and not _is_package(folder):
            break
        if folder == project_root and not _needs_package(text, os.path.basename(folder), len(parts) + package):
            break
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    if parts and all(map(_is_name, parts)) and not _is_taken(parts[0], folder):
        return ModulePlace(path, ".".join(parts), folder, package)
    name = "inductor_debug_file_" + re.sub(r"\W", "_", stem)
    return ModulePlace(path, name, os.path.dirname(path), package)


@contextmanager
def search_path(place: ModulePlace, project_root: str, argv: Sequence[str] = ()) -> Iterator[None]:
    """Sets `sys.path` and `sys.argv` as `python file.py ARGV` in the project's root does, `src` added.

    Last come the folders between the two: many a project is run in one of them.
    """
    before, arguments, directory = list(sys.path), list(sys.argv), os.getcwd()
    folder = os.path.dirname(place.path)
    between = _between(folder, project_root)
    wanted = [place.root, project_root, os.path.join(project_root, "src"), *filter(None, before), *between]
    if _is_package(folder):
        wanted.append(folder)  # last: a package's `types.py` must not become everybody's `types`
    if folder != place.root:
        # A module that is called as the namespace package around it would come before the package.
        package = os.path.join(place.root, place.name.partition(".")[0])
        if not _is_package(package):
            wanted = [each for each in wanted if not (_is_below(each, package) and _has_module(each, package))]
    sys.path[:] = list(dict.fromkeys(wanted))
    sys.argv[:] = [place.path, *argv]
    importlib.invalidate_caches()
    if os.path.isdir(project_root):
        os.chdir(project_root)
    try:
        yield
    finally:
        sys.path[:], sys.argv[:] = before, arguments
        os.chdir(directory)


@contextmanager
def overlay(place: ModulePlace, text: str, project_root: str, absent: StandsIn) -> Iterator[Overlay]:
    """Makes `place.name` importable from `text`, and `linecache` quote it; `absent` stands in for imports that fail."""
    finder = Overlay(place, text, project_root, absent)
    lines = io.StringIO(text, newline=None).readlines()
    # Entries without a modification time are never checked against the disk.
    linecache.cache[place.path] = (len(text), None, lines, place.path)
    sys.meta_path.insert(0, finder)
    try:
        yield finder
    finally:
        sys.meta_path.remove(finder)


class ImportWatch:
    """Sees every Python module that is executed, and runs those of libraries inside `around()`.

    `sys.modules` is never walked: in a forked process every object that is touched costs a page of memory to copy.
    """

    def __init__(self, around: Callable[[], AbstractContextManager[Any]]) -> None:
        self._around = around
        self._executed: list[ModuleType] = []

    @contextmanager
    def active(self) -> Iterator[None]:
        """Watches until it is left."""
        before = SourceFileLoader.exec_module
        with self._around():
            pass  # whatever it imports itself must be there before it is needed for importing

        def exec_module(loader: SourceFileLoader, module: ModuleType) -> None:
            self._executed.append(module)
            if is_installed(loader.path) or is_standard(loader.path):
                with self._around():
                    before(loader, module)
            else:
                before(loader, module)

        SourceFileLoader.exec_module = exec_module  # type: ignore[method-assign, assignment]
        try:
            yield
        finally:
            SourceFileLoader.exec_module = before  # type: ignore[method-assign]

    def loaded(self) -> LoadedModules:
        """The modules executed so far that imports still give, by whose they are."""
        result = LoadedModules()
        for module in self._executed:
            file = foreign.file_of(module)
            if file is None or sys.modules.get(module.__name__) is not module:
                continue
            if is_installed(file):
                result.third_party.append(module.__name__)
            elif not is_standard(file):
                result.own[module.__name__] = module
        return result


def unload(modules: LoadedModules) -> None:
    """Forgets the user's own modules, so that the next load executes them again."""
    for name, module in modules.own.items():
        if sys.modules.get(name) is module:
            del sys.modules[name]


def preloadable(modules: LoadedModules) -> list[str]:
    """The third-party modules that the user's modules name, all of which a fork server may import beforehand."""
    fresh = set(modules.third_party)
    named: set[str] = set()
    for module in modules.own.values():
        for value in foreign.namespace(module).values():
            name = foreign.text_attribute(value, "__name__" if foreign.is_a(value, ModuleType) else "__module__")
            if name in fresh:
                named.add(name)
    return sorted(named)


def is_installed(file: str) -> bool:
    """Whether `file` belongs to an installed library."""
    return any(part in _INSTALLED for part in file.split(os.sep))


def is_standard(file: str) -> bool:
    """Whether `file` belongs to Python itself or to this tool."""
    return file.startswith(_standard_folders())


def run_user_code(code: Callable[[], Any]) -> Any:
    """Calls `code`. User code outside of stages runs below this frame, which is where its stacks are cut off."""
    return code()


class _OverlayLoader(SourceFileLoader):
    """Loads one file from a text. Byte code is neither read nor written."""

    def __init__(self, overlay: Overlay, place: ModulePlace, text: str) -> None:
        super().__init__(place.name, place.path)
        self._overlay, self._text = overlay, text

    def exec_module(self, module: ModuleType) -> None:
        self._overlay.module = module
        if is_notebook(self.path):
            for error in run_cells(self._text, self.path, vars(module)):
                self._overlay.passed_over.append(error)
        else:
            super().exec_module(module)

    def get_code(self, fullname: str) -> CodeType:
        return compile(tree_of(self._text), self.path, "exec", dont_inherit=True)

    def get_source(self, fullname: str) -> str:
        return self._text

    def get_data(self, path: Any) -> bytes:
        return self._text.encode("utf-8", "surrogatepass") if path == self.path else super().get_data(path)


class Overlay(MetaPathFinder):
    """Answers imports of one module with a text; `module` is what was executed last, to its end or not.

    `passed_over` are the errors after which a notebook went on. Imports that fail are looked up in the project, and
    from then on mean what was found there. To put its folder on the path would shadow more, and yet not be enough: a
    package without an `__init__.py` comes after all others.
    """

    def __init__(self, place: ModulePlace, text: str, project_root: str, absent: StandsIn) -> None:
        self._place, self._text, self._project_root = place, text, project_root
        self.absent = absent
        self._roots: dict[str, str] = {}
        """The folders of modules that are imported from elsewhere than the path says."""
        self._first: str | None = None
        """A module that must be imported before the file, for each of the two imports the other."""
        self._found = False
        """Whether what could not be imported was found elsewhere since."""
        self._around: Exception | None = None
        """What the packages around the file raised, for which it is imported without them."""
        self.module: ModuleType | None = None
        self.passed_over: list[Exception] = []

    def execute(self) -> None:
        """Imports the file, and the packages around it first, again with each module that was found elsewhere.

        Of modules that import each other only some may be the first: one that may not be is imported after the one that
        missed it, as its project does. Where an import fails all the same, the file goes on without what it would give,
        unless another exception comes of that; and without what packages around it do that are of no use to it.

        Raises whatever its code raises.
        """
        before = set(sys.modules)
        while (raised := self._raised(before)) is not None:
            if not self._found:
                # It may only come of what stands for something else: the import that failed first is to be told.
                failures, self.absent.failures = self.absent.failures, []
                told = self._around or (failures[0] if failures else raised)
                if self._around is not None or self._place.path in _files_of(raised) or "." not in self._place.name:
                    raise told
                self._around = told
            self._forget(before)
        if self._around is not None:
            self.absent.failures.insert(0, self._around)

    def _raised(self, before: set[str]) -> Exception | None:
        """What keeps the file from being imported, or from all that it imports; None where nothing does."""
        try:
            self._execute()
        except Exception as error:
            self._found = self._found or (isinstance(error, ImportError) and self._finds(error))
            if self._found or not isinstance(error, ImportError | AttributeError):
                return error
            failures = self.absent.failures
            if self._executes_after(error, before):
                return None
            self.absent.failures = failures
            return error
        found = (error for error in self.passed_over if isinstance(error, ImportError) and self._finds(error))
        lacking = next(found, None)
        self._found = lacking is not None
        return lacking

    def _executes_after(self, error: ImportError | AttributeError, before: set[str]) -> bool:
        """Whether the file can be imported after the module that missed something in it, and now is."""
        first = _in_a_circle(error)
        if first is None:
            return False
        self._first = first
        self._forget(before)
        try:
            self._execute()
        except Exception:
            self._first = None
            return False
        return True

    def _forget(self, before: set[str]) -> None:
        """Takes back the user's own modules that have been imported since."""
        for name in set(sys.modules) - before:
            if self._is_own(sys.modules[name]):
                del sys.modules[name]

    def _finds(self, error: ImportError) -> bool:
        """Whether a folder of the project has what could not be imported, and the name means that from now on."""
        missing = foreign.text_attribute(error, "name")
        name = missing.partition(".")[0]
        file = _importing_file(error)
        if not name or name in self._roots or file is None:
            return False
        if is_installed(file) or not file.startswith(os.path.join(self._project_root, "")):
            return False
        folder = os.path.dirname(file)
        around = [folder, *_between(folder, self._project_root), self._project_root]
        root = meant_root("".join(linecache.getlines(file)), missing, around)
        if root is not None:
            self._roots[name] = root
        return root is not None

    def _may_help(self, error: Exception, of_order: bool) -> bool:
        """Whether a failed import is met by importing something else: what lies elsewhere, or what comes first."""
        # Once for each import on the way up to the file.
        self._found = self._found or (isinstance(error, ImportError) and self._finds(error))
        return self._found or (of_order and isinstance(error, ImportError) and _in_a_circle(error) is not None)

    def _is_own(self, module: ModuleType) -> bool:
        """Whether a module is the user's, or a package of the project that has no file."""
        file = foreign.file_of(module)
        if file is not None:
            return not is_installed(file) and not is_standard(file)
        folders = foreign.namespace(module).get("__path__", ()) if foreign.is_a(module, ModuleType) else ()
        return any(str(folder).startswith(self._project_root) for folder in folders)

    def _execute(self) -> None:
        sys.modules.pop(self._place.name, None)
        self.module, self._found = None, False
        self.passed_over = []
        try:
            with self.absent.active(self._may_help):
                if self._around is not None:
                    self._lay_packages()
                if self._first is not None:
                    importlib.import_module(self._first)
                importlib.import_module(self._place.name)
        finally:
            # A failed import takes its module back; what was executed of it is still worth a look.
            if self.module is not None:
                sys.modules[self._place.name] = self.module

    def _lay_packages(self) -> None:
        """Makes the packages around the file folders of modules, without what their own code does."""
        names = self._place.name.split(".")[:-1]
        for count in range(1, len(names) + 1):
            package = ModuleType(".".join(names[:count]))
            package.__path__ = [os.path.join(self._place.root, *names[:count])]
            sys.modules[package.__name__] = package

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The file's module for its name, others that were found elsewhere for theirs, nothing for any other."""
        if fullname in self._roots:
            return PathFinder.find_spec(fullname, [self._roots[fullname]])
        if fullname != self._place.name:
            return None
        folders = [os.path.dirname(self._place.path)] if self._place.package else None
        return importlib.util.spec_from_file_location(
            fullname,
            self._place.path,
            loader=_OverlayLoader(self, self._place, self._text),
            submodule_search_locations=folders,
        )


def _needs_package(text: str, name: str, level: int) -> bool:
    """Whether a text imports from a package around it: by its name, or relatively from so many packages above it."""
    try:
        return _relative(text) >= level or any(module.partition(".")[0] == name for module, _ in imports_of(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _is_package(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "__init__.py"))


def _is_below(folder: str, other: str) -> bool:
    return os.path.join(folder, "").startswith(os.path.join(other, ""))


def _has_module(folder: str, package: str) -> bool:
    """Whether a folder has a module of the name that a package has."""
    place = os.path.join(folder, os.path.basename(package))
    return os.path.isfile(f"{place}.py") or _is_package(place)


def _around(folder: str) -> Iterator[str]:
    """The folders around one, the nearest first."""
    while (parent := os.path.dirname(folder)) != folder:
        yield parent
        folder = parent


def _between(folder: str, project_root: str) -> list[str]:
    """The folders from one up to the project's, without both."""
    inside = os.path.join(project_root, "")
    return list(itertools.takewhile(lambda each: each.startswith(inside), _around(folder)))


def _importing_file(error: ImportError) -> str | None:
    """The file whose import failed, which Python's own modules carried out."""
    return next((file for file in reversed(_files_of(error)) if os.path.isabs(file) and not is_standard(file)), None)


def _files_of(error: Exception) -> list[str]:
    """The files through which an exception came, the outermost first."""
    return [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]


def _in_a_circle(error: ImportError | AttributeError) -> str | None:
    """The module that missed something in one which is still being executed, for it is what imports it."""
    missing = error.name if isinstance(error, ImportError) else foreign.text_attribute(error.obj, "__name__")
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_code.co_name == "<module>"]
    names = [str(frame.f_globals.get("__name__")) for frame in frames]
    return names[-1] if missing in names[:-1] and names[-1] != missing else None


def _namespace_root(folder: str, text: str) -> str | None:
    """The folder that holds the namespace package (PEP 420) of a file in `folder`: the file imports others of it.

    It may have packages in it. A project's folder is often called as the package in it, which is the one that is meant.
    Relative imports say how many packages there are at least.
    """
    folders = (folder, *_around(folder))
    packages = sum(1 for _ in itertools.takewhile(_is_package, folders))
    if "from ." in text and (steps := _relative(text)) > packages:
        return next(itertools.islice(_around(folder), steps - 1, None), None)
    outermost = os.path.basename(folders[packages - 1]) if packages else ""
    around = list(itertools.takewhile(lambda each: not _is_package(each), folders[packages:]))
    # Most texts name no folder around them, and need not be searched.
    mentioned = [each for each in around if (name := os.path.basename(each)) and f"{name}." in text]
    names = [module.split(".") for module, _ in imports_of(text)] if mentioned else []
    for package in mentioned:
        for first, *rest in names:
            named = rest and first == os.path.basename(package) and first != outermost
            inside = os.path.join(*rest) if rest else ""
            if named and has_module(package, inside) and not has_module(os.path.join(package, first), inside):
                return os.path.dirname(package)
    return None


def _relative(text: str) -> int:
    """How many packages up the furthest relative import of a text goes."""
    return max((node.level for node in ast.walk(tree_of(text)) if isinstance(node, ast.ImportFrom)), default=0)


def _is_taken(name: str, folder: str) -> bool:
    """Whether importing `name` must go on to mean something else than what lies in `folder`."""
    if name in sys.stdlib_module_names or name == "__main__":
        return True
    known = sys.modules.get(name)
    file = foreign.file_of(known) if known is not None else None
    return known is not None and (file is None or not os.path.abspath(file).startswith(folder.rstrip(os.sep) + os.sep))


@lru_cache(maxsize=1)
def _standard_folders() -> tuple[str, ...]:
    schema = os.path.dirname(os.path.abspath(sys.modules["inductor_debug_schema"].__file__ or ""))
    folders = [OWN_PACKAGE, schema, *(os.path.abspath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))]
    return tuple(folder.rstrip(os.sep) + os.sep for folder in folders)
