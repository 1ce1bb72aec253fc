"""What a function does with its arguments, as far as its syntax shows: the record that `walk` fills in.

An argument is followed through steps that syntax shows (`steps`), so that what a module takes in the end can be told
of the argument itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from inductor_debug.capture.inference.specs import TensorSpec
from inductor_debug.capture.inference.steps import Step, undone


@dataclass
class Usage:
    """What a function does with one argument, or with one element of it.

    `specs` are what takes it accepts. `ranks` are exact, `minimum` is a bound, `likely` are only probable. `parts` are
    its elements by key or index where it is a container, `count` is the length of a sequence. `roles` are "flag",
    "text", "number", "callable" and "tensor" as the code shows them, `names` what the code calls its dimensions.
    `indexes` says that it is used as an index, `cast` that its dtype is changed before it is used. `weak` are specs
    that broadcasting suggests.
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
    indexes: bool = False
    cast: bool = False
    weak: list[TensorSpec] = field(default_factory=list)

    def settle(self) -> None:
        """Puts what is less certain after the rest."""
        self.specs, self.weak = [*self.specs, *self.weak], []
        for part in self.parts.values():
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
        """The element at `key`, made if it is new."""
        return self.parts.setdefault(key, Usage())

    def role(self, name: str) -> None:
        """Takes down a role."""
        if name not in self.roles:
            self.roles.append(name)


@dataclass(frozen=True)
class Tracked:
    """An expression's value: the argument (or element) that it is, after some steps; `peers` are joined with it."""

    usage: Usage
    steps: tuple[Step, ...] = ()
    peers: tuple[Tracked, ...] = ()

    def after(self, *steps: Step) -> Tracked:
        """The same after more steps."""
        return Tracked(self.usage, (*self.steps, *steps), tuple(peer.after(*steps) for peer in self.peers))

    def takes(self, specs: list[TensorSpec], *, weakly: bool = False) -> None:
        """Takes down what somebody accepts of this value; `weakly` where a module would know better."""
        for spec in specs:
            found = undone(spec, self.steps)
            # What embeds numbers takes any shape; what takes time first after it is sure.
            sure = [item for item in found if item.dims == ("T", "B") and item.dtype == "int64"]
            self.usage.specs[:0] = sure
            (self.usage.weak if weakly else self.usage.specs).extend(found)
        self.usage.role("tensor")
        for peer in self.peers:
            peer.takes(specs, weakly=weakly)
