"""Finds the sizes of a target's inputs that are free, by running it with a symbol in place of each.

A size that stays a symbol to the end, and may be another while the rest stay as they are, is free: no operation asked
for a certain one. What the code does ask of it (a bound, a divisor) are the guards of the run, under which it is true
of all such sizes. Names are the code's own where
it names them. Read against torch 2.11 to 2.13 (`ShapeEnv.guards`, `replace`, `var_to_range`, `var_to_val`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from inductor_debug_schema import FreeSize, SizedCapture, SizesSeen, Stage, StageState
from torch.utils import _pytree as pytree

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.inference.finding_filter import symbolic_basis_of
from inductor_debug.capture.inference.inference import inference_of
from inductor_debug.capture.inference.specs.call_plan import GENERIC
from inductor_debug.capture.inference.specs.rendering import inputs_of
from inductor_debug.capture.inference.specs.size_names import names_of
from inductor_debug.capture.inference.specs.specs import ConstantSpec, Dimension, Guess, Spec, SpecArgument, TensorSpec
from inductor_debug.capture.running.call_arguments import named_arguments
from inductor_debug.capture.running.dynamic_inputs import InputSymbols
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.sizes.resizing import Place, resized, tensor_leaves
from inductor_debug.capture.stages.preview import run_preview
from inductor_debug.capture.tensors.metadata import dtype_name
from inductor_debug.capture.tensors.size_symbols import example_values, finite
from inductor_debug.rules.captures.capture_judging import Capture, CapturedRun
from inductor_debug.rules.captures.size_expressions import NoValueError
from inductor_debug.rules.captures.substitution import substituted

Around = Callable[[], AbstractContextManager[Any]]
_MARK = 10**15
"""Stands for a size in what is written for people: no input is so large."""
_OF_IDS: tuple[Dimension, ...] = ("B", "T")
"""The usual dimensions of a matrix of whole numbers: token ids, masks."""


@dataclass
class Sizing:
    """The free sizes of a target by name: what they are, where they stand, and runs with symbols in their place."""

    sizes: dict[str, FreeSize] = field(default_factory=dict)
    places: dict[str, list[Place]] = field(default_factory=dict)
    captures: list[tuple[list[str], Capture]] = field(default_factory=list)
    inputs: str = ""

    def resized(self, target: BuiltTarget, values: Mapping[str, int]) -> BuiltTarget:
        """The target with other sizes; names that it does not have are passed over."""
        known = self.known(values)
        sizes = {place: value for name, value in known.items() for place in self.places[name]}
        return replace(resized(target, sizes), given=known) if known else target

    def grown(self, target: BuiltTarget, values: Mapping[str, int]) -> BuiltTarget:
        """The target with larger sizes of ours than it was built with."""
        return replace(self.resized(target, values), given=target.given, larger={**target.larger, **values})

    def sized(self, target: BuiltTarget, larger: Mapping[str, int], given: Mapping[str, int]) -> BuiltTarget:
        """The target with larger sizes of ours, and then those that the user set."""
        return self.resized(self.grown(target, larger), given)

    def known(self, values: Mapping[str, int]) -> dict[str, int]:
        """Those of the sizes that the target has."""
        return {name: value for name, value in values.items() if name in self.places}

    def seen(self, target: str, values: Mapping[str, int]) -> SizesSeen:
        """What is told of it, with those sizes that the user set."""
        sizes = [
            replace(size, value=values[size.name], given=True, known=True) if size.name in values else size
            for size in self.sizes.values()
        ]
        captures = [SizedCapture(guards, capture.on_wire()) for guards, capture in self.captures]
        return SizesSeen(target, sizes, captures, self.inputs)


@dataclass
class _Group:
    """Dimensions that have one size, and the number that it is in the call."""

    places: list[Place]
    number: int


def sizing_of(target: BuiltTarget, sources: SourceMap, around: Around) -> Sizing:
    """The free sizes of a target, `around` which user code is run.

    Args:
        target: as it was built, no size of it changed.
        sources: turns places into frames.
        around: what a preview of the target needs around it.
    """
    sizing = inferred_sizing(target)
    if target.fake_mode is None:
        return sizing
    dynamic = replace(target, dynamic=True, more=[])
    ones: dict[Place, int] = {
        (leaf, 0): 2 for leaf, tensor in tensor_leaves(target) if tensor.dim() and tensor.shape[0] == 1
    }
    # A size of one is no symbol: batches of one are run as two, and then as they are.
    batched = _run(resized(dynamic, ones), sources, around) if ones and target.inference is None else None
    single = _run(dynamic, sources, around)
    runs = [run for run in (batched, single) if run is not None]
    if runs:
        sizing = _named(target, _free_groups(target, runs[0]))
        for run in runs:
            _take(sizing, target, run)
    return sizing


def inferred_sizing(target: BuiltTarget) -> Sizing:
    """The sizes that inference has found to be free; nothing is run, and nothing is known of what bounds them."""
    return _named(target, _inferred_groups(target))


@dataclass
class _Symbolic:
    """A run with symbols for sizes: the target that ran, what was recorded, and what torch knows of the symbols."""

    target: BuiltTarget
    run: CapturedRun
    symbols: InputSymbols

    def at(self) -> Iterator[tuple[Place, Any]]:
        """Each dimension of the inputs that is a symbol when the run is over, with the symbol."""
        for leaf, tensor in tensor_leaves(self.target):
            made = self.symbols.made.get(id(tensor))
            for dim, size in enumerate(made.shape if made is not None else ()):
                expression = getattr(getattr(size, "node", None), "expr", None)
                if getattr(expression, "is_symbol", False) and _may_vary(self.symbols.environment, expression):
                    yield (leaf, dim), expression


def _may_vary(environment: Any, symbol: Any) -> bool:
    """Whether a size may be a multiple or a part of what it is, all others as they are.

    An image that is flattened for a layer stays two symbols whose product is known: neither is free, though one more
    pixel may vanish in a pooling.
    """
    values = example_values(environment)
    guards = [environment.replace(guard.expr) for guard in environment.guards]
    tied = [guard for guard in guards if symbol in guard.free_symbols]
    if symbol not in values or not tied:
        return True
    now = values[symbol]
    others = [2 * now, 3 * now, now // 2, now // 3]
    return any(
        other > 1 and all(str(guard.xreplace({**values, symbol: other})) == "True" for guard in tied)
        for other in others
    )


def _run(
    target: BuiltTarget, sources: SourceMap, around: Callable[[], AbstractContextManager[Any]]
) -> _Symbolic | None:
    """Runs a target with symbols for all sizes but ones; None where it did not come to its end."""
    symbols = InputSymbols()
    with around():
        outcome = run_preview(target, sources, symbols)
    if outcome.report.state is not StageState.DONE or symbols.environment is None:
        return None
    return _Symbolic(target, CapturedRun(outcome.recording, outcome.findings), symbols)


def _free_groups(target: BuiltTarget, symbolic: _Symbolic) -> list[_Group]:
    """The dimensions whose symbols stayed, and those that inference has run with other sizes all the same."""
    originals = dict(tensor_leaves(target))
    groups: dict[Any, _Group] = {}
    for (leaf, dim), symbol in symbolic.at():
        groups.setdefault(symbol, _Group([], int(originals[leaf].shape[dim]))).places.append((leaf, dim))
    proved = {place for group in groups.values() for place in group.places}
    asked = [group for group in _inferred_groups(target) if proved.isdisjoint(group.places)]
    return [*groups.values(), *asked]


def _take(sizing: Sizing, target: BuiltTarget, symbolic: _Symbolic) -> None:
    """Adds what a run says to a target's sizes: a capture under the run's guards, and bounds."""
    environment = symbolic.symbols.environment
    named = {place: name for name, places in sizing.places.items() for place in places}
    names = {symbol: named[place] for place, symbol in symbolic.at() if place in named}
    tensors = dict(tensor_leaves(symbolic.target))
    fixed = {name: places[0] for name, places in sizing.places.items() if name not in names.values()}
    guards = _guards(environment, names)
    guards += [f"Eq({name}, {int(tensors[leaf].shape[dim])})" for name, (leaf, dim) in fixed.items()]
    for symbol, name in names.items():
        sizing.sizes[name] = replace(sizing.sizes[name], maximum=_bound(environment, symbol, "upper"))
    try:
        recording = substituted(symbolic.run.recording, _formulas(environment, names), {})
    except NoValueError:
        return
    basis = symbolic_basis_of(target, symbolic.run.recording) if target.inference is not None else None
    run = CapturedRun(recording, symbolic.run.found, basis=basis)
    sizing.captures.append((guards, Capture(target.name, Stage.PREVIEW, target.location, [run])))


def _inferred_groups(target: BuiltTarget) -> list[_Group]:
    """The sizes that inference has found to be free, by the numbers that stand for them in the call."""
    groups: dict[int, _Group] = {}
    inference = inference_of(target)
    numbers = inference.symbols() if inference is not None else {}
    for leaf, tensor in tensor_leaves(target):
        for dim, size in enumerate(tensor.shape):
            if int(size) in numbers:
                groups.setdefault(int(size), _Group([], int(size))).places.append((leaf, dim))
    return list(groups.values())


def _named(target: BuiltTarget, groups: list[_Group]) -> Sizing:
    """The groups with the names that the code, or else usage, gives them."""
    arguments = _argument_names(target)
    inference = inference_of(target)
    inferred = inference.symbols() if inference is not None else {}
    usual = inference.usual_sizes() if inference is not None else {}
    written = _names(target, groups, arguments)
    sizing = Sizing()
    for number, group in enumerate(groups):
        name = inferred.get(group.number) or written.get(number) or f"s{number}"
        if name in sizing.sizes:
            name = next(f"{name}_{count}" for count in range(2, 99) if f"{name}_{count}" not in sizing.sizes)
        dimensions = [f"{arguments.get(leaf, 'input')}[{dim}]" for leaf, dim in group.places]
        value, known = usual.get(name, group.number), target.inference is None
        sizing.sizes[name] = FreeSize(name, value, value, known=known, inferred=not known, dimensions=dimensions)
        sizing.places[name] = group.places
    sizing.inputs = _written(target, sizing.places)
    return sizing


def _written(target: BuiltTarget, places: Mapping[str, list[Place]]) -> str:
    """The inputs as Python, `{name}` in place of each size; "" where one of them is neither a tensor nor a literal."""
    named = {place: name for name, stands in places.items() for place in stands}
    marks = {name: _MARK + number for number, name in enumerate(places)}
    arguments = []
    given = [*((str(index), value) for index, value in enumerate(target.args)), *target.kwargs.items()]
    for number, (name, value) in enumerate(given):
        if isinstance(value, torch.Tensor):
            dims = tuple(named.get((number, dim), int(size)) for dim, size in enumerate(value.shape))
            spec: Spec = TensorSpec(dims, dtype_name(value.dtype))
        elif value is None or isinstance(value, bool | int | float | str):
            spec = ConstantSpec(repr(value), value)
        else:
            return ""
        arguments.append(SpecArgument(name, spec, keyword=name in target.kwargs))
    if target.args and target.kwargs:
        return ""
    text = inputs_of(Guess(tuple(arguments), tuple(marks.items())))
    for name, mark in marks.items():
        text = text.replace(str(mark), f"{{{name}}}")
    return text


def _names(target: BuiltTarget, groups: list[_Group], arguments: Mapping[int, str]) -> dict[int, str]:
    """Names for groups by their number, as inference names the sizes of a call that it has made up."""
    letters: dict[Place, str] = {}
    taken: dict[str, int] = {}
    numbers: dict[str, int] = {}
    tensors = dict(tensor_leaves(target))
    for number, group in enumerate(groups):
        leaf, dim = group.places[0]
        role = _role(tensors[leaf], dim)
        taken[role] = taken.get(role, 0) + 1
        letter = role if taken[role] == 1 else f"{role}{taken[role]}"
        numbers[letter] = number
        letters.update(dict.fromkeys(group.places, letter))
    made = []
    for leaf, tensor in tensors.items():
        dims = tuple(letters.get((leaf, dim), int(size)) for dim, size in enumerate(tensor.shape))
        made.append(SpecArgument(arguments.get(leaf, ""), TensorSpec(dims, dtype_name(tensor.dtype))))
    guess = Guess(tuple(made), tuple(sorted(numbers.items())))
    names = names_of(guess, frozenset(numbers), numbers, target.function)
    return {numbers[letter]: name for letter, name in names.items()}


def _role(tensor: torch.Tensor, dim: int) -> str:
    usual = GENERIC.get(tensor.dim(), ())
    if tensor.dim() == 2 and not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
        usual = _OF_IDS
    role = usual[dim] if dim < len(usual) else "D"
    return role if isinstance(role, str) else "D"


def _argument_names(target: BuiltTarget) -> dict[int, str]:
    """The name of the argument that each leaf of the call belongs to."""
    named = named_arguments(target, "argument {}")
    return dict(enumerate(name for name, value in named.items() for _ in pytree.tree_leaves(value)))


def _formulas(environment: Any, names: Mapping[Any, str]) -> dict[str, int | str]:
    """What stands for each of torch's symbols when the run is over: a number, a name or a formula of names."""
    renamed = _renamed(environment, names)
    found: dict[str, int | str] = {}
    for symbol in example_values(environment):
        now = environment.replace(symbol)
        now = now.xreplace(renamed)
        found[str(symbol)] = int(now) if getattr(now, "is_number", False) else str(now)
    return found


def _guards(environment: Any, names: Mapping[Any, str]) -> list[str]:
    """What the code has asked of the sizes, as formulas of their names."""
    renamed = _renamed(environment, names)
    asked = [str(environment.replace(guard.expr).xreplace(renamed)) for guard in environment.guards]
    found = [guard for guard in asked if guard != "True"]
    for symbol, name in names.items():
        smallest, largest = _bound(environment, symbol, "lower"), _bound(environment, symbol, "upper")
        found += [f"{name} >= {smallest}"] if smallest is not None else []
        found += [f"{name} <= {largest}"] if largest is not None else []
    return list(dict.fromkeys(found))


def _renamed(environment: Any, names: Mapping[Any, str]) -> dict[Any, Any]:
    """Names in place of torch's symbols, and numbers in place of those that have none."""
    named = {symbol: type(symbol)(name, integer=True, positive=True) for symbol, name in names.items()}
    return example_values(environment) | named


def _bound(environment: Any, symbol: Any, side: str) -> int | None:
    return finite(getattr(environment.var_to_range.get(symbol), side, None))
