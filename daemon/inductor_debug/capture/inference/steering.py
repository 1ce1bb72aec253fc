"""From a trial that failed to the guesses that may do better, likeliest first.

The module that refused its input says what it takes (`leaves`); where a function refused, the numbers of its message
are matched with the sizes that were chosen, which is why those are distinct.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

from torch import nn

from inductor_debug.capture.inference.changes import (
    of_rank,
    replaced,
    resized,
    resized_names,
    shifted,
    with_all_sizes,
    with_dtype,
    with_rank,
)
from inductor_debug.capture.inference.leaves import accepted
from inductor_debug.capture.inference.meeting import by_joining, by_mask, by_one
from inductor_debug.capture.inference.plan import Plan
from inductor_debug.capture.inference.specs import (
    ConstantSpec,
    Guess,
    MappingSpec,
    SequenceSpec,
    TensorSpec,
)
from inductor_debug.capture.inference.trial import Outcome

_NUMBERS = re.compile(r"(?<![\w.])\d+(?![\w.]*\w)")
_UNPACK = re.compile(r"(?:not enough|too many) values to unpack \(expected (\d+)")
_LISTS = re.compile(r"\[(\d+(?:, ?\d+)+)\]")
_VIEW = re.compile(r"shape '\[-1, (\d+)\]' is invalid for input of size")
_WANTS_INTEGER = re.compile(
    r"Long|Int\b|indices|index|integer|expected.*int64|must be.*int|one_hot|bitwise",
    re.IGNORECASE,
)
_WANTS_FLOAT = re.compile(
    r"Float|floating|Half|same dtype|dtype|not implemented for|Input type|mixed dtype|mean\(\)|result type|complex",
    re.IGNORECASE,
)
_WANTS_COMPLEX = re.compile(r"(only supported for|requires a|expected a?) ?complex", re.IGNORECASE)
_WANTS_BOOL = re.compile(r"\bbool", re.IGNORECASE)
_WANTS_SEQUENCE = re.compile(
    r"must be (a )?tuple|cannot be unpacked|not iterable|'tuple' object|'list' object|list of|tuple of|as element"
)
_RANK_WORDS = re.compile(
    r"Dimension out of range|too many indices|[1-6]-?D\b|dimensions?|rank|ndim|unflatten|einsum|permute|"
    r"transpose|list index out of range|tuple index out of range|IndexError",
    re.IGNORECASE,
)
_SQUARES = (28, 32, 64, 224, 96, 128, 16, 48, 84, 256, 8, 36, 40, 20, 56, 112, 160, 192, 227, 299, 384, 512)
_LONG, _LONGEST = frozenset("TSLDAF"), 100_000
"""Names of sizes that a layer may take all of at once, and how large they get."""
_LENGTHS = (8, 32, 64, 128, 10, 20, 50, 100, 256, 4, 512, 1024, 28, 1, 16000, 784, 3)


def next_guesses(outcome: Outcome, plan: Plan) -> Iterator[Guess]:
    """Guesses to try after `outcome`, likeliest first; some may have been tried before."""
    guess = outcome.guess
    yield from _by_area(outcome, plan)
    yield from _by_images(guess, plan)
    yield from _by_ratio(outcome, plan)
    yield from (guess.with_sizes(B=size) for size in plan.batches if "B" in guess.used_sizes())
    yield from by_joining(outcome, plan)
    yield from _by_module(outcome)
    yield from _by_container(outcome, plan)
    yield from _by_unpacking(outcome)
    yield from _by_missing(outcome, plan)
    yield from by_mask(outcome, plan)
    yield from _by_view(outcome)
    yield from by_one(outcome, plan)
    yield from _by_numbers(outcome)
    yield from _by_dtype(outcome)
    if _RANK_WORDS.search(outcome.message):
        yield from _other_ranks(guess)
    yield from _alternatives(guess, plan)
    yield from _ladders(guess, plan)
    yield from _other_ranks(guess)
    yield from _other_dtypes(guess)


def _by_module(outcome: Outcome) -> Iterator[Guess]:
    if outcome.module is None:
        return
    for received in outcome.received:
        wanted = accepted(outcome.module, received.position)
        if not wanted:
            continue
        kinds = {spec.dtype for spec in wanted}
        if received.dtype not in kinds and not (received.dtype == "int32" and "int64" in kinds):
            yield from with_dtype(outcome.guess, received.shape, wanted[0].dtype)
        if len(received.shape) not in {len(spec.dims) for spec in wanted}:
            for spec in wanted:
                yield from with_rank(outcome.guess, received.shape, spec)
        for spec in wanted:
            if len(spec.dims) != len(received.shape):
                continue
            for index, (dim, size) in enumerate(zip(spec.dims, received.shape, strict=True)):
                if isinstance(dim, int) and dim != size:
                    yield from resized(outcome.guess, size, dim, received.shape, index)


def _by_area(outcome: Outcome, plan: Plan) -> Iterator[Guess]:
    """Image sizes for a linear layer that takes all pixels at once, those near the right area first."""
    sizes, used = outcome.guess.size_of(), outcome.guess.used_sizes()
    whole = _whole(outcome.module)
    if not whole or "H" not in used or "W" not in used or not outcome.received:
        return
    got = outcome.received[0].shape[-1:]
    if not got or got[0] <= 0:
        return
    side = (sizes["H"] * sizes["W"] * whole / got[0]) ** 0.5
    for size in sorted(dict.fromkeys((*plan.image_sizes, *_SQUARES)), key=lambda item: abs(math.log(item / side))):
        yield outcome.guess.with_sizes(H=size, W=size)


def _whole(module: nn.Module | None) -> int:
    """How many numbers a layer takes at once, of those that pictures and sequences are flattened for."""
    return int(getattr(module, "in_features", 0) or getattr(module, "input_size", 0) or 0)


def _by_ratio(outcome: Outcome, plan: Plan) -> Iterator[Guess]:
    """Lengths for a layer that takes all of a sequence at once: in proportion, those of the model's own first."""
    whole, guess = _whole(outcome.module), outcome.guess
    shape = outcome.received[0].shape if outcome.received and whole else ()
    if not shape or shape[-1] <= 1 or shape[-1] == whole:
        return
    ratio = whole / shape[-1]
    for name in guess.used_sizes():
        size = guess.size_of()[name]
        if (name not in _LONG and len(name) == 1) or size == shape[-1]:
            continue
        wanted = size * ratio
        near = [item for item in plan.lengths if 0.7 < item / wanted < 1.4]
        for other in dict.fromkeys((*near[:3], round(wanted))):
            if 1 < other < _LONGEST:
                yield guess.with_sizes(**{name: other})


