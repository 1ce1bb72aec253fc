"""What a project sets on a model after building it: `model.drop_path_prob = args.drop_path_prob`.

Looked for only where methods of the class read what nothing in its own text gives it. Nothing is run, and what a class
has by itself is never replaced.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from inductor_debug.capture.failures.attributes.missing import unset_reads
from inductor_debug.capture.inference.construction.call_sites import CallSites, set_later
from inductor_debug.capture.inference.construction.invention import constructor_value
from inductor_debug.capture.inference.values.symbolic_values import fresh, is_known


@dataclass(frozen=True)
class SetLater:
    """The attributes that a project gives the objects of a class, and those of them whose values are made up."""

    attributes: Mapping[str, Any] = field(default_factory=dict)
    made_up: frozenset[str] = frozenset()

    def on(self, built: Any) -> Any:
        """The object, with those attributes that it has not got by itself."""
        for name, value in self.attributes.items():
            if not hasattr(built, name):
                setattr(built, name, fresh(value))
        return built


def attributes_set_later(
    kind: type, module: ModuleType, tree: ast.Module, path: str, root: str, sites: CallSites
) -> SetLater:
    """What the project sets on the objects of a class after building them.

    Args:
        kind: the class.
        module: its file, executed.
        tree: its file.
        path: where its file is.
        root: the project's folder.
        sites: the calls in its file.
    """
    node = next((item for item in tree.body if isinstance(item, ast.ClassDef) and item.name == kind.__name__), None)
    wanted = unset_reads(node, kind) if node is not None else set()
    if not wanted:
        return SetLater()
    found = {
        name: value for name, value in set_later(root, path, kind.__name__, sites, module).items() if name in wanted
    }
    unknown = frozenset(name for name, value in found.items() if not is_known(value))
    return SetLater({**found, **{name: constructor_value(name, "", {}, 0) for name in unknown}}, unknown)
