"""What the objects of a class may have: what it and its relatives declare and set, and what others set on anything.

Relatives are bases, whose constructors run, and subclasses, which may set what a base reads. What cannot be known may
be anything: names that are computed, classes that answer for attributes themselves, classes without text.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import itertools
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import ModuleType

from torch import nn

from inductor_debug.capture.failures.attributes.setting import AttributeSetting, is_among, of_class, outside_classes
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.loading import is_installed

_WITHOUT_TEXT = frozenset(("builtins", "abc", "typing", "torch.nn.modules.module"))
"""Modules whose classes set nothing that `dir` does not know."""
_ALIKE = 0.7
_ANSWERS = ("__getattr__", "__getattribute__")


@dataclass(frozen=True, slots=True)
class KnownAttributes:
    """The names that an object may have, "*" in place of parts that are computed.

    `anything` says that there may be others, `others_of_libraries` that code of installed libraries sets names that it
    computes: any, but hardly one that is the misspelling of another.
    """

    names: frozenset[str]
    anything: bool
    others_of_libraries: bool = False

    def nearest(self, name: str) -> str | None:
        """The most similar name that is known."""
        candidates = sorted(item for item in self.names if not item.startswith("__") and "*" not in item)
        found = difflib.get_close_matches(name, candidates, n=1, cutoff=_ALIKE)
        return found[0] if found else None

    def lack(self, name: str) -> bool:
        """Whether an object has no such attribute, for sure."""
        if self.anything or is_among(name, self.names):
            return False
        return not self.others_of_libraries or self.nearest(name) is not None


class Attributes:
    """What is known of the classes of one loaded file.

    Args:
        tree: the file's.
        module: the file, executed.
        others: other files of the project that were imported along with it.
    """

    def __init__(self, tree: ast.Module, module: ModuleType, others: tuple[ModuleType, ...] = ()) -> None:
        self._tree, self._module, self._others = tree, module, others
        self._settings: dict[str, list[AttributeSetting]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                self._settings.setdefault(node.name, []).append(of_class(node))

    def of(self, kind: type) -> KnownAttributes:
        """The attributes of objects of a class."""
        names, anything, of_libraries = set(self.from_outside.others), self.from_outside.others_computed, False
        for relative in dict.fromkeys((*kind.__mro__, *_below(kind))):
            names.update(dir(relative), foreign.annotations_of(relative))
            if relative.__module__ in _WITHOUT_TEXT:
                continue
            anything |= any(name in vars(relative) for name in _ANSWERS)
            for setting in self._settings_of(relative):
                names |= setting.own
                anything |= setting.own_computed and not _is_installed(relative)
                of_libraries |= setting.own_computed
        if issubclass(kind, nn.Module):
            names.update(_module_names())
        return KnownAttributes(frozenset(names), anything, of_libraries)

    def _settings_of(self, kind: type) -> list[AttributeSetting]:
        if kind.__module__ == self._module.__name__ and kind.__name__ in self._settings:
            return self._settings[kind.__name__]
        return [_of_text(kind)]

    @cached_property
    def from_outside(self) -> AttributeSetting:
        """What code of the project sets on objects that may be of any class."""
        trees = [self._tree, *filter(None, map(_tree_of, self._others))]
        found = AttributeSetting()
        classes = (of_class(node) for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
        for setting in itertools.chain(map(outside_classes, trees), classes):
            found.others |= setting.others
            found.others_computed |= setting.others_computed
        return found


@lru_cache(maxsize=1)
def _module_names() -> frozenset[str]:
    return frozenset(vars(nn.Module()))


def _is_installed(kind: type) -> bool:
    """Whether a class is of an installed library."""
    return is_installed(foreign.file_of(sys.modules.get(kind.__module__)) or "")


def _below(kind: type) -> Iterator[type]:
    subclasses: list[type] = type.__subclasses__(kind)
    for inner in subclasses:
        yield inner
        yield from _below(inner)


@lru_cache(maxsize=256)
def _of_text(kind: type) -> AttributeSetting:
    """What a class sets that another file defines; anything where there is no text of it."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return AttributeSetting(own_computed=True)
    node = tree.body[0] if tree.body else None
    return of_class(node) if isinstance(node, ast.ClassDef) else AttributeSetting(own_computed=True)


def _tree_of(module: ModuleType) -> ast.Module | None:
    path = foreign.file_of(module)
    try:
        with open(path or "", encoding="utf-8") as file:
            return ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return None
