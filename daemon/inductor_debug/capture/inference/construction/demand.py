"""What is asked of one constructor argument: the record that `demands` fills in, and `invention` goes by."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from inductor_debug.capture.inference.construction.number_conditions import NumberCondition

_OF_TENSORS = frozenset(
    ("size", "dim", "numel", "clone", "detach", "contiguous", "view", "reshape", "permute", "unsqueeze")
)
"""Methods that only tensors have; what is no method and has such a name may be a field of a configuration."""
_ALSO_OF_TENSORS = frozenset(
    ("shape", "device", "dtype", "ndim", "T", "data", "to", "float", "long", "cpu", "cuda", "t")
)
_WEIGHTS = ("weight", "bias")
_NO_TENSORS = (type(None), bool, int, float, str, list, tuple, dict)


@dataclass(frozen=True, slots=True)
class CallForm:
    """How many arguments a call gives by position, and which by name."""

    positional: int
    named: tuple[str, ...]


@dataclass
class Demand:
    """What is done with one argument, or with a field of it.

    `roles` are "sequence", "mapping" ("keyed" where only a dict will do), "configuration", "text", "integer",
    "number" (of any kind), "module", "tensor", "parameter" (a tensor that is one), "factory" (it is called by the
    constructor), "callable" (by other methods), "opened" (the constructor reads fields of it), "optional" (it is
    asked whether there is one), "repetitions" (how often something is made), "index" (of a sequence), "share" (a
    number from 0 to 1), "array" (of NumPy), "tuple" (a sequence that may be no list) and "needed" (it may not be
    None); `count` is the least length of a sequence, `texts` what it is compared with, `numbers` and `lists` the
    same; "flag" is only asked whether it is true. `item` is what is done with each item of a sequence, which is
    `unpacked` where it is one of a sequence itself. What is called takes `arguments` beside its first, and its result
    is unpacked into so many `results`; `calls` are those whose arguments can be counted, `gives` what is done with
    what a call gives. A number is divided by `divisor`, and meets the `conditions`.
    """

    roles: list[str] = field(default_factory=list)
    count: int = 0
    texts: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    lists: list[list[Any]] = field(default_factory=list)
    fields: dict[str, Demand] = field(default_factory=dict)
    item: Demand | None = None
    gives: Demand | None = None
    unpacked: bool = False
    arguments: bool = False
    results: int = 0
    calls: list[CallForm] = field(default_factory=list)
    divisor: int = 1
    conditions: list[NumberCondition] = field(default_factory=list)

    @property
    def is_tensor(self) -> bool:
        """Whether a tensor is asked for: by what takes nothing else, or by asking for what only tensors have."""
        if "tensor" in self.roles:
            return True
        if {"module", "callable", "factory", "mapping", "text"}.intersection(self.roles):
            return False
        if any(inner.number_given_back is not None for inner in self.fields.values()):
            return False
        methods = {name for name, inner in self.fields.items() if "callable" in inner.roles}
        own = "shape" in self.fields or not methods.isdisjoint(_OF_TENSORS)
        return own and self.fields.keys() <= _ALSO_OF_TENSORS | methods & _OF_TENSORS

    @property
    def has_weights(self) -> bool:
        """Whether the data of weights are read of it, or of a part of it, so that it is a module."""
        own = any(name in self.fields and "data" in self.fields[name].fields for name in _WEIGHTS)
        return own or any(inner.has_weights for inner in self.fields.values())

    @property
    def number_given_back(self) -> Demand | None:
        """The demand on the number that a call without arguments gives, as in `vocabulary.size()`; else None."""
        called = bool(self.calls) and not any(call.positional or call.named for call in self.calls)
        is_number = self.gives is not None and not {"integer", "repetitions"}.isdisjoint(self.gives.roles)
        return self.gives if called and is_number else None

    def refutes(self, value: Any) -> bool:
        """Whether a constructor that does this with an argument, unasked, cannot end where it is given `value`."""
        if "needed" in self.roles and value is None:
            return True
        if "opened" in self.roles and type(value) in _NO_TENSORS[1:]:
            return any(isinstance(name, str) and not hasattr(value, name) for name in self.fields)
        if "optional" in self.roles or "flag" in self.roles:
            return False
        return (value is None and not {"factory", "opened", "mapping"}.isdisjoint(self.roles)) or (
            self.is_tensor and isinstance(value, _NO_TENSORS)
        )

    def takes_on(self, role: str) -> None:
        """Takes down a role."""
        if role not in self.roles:
            self.roles.append(role)

    def each(self) -> Demand:
        """The demand on each item, made if it is new."""
        self.item = self.item or Demand()
        return self.item

    def given_back(self) -> Demand:
        """The demand on what a call gives, made if it is new."""
        self.gives = self.gives or Demand()
        return self.gives

    def of(self, name: str) -> Demand:
        """The demand on a field, made if it is new."""
        return self.fields.setdefault(name, Demand())

    def asks_of(self, name: str) -> Demand:
        """The demand on a field as it is; an empty one where there is none."""
        return self.fields.get(name, Demand())

    def adds(self, other: Demand) -> None:
        """Asks for what another one asks for, too."""
        for role in other.roles:
            if role != "needed":  # there, which may not be reached
                self.takes_on(role)
        self.count, self.results = max(self.count, other.count), max(self.results, other.results)
        self.arguments, self.unpacked = self.arguments or other.arguments, self.unpacked or other.unpacked
        if other.item is not None:
            self.each().adds(other.item)
        if other.gives is not None:
            self.given_back().adds(other.gives)
        self.divisor = math.lcm(self.divisor, other.divisor)
        self.texts += other.texts
        self.calls += other.calls
        self.conditions += other.conditions
        self.numbers += other.numbers
        self.lists += other.lists
        for name, inner in other.fields.items():
            self.of(name).adds(inner)
