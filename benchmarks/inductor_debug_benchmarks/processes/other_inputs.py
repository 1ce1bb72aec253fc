"""Whether a mutant that breaks with its author's inputs is a sound model of other inputs, so that nobody can blame it.

A first layer that takes a feature more is such a model: without the author's data nothing is wrong with it. That is
judged by running the mutant on real tensors; what the tool said of it has no part in it. It is sound with other inputs
where some call

- gives exactly those arguments that the author gives: a default that no longer runs is a fault of the text;
- gives no shape that the text itself denies, in an annotation, a docstring or a comment;
- runs, with results of the same kind: as many values, tensors of the same ranks and dtypes;
- leaves the sizes free that the author's call of the original does, each alone where it was so. A model of any length
  that has become one of a single length, or whose batch must equal its length, has a fault that `fixed-size` is there
  to tell. Where the call has other ranks, it must leave as many sizes free.

Tried are the author's call with a size, a rank or a dtype changed, and the call that was inferred for the mutant, with
the constructor's arguments that were inferred along with it where the author gives such arguments, too.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, is_dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch
from inductor_debug.capture.inference.guessing.written_shapes import (
    WrittenShape,
    comments_of,
    input_shape,
    shape_in_annotation,
    shape_in_text,
)
from inductor_debug.repro.minimiser.attempts import attempt

from inductor_debug_benchmarks.processes.true_runs import AuthorsCall, TrueRun, built, leaves, run_original

_SECONDS = 20
_DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool)

Given = tuple[tuple[Any, ...], dict[str, Any]]
"""The arguments of a call, by position and by name."""
Freedom = tuple[int, int, bool]
"""That a dimension of a tensor, both by number, may have another size: alone, or perhaps along with others."""
Change = Callable[[int, torch.Tensor], torch.Tensor]
"""What becomes of a tensor of a call, which has a number."""


@dataclass(frozen=True, slots=True)
class BrokenMutant:
    """The text of a mutant, and the expressions of the call and of the constructor's arguments inferred for it."""

    text: str
    inputs: str = ""
    init: str = ""


def sound_with(path: str, text: str, call: AuthorsCall, mutants: list[BrokenMutant]) -> list[str]:
    """For each mutant the tensors (`float32[2, 65]`) of a call with which it is sound; empty where there is none.

    Call it in a child of its own: it leaves the original's module and threads behind.

    Args:
        path: the file; it need not exist.
        text: its unmutated text.
        call: how the class is built and called by its author.
        mutants: what is judged.
    """
    original, _ = run_original(path, text, call)
    kind = _Kind.of(original, path, text)

    def sound(mutant: BrokenMutant) -> dict[str, Any]:
        for other, inferred in _calls(mutant, call, type(original.model).__name__):
            # A mutant whose constructor raises, or whose module does not load, is sound with nothing.
            with contextlib.suppress(Exception), built(path, mutant.text, other) as (model, names):
                for given in [eval(inferred, names)] if inferred else _variants((original.args, original.kwargs)):
                    if kind.holds(model, given):
                        return {"found": ", ".join(map(_described, _tensors(given)))}
        return {"found": ""}

    return [str(attempt(partial(sound, mutant), timeout=_SECONDS).answer.get("found", "")) for mutant in mutants]


