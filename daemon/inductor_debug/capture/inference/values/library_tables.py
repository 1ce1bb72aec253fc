"""Configurations of libraries whose tables have attributes: ml_collections, EasyDict, yacs, Munch, addict, OmegaConf.

A script takes one that a file has made and sets more on it, `config.classes = args.classes`: so they are copied before
they are followed, and may be set. Which library is asked by name alone; none of them is imported here.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from inductor_debug.capture.runtime import foreign

_TABLES = frozenset(
    (
        *(("ml_collections", "ConfigDict"), ("easydict", "EasyDict"), ("yacs", "CfgNode"), ("munch", "Munch")),
        *(("addict", "Dict"), ("attrdict", "AttrDict"), ("omegaconf", "DictConfig")),
    )
)


def is_table(value: Any) -> bool:
    """Whether a value is such a table."""
    kind = type(value)
    return (foreign.module_name(kind).partition(".")[0], foreign.name_of(kind)) in _TABLES


def copied(value: Any) -> Any:
    """A table with the same in it that nobody else has; itself where its library does not let it be copied."""
    try:
        return copy.deepcopy(value)
    except Exception:  # whatever is in it
        return value


def set_in(table: Any, name: Any, value: Any) -> None:
    """Sets an item of a table; leaves it as it is where the table refuses: one may be locked."""
    try:
        table[name] = value
    except Exception:  # whatever a library makes of it
        return


def text_of_table(table: Any, text: Callable[[Any], str]) -> str:
    """An expression that makes the same table; `text` gives those of its plain parts."""
    kind = type(table)
    return f"__import__({foreign.module_name(kind)!r}, fromlist=['_']).{foreign.name_of(kind)}({text(_plain(table))})"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if is_table(value):  # ml_collections' are no mappings by their class
        return {key: _plain(value[key]) for key in value}
    return value