def _by_images(guess: Guess, plan: Plan) -> Iterator[Guess]:
    """The sizes that the model's own numbers suggest: few, and often right."""
    used = guess.used_sizes()
    if "H" in used and "W" in used:
        for size in plan.image_sizes[:4]:
            yield guess.with_sizes(H=size, W=size)


def _by_container(outcome: Outcome, plan: Plan) -> Iterator[Guess]:
    message, guess = outcome.message, outcome.guess
    for argument in guess.arguments:
        if "has no attribute 'items'" in message or "has no attribute 'keys'" in message or "string indices" in message:
            yield guess.with_spec(argument.name, MappingSpec((("x", TensorSpec(("B", "D"))),)))
        missing = re.search(r"KeyError: '(\w+)'", message)
        if missing and isinstance(argument.spec, MappingSpec):
            spec = plan.named(missing[1])
            yield with_all_sizes(
                guess.with_spec(argument.name, MappingSpec((*argument.spec.items, (missing[1], spec))))
            )
        if isinstance(argument.spec, SequenceSpec) and argument.spec.items:
            yield from _longer(guess, argument.name, argument.spec)
        if isinstance(argument.spec, TensorSpec) and ("not callable" in message):
            yield guess.with_spec(argument.name, ConstantSpec("torch.relu", plan.callable()))
        if isinstance(argument.spec, ConstantSpec) and re.search(
            r"object has no attribute|must be Tensor|not Tensor|unsupported operand type", message
        ):
            for candidate in plan.tensor_candidates(argument.name):
                yield with_all_sizes(guess.with_spec(argument.name, candidate))
    if _WANTS_SEQUENCE.search(message):
        for argument in guess.arguments:
            if isinstance(argument.spec, TensorSpec):
                yield guess.with_spec(argument.name, SequenceSpec((argument.spec,) * 2, is_list=True))


def _longer(guess: Guess, name: str, spec: SequenceSpec) -> Iterator[Guess]:
    for count in (len(spec.items) + 1, len(spec.items) + 2):
        if 1 <= count <= 6:
            items = (*spec.items, *(spec.items[-1],) * count)[:count]
            yield guess.with_spec(name, replace(spec, items=items))


def _by_unpacking(outcome: Outcome) -> Iterator[Guess]:
    match = _UNPACK.search(outcome.message)
    if match is None:
        return
    rank = int(match[1])
    guess = outcome.guess
    for name, spec in guess.tensors():
        if rank <= 6 and len(spec.dims) != rank:
            yield replaced(guess, name, spec, of_rank(spec, rank))
    for argument in guess.arguments:
        if isinstance(argument.spec, TensorSpec) and rank in (2, 3):
            yield guess.with_spec(argument.name, SequenceSpec((argument.spec,) * rank))