def _calls(mutant: BrokenMutant, call: AuthorsCall, name: str) -> Iterator[tuple[AuthorsCall, str]]:
    """How a mutant may be built, and the expression of what it is then called with: the author's call where empty."""
    if mutant.inputs:
        given = f"((), {mutant.inputs})" if mutant.inputs.startswith("{") else f"({mutant.inputs}, {{}})"
        if mutant.init and not call.build.endswith("()"):
            stars = "**" if mutant.init.startswith("{") else "*"
            yield replace(call, build=f"{name}({stars}{mutant.init})"), given
        yield call, given
    yield call, ""


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a call of a mutant must have in common with the author's call of the original."""

    names: frozenset[str]
    """The arguments that are given."""
    results: list[tuple[Any, ...]]
    ranks: list[int]
    free: frozenset[Freedom]
    written: dict[str, WrittenShape]

    @classmethod
    def of(cls, original: TrueRun, path: str, text: str) -> _Kind:
        given = original.args, original.kwargs
        arguments = _arguments(original.model, given)
        written = _written(original.model, path, text, arguments)
        agreeing = {name: shape for name, shape in written.items() if not _denies(shape, arguments[name])}
        ranks, free = _ranks(given), _free(original.model, given)
        return cls(frozenset(arguments), _kinds(original.result), ranks, free, agreeing)

    def holds(self, model: torch.nn.Module, given: Given) -> bool:
        """Whether a call of a mutant is such a call."""
        arguments = _arguments(model, given)
        if arguments.keys() != self.names or any(_denies(self.written[name], arguments[name]) for name in self.written):
            return False
        if _results(model, given) != self.results:
            return False
        free = _free(model, given)
        return free >= self.free if _ranks(given) == self.ranks else len(free) >= len(self.free)


def _arguments(model: torch.nn.Module, given: Given) -> dict[str, Any]:
    """What is given, by the names of the parameters; nothing where it does not fit them."""
    try:
        bound = inspect.signature(model.forward).bind(*given[0], **given[1])
    except TypeError:
        return {}
    return {name: value for name, value in bound.arguments.items() if value is not None}


def _written(model: torch.nn.Module, path: str, text: str, arguments: dict[str, Any]) -> dict[str, WrittenShape]:
    """The shapes that the text of the model's `forward` states for single tensors."""
    code = type(model).forward.__code__
    defined = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
    lines = {min([node.lineno, *(item.lineno for item in node.decorator_list)]): node for node in defined}
    node = lines.get(code.co_firstlineno) if code.co_filename == path else None
    if node is None:
        return {}
    notes = [inspect.getdoc(type(model)) or "", ast.get_docstring(node) or ""]
    notes.append(comments_of(text.splitlines()[node.lineno - 1 : node.end_lineno]))
    annotations = {item.arg: item.annotation for item in ast.walk(node.args) if isinstance(item, ast.arg)}
    found: dict[str, WrittenShape] = {}
    for name, value in arguments.items():
        if isinstance(value, torch.Tensor):
            told = [shape_in_annotation(annotations.get(name)), *(shape_in_text(name, note) for note in notes)]
            told += [input_shape(note) for note in notes] if len(arguments) == 1 else []
            found.update((name, shape) for shape in told[::-1] if shape is not None)
    return found


def _denies(written: WrittenShape, value: Any) -> bool:
    if not isinstance(value, torch.Tensor) or len(written.dims) != value.dim():
        return True
    return any(dim.isdigit() and int(dim) != size for dim, size in zip(written.dims, value.shape, strict=True))


def _results(model: torch.nn.Module, given: Given) -> list[tuple[Any, ...]] | None:
    """The kinds of what a call gives; None where it does not run. What it is given stays as it is."""
    args, kwargs = _with_tensors(given, lambda _, tensor: tensor.clone())
    try:
        return _kinds(model(*args, **kwargs))
    except Exception:
        return None


def _kinds(result: Any) -> list[tuple[Any, ...]]:
    return [
        (value.dim(), str(value.dtype)) if isinstance(value, torch.Tensor) else (type(value).__name__,)
        for value in leaves(result)
    ]


def _ranks(given: Given) -> list[int]:
    return [tensor.dim() for tensor in _tensors(given)]


def _free(model: torch.nn.Module, given: Given) -> frozenset[Freedom]:
    """Which dimensions of the call may have another size: alone, and alone or along with those of other tensors."""
    found: set[Freedom] = set()
    for number, rank in enumerate(_ranks(given)):
        for dim in range(rank):
            for other in _resized(given, number, dim):
                is_alone = sum(map(_differ, _tensors(given), _tensors(other))) == 1
                new = {(number, dim, False), (number, dim, is_alone)} - found
                if new and _results(model, other) is not None:
                    found |= new
    return frozenset(found)


