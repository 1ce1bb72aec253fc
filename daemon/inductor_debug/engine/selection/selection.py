"""Decides which files of a folder are checked: those that define or compile a model, and that only define it.

A check executes a file, so set-up files, tests, migrations, scripts and files without a model are passed over, each
with a reason. In this order, the first that holds decides:
1. the setting `include` names the file: it is checked,
2. a target is declared for it, in `pyproject.toml` or by a directive comment: it is checked,
3. its path says that it is a set-up file, a test or a migration: it is not,
4. it declares inputs, compiles something or has a class that is a model (or may be): it is checked, unless
5. loading it would have an effect on the world: it is not,
6. nothing of the kind: it is not.
A file that the user names is never asked about. Nothing is imported or executed.
"""

from __future__ import annotations

import ast
import fnmatch
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from inductor_debug_schema import Finding

from inductor_debug.engine.selection.effects import TopLevelDeed, TopLevelEffect, first_deed
from inductor_debug.engine.selection.outline import FileSketch, Function, LoadingCode
from inductor_debug.engine.selection.project import ModuleKind, Project, is_torch
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.engine.text.source_files import read_source
from inductor_debug.source.directives import read_directives

_SET_UP_FILES = ("setup.py", "conftest.py", "noxfile.py", "versioneer.py", "ez_setup.py", "fabfile.py", "manage.py")
_DOCUMENTATION = frozenset({"doc", "docs", "source"})
_TEST_FILES = ("test_*.py", "*_test.py")
_TEST_FOLDERS = ("test", "tests", "*_tests")
_MIGRATIONS = frozenset({"migrations", "alembic"})
_DECLARING = frozenset({"get_inputs", "example_inputs"})
_LISTING = "_paritybench_helpers"
"""What the files of ParityBench import, which list models and their inputs, and are called as tests are."""
_COMPILERS = frozenset({"torch.compile", "torch._dynamo.optimize", "torch.compiler.compile"})


class SkipReason(str, Enum):
    """Why a file of a folder is not checked."""

    SET_UP = "set-up"
    TEST = "test"
    MIGRATION = "migration"
    SCRIPT = "script"
    WITHOUT_TORCH = "without-torch"
    WITHOUT_MODEL = "without-model"


@dataclass(frozen=True, slots=True)
class Skip:
    """A file that is passed over; `deed` is what a script would do."""

    reason: SkipReason
    deed: TopLevelDeed | None = None


class Selector:
    """Answers for the files of one project; each is read once."""

    def __init__(self, project_root: str) -> None:
        self._project = Project(project_root)

    def skip(self, path: str, given: str, settings: Settings, instead: str | None = None) -> Skip | None:
        """Why the file is not to be run; None if it is.

        Args:
            path: absolute path of the file.
            given: absolute path of the folder that the user named: what stands above it makes no file a test.
            settings: those of the file.
            instead: what stands in for the file's text, as the cells that were run do for a notebook.
        """
        if settings.includes(path) or settings.targets or settings.entry:
            return None
        text = read_source(path) if instead is None else instead
        if instead is not None:
            self._project.stand_in(path, instead)
        if isinstance(text, Finding):
            return None  # the check says what is wrong with it
        if "inductor-debug" in text and self._project.outline(path) is not None and _has_directives(text):
            return None
        reason = _reason_of_path(os.path.relpath(path, given))
        if reason is not None and not (_LISTING in text and self._lists_models(path)):
            return Skip(reason)
        outline = self._project.outline(path)
        if outline is None:  # it does not parse, which is told where it may matter
            return None if "torch" in text else Skip(SkipReason.WITHOUT_TORCH)
        code = LoadingCode(outline)
        if not (self._defines_model(outline, path) or _declares_inputs(outline) or _compiles(outline, code)):
            reaches = self._project.reaches_torch(path)
            return Skip(SkipReason.WITHOUT_MODEL if reaches else SkipReason.WITHOUT_TORCH)
        deed = first_deed(outline, code)
        return None if deed is None else Skip(SkipReason.SCRIPT, deed)

    def _lists_models(self, path: str) -> bool:
        outline = self._project.outline(path)
        return outline is not None and _LISTING in outline.modules

    def _defines_model(self, outline: FileSketch, path: str) -> bool:
        return any(self._project.kind_of_class(node, path) is ModuleKind.MODEL for node in outline.classes.values())


