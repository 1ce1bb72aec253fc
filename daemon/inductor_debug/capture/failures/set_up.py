"""Modules whose constructor forgets that of their base, before anything meets what they lack.

Such a module has no tables of parameters and parts, which nothing that runs modules expects: what it raises names
attributes of torch's, far from the constructor. Runs nothing of the model's.
"""

from __future__ import annotations

import linecache

import torch
from inductor_debug_schema import Location, Position, Range
from torch import nn

from inductor_debug.capture.runtime import foreign

_TABLE = "_parameters"
"""What the base's constructor makes first (torch 2.11 to 2.15); where it makes none, nothing is said."""


class NotSetUpError(AttributeError):
    """A module's constructor does not call that of its base; `location` is its name, None where nobody knows it."""

    def __init__(self, module: nn.Module) -> None:
        kind = type(module)
        super().__init__(
            f"`{foreign.name_of(kind)}.__init__` does not call `super().__init__()`, which every module needs"
        )
        code = foreign.code_of(foreign.attribute(kind, "__init__"))
        self.location = None if code is None else _constructor(code.co_filename, code.co_firstlineno)


def check_set_up(module: nn.Module) -> None:
    """Looks at a module and all parts of it; scripted ones, which keep their tables elsewhere, are set up.

    Raises:
        NotSetUpError: the first of them that is not set up.
    """
    parts, seen = [module], {id(module)}
    for part in parts:
        if foreign.is_a(part, torch.jit.ScriptModule):
            continue
        if _TABLE not in vars(part) and _TABLE in vars(nn.Module()):
            raise NotSetUpError(part)
        inner = [each for each in part._modules.values() if each is not None and id(each) not in seen]
        seen.update(map(id, inner))
        parts += inner


def _constructor(path: str, number: int) -> Location:
    """The name of a constructor that begins in a line of a file that ran; all of the line where it stands elsewhere."""
    text = linecache.getline(path, number).rstrip()
    name = "__init__"
    start, end = (at, at + len(name)) if (at := text.find(name)) >= 0 else (0, len(text))
    return Location(path, Range(Position(number - 1, start), Position(number - 1, end)))
