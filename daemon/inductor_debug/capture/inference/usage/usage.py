"""What a function does with its arguments, as far as its syntax shows: the record that `walk` fills in.

An argument is followed through steps that syntax shows (`shape_steps`), so that what a module takes in the end can be
told of the argument itself.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from inductor_debug.capture.inference.specs.specs import TensorSpec
from inductor_debug.capture.inference.usage.shape_steps import ShapeStep, added, undone
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.loading import is_installed, is_standard


def own_class(annotation: Any, near: Any) -> type | None:
    """The class of the project's that an annotation beside `near` names, if that is no module."""
    if isinstance(annotation, str):
        names = foreign.namespace(sys.modules.get(foreign.module_name(near))) | foreign.globals_of(near)
        annotation = names.get(annotation.strip("'\"").replace("Optional[", "").partition("|")[0].strip(" ]"))
    if not foreign.is_a(annotation, type) or issubclass(annotation, nn.Module | torch.Tensor | dict | list):
        return None
    owner = foreign.module_name(annotation).partition(".")[0]
    return None if owner in ("torch", "builtins", "typing", "collections", "numpy", "jaxtyping") else annotation


def is_own_function(value: Any) -> bool:
    """Whether something is a function of the project's own files, so that its text may be followed."""
    code = foreign.code_of(value) if inspect.isfunction(value) else None
    return code is not None and not (is_installed(code.co_filename) or is_standard(code.co_filename))


IMAGE_RANK = 4


@dataclass
class Usage:
    """What a function does with one argument, or with one element of it.

    `specs` are what takes it accepts, `accepted` the ranks that each of those takes. `ranks` are exact, `minimum` is
    a bound, `likely` are only probable. `parts` are its elements by key or index (from the end where that is
    negative) where it is a container, `count` is the length of a sequence. `roles` are "flag", "text", "number",
    "place" (of one of several layers), "sizes" (of a tensor), "callable" and "tensor" as the code shows them, `names`
    what the code calls its dimensions. `indexes` says that it is used as an index, `cast` that its dtype is changed
    before it is used. `weak` are specs that broadcasting suggests. `mapped` says that it is gone through as a mapping,
    `spread` that it is given as keywords, `**kwargs`. `own_keys` are set by the function before it reads them,
    `asked_keys` it asks for before. `fields` are the attributes of what is no tensor, `kind` is the class that it is
    said to be, `called` the name that an element is unpacked into.
    """

    specs: list[TensorSpec] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    minimum: int = 0
    parts: dict[str | int, Usage] = field(default_factory=dict)
    count: int | None = None
    iterated: bool = False
    roles: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    likely: list[int] = field(default_factory=list)
    accepted: list[frozenset[int]] = field(default_factory=list)
    indexes: bool = False
    cast: bool = False
    weak: list[TensorSpec] = field(default_factory=list)
    mapped: bool = False
    spread: bool = False
    own_keys: set[str] = field(default_factory=set)
    asked_keys: set[str] = field(default_factory=set)
    fields: dict[str, Usage] = field(default_factory=dict)
    kind: type | None = None
    called: str = ""

    def settle(self) -> None:
        """Puts what is less certain after the rest."""
        self.specs, self.weak = [*self.specs, *self.weak], []
        for part in (*self.parts.values(), *self.fields.values()):
            part.settle()

    def chooses(self, keys: Any) -> None:
        """Takes down that it is one of some texts: the keys of a table, or what it is compared with."""
        if not isinstance(keys, list) and not hasattr(keys, "keys"):
            return
        texts = [key for key in keys if isinstance(key, str)]
        if texts:
            self.role("text")
            self.texts += texts

    def part(self, key: str | int) -> Usage:
        """The element at `key`, made if it is new; of no account where the function has set it itself."""
        if key in self.own_keys and key not in self.parts:
            return Usage()
        return self.parts.setdefault(key, Usage())

    def elements(self) -> list[Usage]:
        """Its elements as a sequence, as many as it has at least; empty ones of which the code shows nothing.

        What is counted from the end is an element that is counted from the start as well, unless they differ in a size.
        """
        numbered = {key: part for key, part in self.parts.items() if isinstance(key, int)}
        count = self.count or max([0, *(key + 1 for key in numbered)])
        last = {key: part for key, part in numbered.items() if key < 0}
        longest = max([0, *(-key for key in last)])
        joined = max(count, longest)
        if any(numbered[joined + key].contradicts(part) for key, part in last.items() if joined + key in numbered):
            joined = count + longest
        first = numbered.get(0, Usage())
        return [numbered.get(index, last.get(index - joined, first)) for index in range(joined)]

    def contradicts(self, other: Usage) -> bool:
        """Whether no tensor is what takes either of the two."""
        pairs = [(one, two) for one in self.specs for two in other.specs if len(one.dims) == len(two.dims)]
        return bool(pairs) and all(
            any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in zip(one.dims, two.dims, strict=True))
            for one, two in pairs
        )

    def holds_images(self) -> bool:
        """Whether elements of it are images: nobody stacks those, so it is a sequence."""
        numbered = (part for key, part in self.parts.items() if isinstance(key, int))
        return any(len(spec.dims) >= IMAGE_RANK for part in numbered for spec in part.specs)

    def attribute(self, name: str) -> Usage | None:
        """What is kept under a name; None where that is rather something of a tensor's."""
        if self.kind is None and hasattr(torch.Tensor, name):
            return None
        found = self.fields.setdefault(name, Usage())
        if found.kind is None and self.kind is not None:
            found.kind = own_class(foreign.annotations_of(self.kind).get(name), self.kind)
        return found

    def is_shown(self) -> bool:
        """Whether the code shows anything of its shape."""
        return bool(self.specs or self.weak or self.ranks or self.minimum or self.parts or self.fields)

    def role(self, name: str) -> None:
        """Takes down a role."""
        if name not in self.roles:
            self.roles.append(name)


