"""What a call gave, in a form that can still be compared when the call is over.

An iterator computes when it is asked, and compilers return iterators of other types than eager does: it is run to its
end as part of the run, and is a list from then on. Views of dictionaries are lists, too. A nested tensor is a list of
its tensors: as a whole it has no sizes that could be compared. Arrays of numpy are tensors, which every metric knows.
Nothing of the user's is run here but such iterators.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import Any

import torch

from inductor_debug.kerneldiff.execution.structure import flatten, replaced

_MOST_ITEMS = 4096
"""Of an iterator; the rest is not compared, for it may never end."""
_OWN = ("builtins", "itertools")


def settled(value: Any) -> Any:
    """`value` with lists in place of what would be gone, or could not be compared, later."""
    return replaced(value, _opened)


def ran_out(args: Any, kwargs: Any) -> str:
    """The path of an iterator among inputs, of which one run leaves nothing for the next; "" where there is none."""
    leaves = (*flatten(args, "args"), *flatten(kwargs, "kwargs"))
    return next((leaf.path for leaf in leaves if _is_iterator(leaf.value)), "")


def _opened(leaf: Any) -> Any:
    if isinstance(leaf, torch.Tensor):
        return list(leaf.unbind()) if leaf.is_nested else leaf
    if isinstance(leaf, KeysView | ValuesView | ItemsView) or _is_iterator(leaf):
        return settled(list(itertools.islice(leaf, _MOST_ITEMS)))
    return _numbers(leaf)


def _numbers(leaf: Any) -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(leaf, numpy.ndarray):
        return leaf
    try:
        return torch.from_numpy(leaf.copy())
    except TypeError:  # texts, dates, objects
        return leaf


def _is_iterator(value: Any) -> bool:
    """Generators and what Python's own functions return; files and the like are none of our business."""
    return isinstance(value, Iterator) and type(value).__module__ in _OWN