def _by_missing(outcome: Outcome, plan: Plan) -> Iterator[Guess]:
    """Optional arguments that the message names, or that were None where something was expected."""
    given = {item.name for item in outcome.guess.arguments}
    named = [name for name in plan.optional if name not in given and re.search(rf"\b{name}\b", outcome.message)]
    wanted = named or ([name for name in plan.optional if name not in given] if "None" in outcome.message else [])
    for name in wanted[:6]:
        for spec in plan.candidates_of(name)[:3]:
            yield plan.with_optional(outcome.guess, name, spec)


def _by_numbers(outcome: Outcome) -> Iterator[Guess]:
    numbers = _numbers_of(outcome.message)
    sizes = outcome.guess.size_of()
    used = {sizes[name] for name in outcome.guess.used_sizes()}
    fixed = {dim for _, spec in outcome.guess.tensors() for dim in spec.dims if isinstance(dim, int)}
    for got in numbers:
        for wanted in numbers:
            if got != wanted and 1 < wanted < 1_000_000 and got > 2 and (got in used or got in fixed):
                yield from resized_names(outcome.guess, got, wanted)
    for got in numbers:
        for wanted in numbers:
            if got != wanted and 1 < wanted < 1_000_000 and got > 2:
                yield from resized(outcome.guess, got, wanted)


def _numbers_of(message: str) -> list[int]:
    """The numbers of a message, and what lists of them add up to: `split_sizes=[3, 3]` wants six."""
    sums = [sum(map(int, text.split(","))) for text in _LISTS.findall(message)]
    found = [*map(int, _NUMBERS.findall(message.replace(",", " , ")))][:8]
    return list(dict.fromkeys((*sums[:2], *found))) if "split" in message else list(dict.fromkeys(found))


def _by_view(outcome: Outcome) -> Iterator[Guess]:
    """`shape '[-1, 21]' is invalid for input of size 838272`: somebody's last size is 21."""
    match = _VIEW.search(outcome.message)
    if match is not None:
        last = int(match[1])
        for name, spec in outcome.guess.tensors():
            if len(spec.dims) > 1 and spec.dtype == "float32" and spec.dims[-1] != last:
                yield replaced(outcome.guess, name, spec, replace(spec, dims=(*spec.dims[:-1], last)))


def _by_dtype(outcome: Outcome) -> Iterator[Guess]:
    guess, message = outcome.guess, outcome.message
    wishes = (
        (_WANTS_COMPLEX, "complex64"),
        (_WANTS_INTEGER, "int64"),
        (_WANTS_FLOAT, "float32"),
        (_WANTS_BOOL, "bool"),
    )
    for words, dtype in wishes:
        if words.search(message):
            for name, spec in guess.tensors():
                if spec.dtype != dtype:
                    yield replaced(guess, name, spec, replace(spec, dtype=dtype))


def _alternatives(guess: Guess, plan: Plan) -> Iterator[Guess]:
    for argument in guess.arguments:
        for spec in plan.candidates_of(argument.name):
            if spec != argument.spec:
                yield with_all_sizes(guess.with_spec(argument.name, spec))


def _ladders(guess: Guess, plan: Plan) -> Iterator[Guess]:
    used = guess.used_sizes()
    if "H" in used and "W" in used:
        for size in dict.fromkeys((*plan.image_sizes, *_SQUARES)):
            yield guess.with_sizes(H=size, W=size)
    others = [name for name in used if len(name) > 1]
    for name in (*others, "T", "S", "L", "N", "A", "D", "C", "F"):
        if name in used:
            for size in dict.fromkeys((*plan.lengths, *_LENGTHS)):
                yield guess.with_sizes(**{name: size})


def _other_ranks(guess: Guess) -> Iterator[Guess]:
    for name, spec in guess.tensors():
        rank = len(spec.dims)
        for other in (rank + 1, rank - 1, rank + 2, rank - 2):
            if 1 <= other <= 5:
                yield replaced(guess, name, spec, of_rank(spec, other))
                yield from shifted(guess, name, spec, other - rank)


def _other_dtypes(guess: Guess) -> Iterator[Guess]:
    for name, spec in guess.tensors():
        for dtype in ("int64", "float32", "bool"):
            if spec.dtype != dtype:
                yield replaced(guess, name, spec, replace(spec, dtype=dtype))