@dataclass(frozen=True)
class Tracked:
    """An expression's value: the argument (or element) that it is, after some steps; `peers` are joined with it."""

    usage: Usage
    steps: tuple[ShapeStep, ...] = ()
    peers: tuple[Tracked, ...] = ()

    def after(self, *steps: ShapeStep) -> Tracked:
        """The same after more steps."""
        return Tracked(self.usage, (*self.steps, *steps), tuple(peer.after(*steps) for peer in self.peers))

    def is_same(self, other: Tracked | None) -> bool:
        """Whether another expression is the same argument after the same steps."""
        return other is not None and other.usage is self.usage and other.steps == self.steps

    def shares_rank(self, other: Tracked) -> None:
        """Takes the rank of `other` for the likely one of this value."""
        own, others = added(self.steps), added(other.steps)
        if own is not None and others is not None and not self.usage.ranks:
            known = other.usage.ranks[:1] or other.usage.likely[:1]
            self.usage.likely += [rank + others - own for rank in known if rank + others - own not in self.usage.likely]

    def takes(self, specs: list[TensorSpec], *, weakly: bool = False) -> None:
        """Takes down what somebody accepts of this value; `weakly` where a module would know better."""
        ranks: set[int] = set()
        for spec in specs:
            found = undone(spec, self.steps)
            ranks.update(len(item.dims) for item in found)
            # What embeds numbers takes any shape; what takes time first after it is sure.
            sure = [item for item in found if item.dims == ("T", "B") and item.dtype == "int64"]
            self.usage.specs[:0] = sure
            (self.usage.weak if weakly else self.usage.specs).extend(found)
        if ranks and not weakly:
            self.usage.accepted.append(frozenset(ranks))
        self.usage.role("tensor")
        for peer in self.peers:
            peer.takes(specs, weakly=weakly)