def _differ(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape != other.shape


def _variants(given: Given) -> Iterator[Given]:
    """The call with a size, a rank or a dtype changed, of one tensor or of all."""
    tensors = _tensors(given)
    for number, tensor in enumerate(tensors):
        for dim in range(tensor.dim()):
            yield from _resized(given, number, dim, everywhere=True)
    changes: list[Callable[[torch.Tensor], torch.Tensor]] = []
    for dim in (0, 1, 2, -1):
        changes += [partial(_unsqueezed, dim=dim), partial(_selected, dim=dim)]
    changes += [partial(torch.Tensor.to, dtype=dtype) for dtype in _DTYPES]
    for only in (*range(len(tensors)), None) if len(tensors) > 1 else (None,):
        for change in changes:
            yield _with_tensors(given, partial(_changed_at, only, change))


def _changed_at(only: int | None, change: Callable[[torch.Tensor], torch.Tensor], at: int, tensor: torch.Tensor) -> Any:
    return change(tensor) if only in (None, at) else tensor


def _unsqueezed(tensor: torch.Tensor, dim: int) -> torch.Tensor:
    return tensor.unsqueeze(min(dim, tensor.dim()))


def _selected(tensor: torch.Tensor, dim: int) -> torch.Tensor:
    return tensor.select(dim, 0) if -tensor.dim() <= dim < tensor.dim() else tensor


def _resized(given: Given, number: int, dim: int, *, everywhere: bool = False) -> Iterator[Given]:
    """The call with another size of a dimension, alone and along with dimensions of other tensors that are as large.

    Args:
        given: the call.
        number: a tensor of it.
        dim: a dimension of that.
        everywhere: whether other dimensions of the same tensor may be changed along with it, too.
    """
    size = _tensors(given)[number].shape[dim]

    def alone(at: int, tensor: torch.Tensor) -> list[int]:
        return [dim] if at == number else []

    def beside(at: int, tensor: torch.Tensor) -> list[int]:
        return [dim] if at == number or tensor.shape[dim : dim + 1] == (size,) else []

    def among(at: int, tensor: torch.Tensor) -> list[int]:
        return [dim] if at == number else every(at, tensor)

    def every(at: int, tensor: torch.Tensor) -> list[int]:
        return [index for index, there in enumerate(tensor.shape) if there == size]

    # What has one element fits anything.
    for new in sorted({2 * size, size + 1, size - 1, size // 2} - {0, 1, size}) if size else ():
        for dims in (alone, beside, among, *((every,) if everywhere else ())):
            yield _with_tensors(given, partial(_sized, dims, new))


def _sized(dims: Callable[[int, torch.Tensor], list[int]], size: int, at: int, tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of another size in some dimensions, which has the same values again and again."""
    for dim in dims(at, tensor):
        tensor = tensor.index_select(dim, torch.arange(size) % tensor.shape[dim])
    return tensor


def _tensors(value: Any) -> list[torch.Tensor]:
    """The tensors in the arguments of a call, in order."""
    found: list[torch.Tensor] = []

    def take(_: int, tensor: torch.Tensor) -> torch.Tensor:
        found.append(tensor)
        return tensor

    _with_tensors(value, take)
    return found


def _with_tensors(value: Any, change: Change) -> Any:
    """The same value with other tensors; plain objects are made anew, everything else is shared."""
    count = 0

    def visit(item: Any) -> Any:
        nonlocal count
        if isinstance(item, torch.Tensor):
            count += 1
            return change(count - 1, item)
        if isinstance(item, dict):
            return {key: visit(inner) for key, inner in item.items()}
        if isinstance(item, tuple) and hasattr(item, "_fields"):
            return type(item)(*map(visit, item))
        if isinstance(item, list | tuple):
            return type(item)(map(visit, item))
        if isinstance(item, SimpleNamespace) or (is_dataclass(item) and not isinstance(item, type)):
            other = object.__new__(type(item))
            for name, inner in vars(item).items():
                object.__setattr__(other, name, visit(inner))
            return other
        return item

    return visit(value)


def _described(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
