"""The arguments of one call with the values each may have, and the guess to begin with. No evidence is read here."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from inductor_debug.capture.inference.specs import argument_names
from inductor_debug.capture.inference.specs.specs import Dimension, Guess, Spec, SpecArgument, TensorSpec, tensors_in

GENERIC: dict[int, tuple[Dimension, ...]] = {
    1: ("B",),
    2: ("B", "D"),
    3: ("B", "T", "D"),
    4: ("B", "C", "H", "W"),
    5: ("B", "C", "F", "H", "W"),
    6: ("B", "C", "F", "H", "W", "D"),
}
"""The usual dimensions of a tensor by its rank."""
_LARGEST_IMAGE = 2048
"""Pixels a side. With more, any flattened image has as many features as some layer takes."""


@dataclass
class Parameter:
    """One argument of the call and its candidates; where some are `certain`, it is one of them unless none runs.

    `written` is the shape that the text states for it, if any.
    """

    name: str
    candidates: list[Spec]
    keyword: bool
    required: bool
    certain: tuple[Spec, ...] = ()
    written: tuple[str, ...] | None = None


@dataclass
class CallPlan:
    """All arguments of a callable. `image_sizes` and `lengths` are numbers of the model that sizes may have to be.

    `image_sides` are heights with widths that it says of its images, `batches` are those that it calls a batch's
    size, `widths` all that it keeps, `built_of` all that its constructor was given. `ranks` are how many dimensions
    single arguments may have, where the model says so. `literally` excludes what the text of the code denies.
    `parts` are the names of its own modules: an argument of that name is not what is to be called. `open_ended`
    says that there may be any number of arguments more.
    """

    parameters: list[Parameter]
    image_sizes: tuple[int, ...] = ()
    image_sides: tuple[tuple[int, int], ...] = ()
    lengths: tuple[int, ...] = ()
    batches: tuple[int, ...] = ()
    widths: tuple[int, ...] = ()
    built_of: tuple[int, ...] = ()
    ranks: dict[str, frozenset[int]] = field(default_factory=dict)
    literally: bool = False
    parts: frozenset[str] = frozenset()
    open_ended: bool = False

    @property
    def optional(self) -> list[str]:
        """Names of arguments that need not be given."""
        return [item.name for item in self.parameters if not item.required]

    def allows(self, guess: Guess) -> bool:
        """Whether a call has no tensor of a rank that the model excludes, and no image of a size that nobody means."""
        if self.literally and self.denied(guess) is not None:
            return False
        sizes, largest = guess.size_of(), max((_LARGEST_IMAGE, *self.image_sizes, *itertools.chain(*self.image_sides)))
        shapes = (spec.shape(sizes) for _, spec in guess.tensors() if len(spec.dims) > 3)
        if any(max(shape[-2:]) > largest for shape in shapes):
            return False
        return all(len(spec.dims) in self.ranks.get(name, {len(spec.dims)}) for name, spec in guess.tensors())

    def departures(self, guess: Guess) -> int:
        """How many arguments are none of those that are certain."""
        certain = {item.name: item.certain for item in self.parameters if item.certain}
        return sum(item.name in certain and item.spec not in certain[item.name] for item in guess.arguments)

    def denied(self, guess: Guess) -> Parameter | None:
        """The first argument of a call that has another rank than its text states, or other sizes.

        What the text calls by one name is one size, in whichever arguments.
        """
        sizes = guess.size_of()
        named: dict[str, int] = {}
        for item in self.parameters:
            spec = guess.spec_of(item.name)
            if item.written is not None and isinstance(spec, TensorSpec):
                shape = spec.shape(sizes)
                if len(shape) != len(item.written):
                    return item
                for dim, size in zip(item.written, shape, strict=True):
                    if (int(dim) if dim.isdigit() else named.setdefault(dim, size)) != size:
                        return item
        return None

    def called_alike(self, name: str, dim: int) -> list[str]:
        """The arguments that have, as the text says, a dimension of an argument: it calls both by one name."""
        written = next((item.written for item in self.parameters if item.name == name), None) or ()
        called = written[dim] if dim < len(written) and not written[dim].isdigit() else None
        return [item.name for item in self.parameters if called is not None and called in (item.written or ())]

    def candidates_of(self, name: str) -> list[Spec]:
        """The candidates of one argument."""
        return next((item.candidates for item in self.parameters if item.name == name), [])

    def tensor_candidates(self, name: str) -> list[Spec]:
        """Those of them that are tensors, or the usual ones."""
        found: list[Spec] = [spec for spec in self.candidates_of(name) if isinstance(spec, TensorSpec)]
        return found or [TensorSpec(dims) for dims in (GENERIC[2], GENERIC[3])]

    def callable(self) -> Any:
        """What is given for an argument that is called."""
        return torch.relu

    def named(self, name: str) -> Spec:
        """A tensor for something called `name`, a key for instance."""
        return next(iter(argument_names.specs_for(name)), TensorSpec(GENERIC[2]))

    def first(self) -> Guess:
        """The likeliest call."""
        arguments = tuple(
            SpecArgument(item.name, item.candidates[0], item.keyword) for item in self.parameters if item.required
        )
        sizes: dict[str, int] = {}
        guess = _of_graph(Guess(_names_last(arguments)))
        for name in guess.used_sizes():
            sizes[name] = argument_names.default_size(name, sizes)
        if self.image_sizes and "H" in sizes and "W" in sizes:
            sizes["H"] = sizes["W"] = self.image_sizes[0]
        return replace(guess, sizes=tuple(sorted(sizes.items())))

    def with_optional(self, guess: Guess, name: str, spec: Spec) -> Guess:
        """The call with one more argument, passed by name."""
        arguments = (*guess.arguments, SpecArgument(name, spec, keyword=True))
        sizes = guess.size_of()
        for tensor in tensors_in(spec):
            for dim in tensor.dims:
                if isinstance(dim, str) and dim not in sizes:
                    sizes[dim] = argument_names.default_size(dim, sizes)
        return Guess(arguments, tuple(sorted(sizes.items())))


def _of_graph(guess: Guess) -> Guess:
    """Beside an adjacency matrix, the rows of other matrices are nodes."""
    if not any(spec.dims == ("N", "N") for _, spec in guess.tensors()):
        return guess
    for name, spec in guess.tensors():
        if len(spec.dims) == 2 and spec.dims[0] == "B" and guess.spec_of(name) == spec:
            guess = guess.with_spec(name, replace(spec, dims=("N", spec.dims[1])))
    return guess


def _names_last(arguments: tuple[SpecArgument, ...]) -> tuple[SpecArgument, ...]:
    """Once an argument is passed by name, so are those after it."""
    found: list[SpecArgument] = []
    for item in arguments:
        named = item.keyword or any(before.keyword for before in found)
        found.append(replace(item, keyword=named))
    return tuple(found)
