"""What a class is built with: its constructor's arguments, what of them nobody wrote down, and the sizes among them.

`Construction.invented` names the arguments that nobody wrote down; sizes that follow from those are not the user's.
Values are only looked into.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

from inductor_debug.capture.inference.construction import signatures
from inductor_debug.capture.inference.construction.configuration_files import WrittenConfiguration
from inductor_debug.capture.inference.construction.invention import holds_code
from inductor_debug.capture.inference.specs import argument_names
from inductor_debug.capture.inference.specs.specs import ConstantSpec, SpecArgument
from inductor_debug.capture.inference.values.symbolic_values import SymbolicValue

DEFAULTS, DIRECTIVE, INSTANCE = "defaults", "a directive", "an instance"
_DIGIT = re.compile(r"\d")


@dataclass
class Construction:
    """One way to build a class. `text` are its arguments as a Python expression, empty where there are none."""

    arguments: tuple[SpecArgument, ...] = ()
    invented: tuple[str, ...] = ()
    source: str = DEFAULTS
    numbers: tuple[int, ...] = ()
    configuration: WrittenConfiguration | None = None
    """The table of a file that an argument was taken from."""
    prepared: tuple[str, ...] = ()
    """The calls of methods that make the built object ready, as they would be written."""

    @property
    def is_guessed(self) -> bool:
        """Whether the project's own objects may differ: in their arguments, or in the calls that make them ready."""
        return bool(self.invented or self.prepared)

    @property
    def sizes(self) -> dict[str, int]:
        """The whole numbers among the arguments, by name."""
        values = {item.name: getattr(item.spec, "value", None) for item in self.arguments}
        return {name: value for name, value in values.items() if type(value) is int and value > 0}

    @property
    def image_sides(self) -> tuple[tuple[int, int], ...]:
        """Heights and widths of images among the arguments: `resolution=[576, 960]`."""
        named = ((item.name, getattr(item.spec, "value", None)) for item in self.arguments)
        return tuple(
            sides for name, value in named if (sides := argument_names.sides_of_image(name, value)) is not None
        )

    @property
    def label(self) -> str:
        """The arguments as text, the same for what is built alike."""
        return ", ".join(f"{item.name}={getattr(item.spec, 'text', '')}" for item in self.arguments)

    @property
    def has_invented_code(self) -> bool:
        """Whether a module or a function was made up, or a method called, which does what the right one does not."""
        return bool(self.prepared) or any(map(holds_code, self.invented_values))

    @property
    def invented_kinds(self) -> frozenset[Any]:
        """The classes of modules that nobody wrote down: what they lack the right ones may have."""
        return frozenset(value.kind for value in self.invented_values if isinstance(value, SymbolicValue))

    @property
    def invented_values(self) -> list[Any]:
        """What nobody wrote down."""
        return [getattr(item.spec, "value", None) for item in self.arguments if item.name in self.invented]

    def shares_invented_numbers(self, other: Construction) -> bool:
        """Whether some argument that was made up has the same numbers in it in both, be it within a part."""
        texts = {item.name: getattr(item.spec, "text", "") for item in other.arguments}
        mine = ((item.name, getattr(item.spec, "text", "")) for item in self.arguments if item.name in self.invented)
        return any(texts.get(name) == text and _DIGIT.search(text) is not None for name, text in mine)

    def call(self, kind: Callable[..., Any]) -> Any:
        """Builds the class."""
        args, kwargs = self.given()
        return kind(*args, **kwargs)

    def changed(self, values: dict[str, Any]) -> Construction:
        """The same with other plain values for some arguments, also for such as had their defaults."""
        specs = {name: ConstantSpec(repr(value), value) for name, value in values.items()}
        arguments = [replace(item, spec=specs.pop(item.name, item.spec)) for item in self.arguments]
        arguments += [SpecArgument(name, spec, True) for name, spec in specs.items()]
        return replace(self, arguments=tuple(arguments), invented=(*self.invented, *specs))

    def given(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, made anew."""
        args = tuple(fresh_value(item.spec) for item in self.arguments if not item.keyword)
        return args, {item.name: fresh_value(item.spec) for item in self.arguments if item.keyword}


@dataclass(frozen=True, slots=True)
class BuiltSpec(ConstantSpec):
    """A value that is made anew for each construction, as modules are not shared.

    `guessed` says that something in it was written down by nobody, `is_data` that it is a tensor or an array.
    """

    make: Callable[[], Any] = field(default=lambda: None, compare=False, hash=False)
    guessed: bool = field(default=False, compare=False, hash=False)
    is_data: bool = field(default=False, compare=False, hash=False)


def fresh_value(spec: Any) -> Any:
    """What an argument is given, made anew."""
    return spec.make() if isinstance(spec, BuiltSpec) else spec.value


def numbers_in(known: dict[str, Any], deepest: int = 2) -> tuple[int, ...]:
    """Integers among the arguments, and in configurations among them, that say how large an input is."""
    found = []
    for name, given in sorted(known.items(), key=lambda item: not argument_names.is_surely_of_image(item[0])):
        value = given[0] if isinstance(given, tuple | list) and given else given
        if isinstance(value, int) and not isinstance(value, bool) and argument_names.is_extent(name) and value > 1:
            found += [item for item in given if type(item) is int] if isinstance(given, tuple | list) else [value]
        elif deepest:
            found += numbers_in(_parts_of(given), deepest - 1)
    return tuple(found)


def sizes_in(known: dict[str, Any], deepest: int = 2) -> dict[str, int]:
    """The whole numbers among the arguments by their names, then those in configurations among them."""
    found: dict[str, int] = {}
    for value in known.values() if deepest else ():
        found = {**sizes_in(_parts_of(value), deepest - 1), **found}
    return {**found, **{name: value for name, value in known.items() if type(value) is int}}


def _parts_of(value: Any) -> dict[str, Any]:
    """What a configuration is made of, as far as that is written down."""
    if isinstance(value, SymbolicValue):
        parameters = {item.name: item.default for item in signatures.known_parameters(value.kind) or []}
        return {**parameters, **dict(zip(parameters, value.args, strict=False)), **value.kwargs, **value.attributes}
    if isinstance(value, SimpleNamespace) or dataclasses.is_dataclass(value):
        return vars(value)
    return {key: item for key, item in value.items() if isinstance(key, str)} if type(value) is dict else {}