def _reason_of_path(relative: str) -> SkipReason | None:
    *folders, name = relative.split(os.sep)
    if name in _SET_UP_FILES or (name == "conf.py" and _DOCUMENTATION.intersection(folders)):
        return SkipReason.SET_UP
    if _MIGRATIONS.intersection(folders):
        return SkipReason.MIGRATION
    in_tests = any(_matches(folder, _TEST_FOLDERS) for folder in folders)
    return SkipReason.TEST if in_tests or _matches(name, _TEST_FILES) else None


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _has_directives(text: str) -> bool:
    found, faults = read_directives(text)
    return bool(faults) or any(item.arguments or item.flags.keys() != {"off"} for item in found)


def _declares_inputs(outline: FileSketch) -> bool:
    """Whether there is `get_inputs()` or `example_inputs()`, the latter also as a method of a class."""
    methods = (item.name for node in outline.classes.values() for item in node.body if isinstance(item, Function))
    return not _DECLARING.isdisjoint(outline.functions) or "example_inputs" in methods


def _compiles(outline: FileSketch, code: LoadingCode) -> bool:
    """Whether something is given to `torch.compile` while the file loads, by whatever name."""
    if any(outline.dotted(node) in _COMPILERS for node in code.mentions):
        return True
    return any(_is_compile_method(call.func, outline) for call in code.calls)


def _is_compile_method(called: ast.expr, outline: FileSketch) -> bool:
    """Whether it is `model.compile`: the method of something that is no module which the file imports."""
    if not isinstance(called, ast.Attribute) or called.attr != "compile":
        return False
    root = called.value
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id not in outline.names and any(map(is_torch, outline.modules))


def tally(skips: Sequence[Skip]) -> str:
    """How many there are of each kind: `7 tests, 1 set-up, 4 without torch`."""
    counts = Counter(skip.reason for skip in skips)
    kinds = [(reason, counts[reason]) for reason in _NOUNS if counts[reason]]
    return ", ".join(f"{count} {_NOUNS[reason][count > 1]}" for reason, count in kinds)


_NOUNS = {
    SkipReason.TEST: ("test", "tests"),
    SkipReason.SET_UP: ("set-up", "set-up"),
    SkipReason.MIGRATION: ("migration", "migrations"),
    SkipReason.SCRIPT: ("script", "scripts"),
    SkipReason.WITHOUT_TORCH: ("without torch", "without torch"),
    SkipReason.WITHOUT_MODEL: ("without a model", "without a model"),
}
_DEEDS = {
    TopLevelEffect.WRITES: "writes files",
    TopLevelEffect.NETWORK: "uses the network",
    TopLevelEffect.PROCESS: "starts processes",
    TopLevelEffect.COMMAND_LINE: "reads a command line",
    TopLevelEffect.EXITS: "ends the interpreter",
    TopLevelEffect.LOADS: "loads weights or data",
    TopLevelEffect.TRAINS: "trains, or goes through a data set",
}
_REASONS = {
    SkipReason.SET_UP: "a set-up file",
    SkipReason.TEST: "a test",
    SkipReason.MIGRATION: "a migration",
    SkipReason.WITHOUT_TORCH: "does not use torch",
    SkipReason.WITHOUT_MODEL: "defines and compiles no model",
}


def words(skip: Skip) -> str:
    """The reason for people: `a test`, `writes files when it is loaded, in line 12`."""
    if skip.deed is None:
        return _REASONS[skip.reason]
    return f"{_DEEDS[skip.deed.effect]} when it is loaded, in line {skip.deed.line + 1}"
