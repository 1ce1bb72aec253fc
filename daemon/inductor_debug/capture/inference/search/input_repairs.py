"""From a trial that failed to the guesses that may do better, likeliest first.

The module that refused its input says what it takes (`module_inputs`); where a function refused, the numbers that it
names are matched with the sizes that were chosen, which is why those are distinct.
"""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Iterator
from dataclasses import replace

from torch import nn

from inductor_debug.capture.failures.failed_statement import raised_by, value_of
from inductor_debug.capture.inference.search.broadcast_repairs import (
    by_joining,
    by_mask,
    by_missing_dimension,
    by_one,
    by_operands,
    by_partner,
    by_shapes,
)
from inductor_debug.capture.inference.search.conflict_repairs import by_conflict
from inductor_debug.capture.inference.search.library_repairs import by_library
from inductor_debug.capture.inference.search.product_repairs import by_product
from inductor_debug.capture.inference.search.refusal_repairs import by_half, by_padding, by_parts, by_refusal
from inductor_debug.capture.inference.search.trial import TrialOutcome
from inductor_debug.capture.inference.search.view_repairs import by_view, by_volume
from inductor_debug.capture.inference.specs.call_plan import CallPlan
from inductor_debug.capture.inference.specs.spec_changes import (
    of_rank,
    ranks_together,
    replaced,
    resized,
    resized_alone,
    resized_names,
    shifted,
    with_all_sizes,
    with_dtype,
    with_rank,
)
from inductor_debug.capture.inference.specs.specs import (
    ConstantSpec,
    Guess,
    MappingSpec,
    SequenceSpec,
    TensorSpec,
)
from inductor_debug.capture.inference.usage.module_inputs import accepted

_SQUARES = (28, 32, 64, 224, 96, 128, 16, 48, 84, 256, 8, 36, 40, 20, 56, 112, 160, 192, 227, 299, 384, 512)
_SHORT_SIDES, _USUAL_SHORT, _NEAREST = (16, 32, 48, 64, 96, 128, 192, 256), 2, 6
_USUAL_SIDES, _COLOURS = (224, 256), 3
_USUAL = 4
"""How many of those most images have."""
_LONG, _LONGEST = frozenset("TSLDAF"), 100_000
"""Names of sizes that a layer may take all of at once, and how large they get."""
_POOLED = {"1d": 1, "2d": 2, "3d": 3}
"""Along how many dimensions layers slide windows, by the ends of their names."""
_LARGEST = 2048
"""How high and wide images get."""
_LENGTHS = (8, 32, 64, 128, 10, 20, 50, 100, 256, 4, 512, 1024, 28, 1, 16000, 784, 3)


def next_guesses(outcome: TrialOutcome, plan: CallPlan) -> Iterator[Guess]:
    """Guesses to try after `outcome`, likeliest first; some may have been tried before."""
    guess = outcome.guess
    yield from _by_key(outcome)
    yield from by_refusal(outcome, plan)
    yield from by_half(outcome)
    yield from by_library(outcome, plan)
    yield from by_operands(outcome)
    yield from by_partner(outcome)
    yield from _by_fractions(outcome)
    if isinstance(outcome.error, NotImplementedError):
        # What torch does not support for one rank or dtype it may support for another; sizes change nothing about it.
        yield from _other_ranks(guess)
        yield from _other_dtypes(guess)
    yield from _as_arrays(outcome)
    yield from _by_window(outcome)
    yield from by_padding(outcome)
    yield from by_parts(outcome)
    yield from _by_pixels(outcome)
    yield from _as_given(outcome)
    yield from _by_one_pixel(outcome)
    yield from _by_area(outcome, plan)
    yield from _by_images(guess, plan)
    yield from _by_ratio(outcome, plan)
    yield from (guess.with_sizes(B=size) for size in plan.batches if "B" in guess.used_sizes())
    yield from by_missing_dimension(outcome)
    if outcome.raised.about_rank and len({len(spec.dims) for _, spec in guess.tensors()}) > 1:
        yield from ranks_together(guess, (5, 4, 3) if "5D" in outcome.raised.text else (4, 5, 3))
    of_torch = type(outcome.module).__module__.startswith("torch.")
    yield from by_joining(outcome, plan) if of_torch else ()
    yield from _by_unpacking(outcome)
    yield from by_product(outcome, plan)
    yield from _by_module(outcome)
    if outcome.raised.about_rank and outcome.module is not None and len(guess.tensors()) > 1:
        yield from ranks_together(guess, (4, 3, 5))  # what it refused may be made of all of them
    yield from _by_container(outcome, plan)
    yield from _by_missing(outcome, plan)
    yield from by_mask(outcome, plan)
    if outcome.raised.broadcast_shapes or outcome.raised.joined_sizes:
        yield from _by_usual_image(guess)
    yield from by_view(outcome)
    yield from by_volume(outcome)
    yield from by_one(outcome, plan)
    yield from by_shapes(outcome)
    yield from _by_usual_image(guess)
    yield from _by_numbers(outcome)
    # What the user's own module takes is less sure.
    yield from by_joining(outcome, plan)
    yield from _by_dtype(outcome)
    yield from _larger(guess)
    if outcome.raised.about_rank:
        yield from _ranks_raised(guess)
        yield from _other_ranks(guess)
    yield from _alternatives(guess, plan)
    yield from _ladders(guess, plan)
    yield from by_conflict(outcome)
    yield from _other_ranks(guess)
    yield from _other_dtypes(guess)


def _by_fractions(outcome: TrialOutcome) -> Iterator[Guess]:
    """Numbers between 0 and 1 where code makes indices of some, or takes no others.

    A class's number stands beside a box's sides; a cross-entropy is of shares, all of them.
    """
    raised, guess = outcome.raised, outcome.guess
    floats = [(name, spec) for name, spec in guess.tensors() if spec.dtype.startswith("float") and not spec.filled]
    if raised.wants_shares:
        every = guess
        for name, spec in dict.fromkeys(floats):
            every = replaced(every, name, spec, replace(spec, filled=1))
        yield every
    if raised.below_zero or raised.wants_shares:
        for name, spec in dict.fromkeys(reversed(floats)):
            yield replaced(guess, name, spec, replace(spec, filled=1))


def _as_arrays(outcome: TrialOutcome) -> Iterator[Guess]:
    """Arrays of NumPy's in place of tensors, all or each, where NumPy's did not get along with a tensor.

    Whole numbers first: those are what is made tensors of in a model, and numbers of any kind can be made of them.
    """
    numpy, guess = sys.modules.get("numpy"), outcome.guess
    if numpy is None or not outcome.raised.about_arrays:
        return
    tensors = {item.name: item.spec for item in guess.arguments if isinstance(item.spec, TensorSpec)}
    for names in [list(tensors), *([name] for name in tensors if len(tensors) > 1)]:
        for dtypes in (dict.fromkeys(names, "int64"), {name: tensors[name].dtype for name in names}):
            changed = guess
            for name in names:
                shape, dtype = tensors[name].shape(guess.size_of()), dtypes[name]
                text = f"__import__('numpy').zeros({shape}, {dtype!r})"
                changed = changed.with_spec(name, ConstantSpec(text, numpy.zeros(shape, dtype)))
            yield changed


def _as_given(outcome: TrialOutcome) -> Iterator[Guess]:
    """Sizes for an argument that came as it is to the module which refused it."""
    sizes = outcome.guess.size_of()
    for received in outcome.received if outcome.module is not None else ():
        same = [item for item in outcome.guess.tensors() if item[1].shape(sizes) == received.shape]
        for spec in accepted(outcome.module, received.position) if outcome.module is not None and same else ():
            for index, size in enumerate(spec.dims if len(spec.dims) == len(received.shape) else ()):
                if isinstance(size, int) and size != received.shape[index]:
                    yield from (resized_alone(outcome.guess, name, own, index, size) for name, own in same)


def _by_module(outcome: TrialOutcome) -> Iterator[Guess]:
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


def _by_area(outcome: TrialOutcome, plan: CallPlan) -> Iterator[Guess]:
    """Image sizes for a linear layer that takes all pixels at once, those near the right area first.

    Windows that are not padded take something off each side: the right one lies between that and what was given.
    """
    sizes, used = outcome.guess.size_of(), outcome.guess.used_sizes()
    whole, got = _whole(outcome.module), outcome.received[0].shape[-1:] if outcome.received else ()
    wanted, have = (whole, got[0]) if whole and got else outcome.raised.multiplied_sizes or (0, 0)
    if "H" not in used or "W" not in used or wanted <= 0 or have <= 0:
        return
    side = (sizes["H"] * sizes["W"] * wanted / have) ** 0.5
    step = 2 if side < 64 else 8
    near = range(int(side * 0.7) // step * step, int(side * 1.4), step)
    known = dict.fromkeys((*plan.image_sizes, *_SQUARES, *(size for size in near if size >= 8)))
    squares = [(size, size) for size in sorted(known, key=lambda item: abs(math.log(item / side)))]
    # People stand upright: images of them are twice as high as wide.
    shorts = sorted(_SHORT_SIDES, key=lambda item: abs(math.log(2**0.5 * item / side)))[:_USUAL_SHORT]
    upright = [(2 * short, short) for short in shorts]
    given = (sizes["H"] * sizes["W"]) ** 0.5
    between = [(size, size) for size, _ in squares if min(side, given) < size < max(side, given) and size in _SQUARES]
    for height, width in (*squares[:2], *between, *squares[2:_NEAREST], *upright, *squares[_NEAREST:]):
        yield outcome.guess.with_sizes(H=height, W=width)


def _by_one_pixel(outcome: TrialOutcome) -> Iterator[Guess]:
    """Images of which one pixel is left, for a linear layer that takes as much as they have channels by then.

    `fc(pool(x).squeeze())` was written for those.
    """
    whole, guess = _whole(outcome.module), outcome.guess
    arrived = outcome.received[0].shape if outcome.received and whole else ()
    if whole not in arrived[1:-1]:
        return
    left = arrived[arrived.index(whole, 1) + 1 :]
    for _, spec in guess.tensors():
        along = spec.dims[-len(left) :] if len(spec.dims) > len(left) else ()
        names = {name: size for name, size in zip(along, left, strict=False) if isinstance(name, str)}
        smaller = {name: guess.size_of()[name] // size for name, size in names.items()}
        if smaller and min(smaller.values()) > 1:
            yield guess.with_sizes(**smaller)


def _by_window(outcome: TrialOutcome) -> Iterator[Guess]:
    """Sequences, images and volumes as much larger as what arrives is smaller than the window of what refuses it."""
    window, guess = getattr(outcome.module, "kernel_size", None), outcome.guess
    arrived = outcome.received[0].shape if outcome.received else ()
    along = _POOLED.get(type(outcome.module).__name__[-2:], 0)
    given = list(window) if isinstance(window, tuple | list) else [window] * along
    sizes = [size for size in given if type(size) is int and size > 0]
    have = arrived[len(arrived) - along :]
    if not along or not len(given) == len(sizes) == len(have) == along:
        return
    times = {
        name: -(-size // max(got, 1))
        for _, spec in guess.tensors()
        if len(spec.dims) == len(arrived)
        for name, size, got in zip(spec.dims[-along:], sizes, have, strict=True)
        if isinstance(name, str)
    }
    sides = max((times[name] for name in ("H", "W") if name in times), default=1)
    times |= {name: sides for name in ("H", "W") if name in times}
    changed = {name: guess.size_of()[name] * more for name, more in times.items() if more > 1}
    # Lengths by the names that we give them grow by factors of their own (`_larger`).
    most = _LONGEST if along == 1 and _LONG.isdisjoint(changed) else _LARGEST
    if changed and max(changed.values()) <= most:
        yield guess.with_sizes(**changed)


def _by_pixels(outcome: TrialOutcome) -> Iterator[Guess]:
    """Images in proportion where a view asks for another number of pixels: `view(-1, 64, 32 * 32)` of 16 by 16."""
    wanted, guess = outcome.raised.elements_of_view, outcome.guess
    arrived = outcome.received[0].shape if outcome.received else ()
    if not {"H", "W"} <= set(guess.used_sizes()):
        return
    if (volumes := outcome.raised.volumes_of_view) is not None and all(volumes):
        side = math.sqrt(guess.size_of()["H"] * guess.size_of()["W"] * volumes[0] / volumes[1])
        for size in dict.fromkeys((round(side), round(side / 8) * 8)):
            if 0 < size <= _LARGEST:
                yield guess.with_sizes(H=size, W=size)
    if wanted is None or len(arrived) != 4:
        return
    times = (wanted / max(math.prod(arrived[1:]), 1)) ** 0.5
    height, width = (guess.size_of()[name] * times for name in ("H", "W"))
    if height.is_integer() and width.is_integer() and max(height, width) <= _LARGEST:
        yield guess.with_sizes(H=int(height), W=int(width))
    # Windows that do not step leave other proportions: the sides that data sets have, then.
    yield from (guess.with_sizes(H=side, W=side) for side in _SQUARES[:_USUAL])


def _whole(module: nn.Module | None) -> int:
    """How many numbers a layer takes at once, of those that pictures and sequences are flattened for."""
    sizes = (getattr(module, name, None) for name in ("in_features", "input_size"))
    return next((size for size in sizes if type(size) is int), 0)  # a module of the user's may call anything so


def _by_ratio(outcome: TrialOutcome, plan: CallPlan) -> Iterator[Guess]:
    """Lengths in proportion, the model's own first: for a layer that takes all of a sequence, or for what is joined."""
    whole, guess = _whole(outcome.module), outcome.guess
    shape = outcome.received[0].shape if outcome.received and whole else ()
    wanted, got = outcome.raised.joined_sizes or (whole, shape[-1] if shape and shape[-1] > 1 else whole)
    if wanted == got or not got:
        return
    for name in guess.used_sizes():
        size = guess.size_of()[name]
        if (name not in _LONG and len(name) == 1) or size == got:
            continue
        proportional = size * wanted / got
        near = [item for item in plan.lengths if 0.7 < item / proportional < 1.4]
        for other in dict.fromkeys((*near[:3], round(proportional))):
            if 1 < other < _LONGEST:
                yield guess.with_sizes(**{name: other})


def _by_images(guess: Guess, plan: CallPlan) -> Iterator[Guess]:
    """The sizes that the model's own numbers suggest: few, and often right."""
    used = guess.used_sizes()
    if "H" in used and "W" in used:
        for high, wide in (*plan.image_sides[:2], *((size, size) for size in plan.image_sizes[:4])):
            yield guess.with_sizes(H=high, W=wide)


def _by_usual_image(guess: Guess) -> Iterator[Guess]:
    """The sides of most images that models are published for, or of what their first layers leave of them.

    Windows, patches and strides divide them where they divide no size that is told apart from all others.
    """
    sizes = guess.size_of()
    if {"H", "W"} <= set(guess.used_sizes()):
        coloured = any(len(spec.dims) == 4 and spec.shape(sizes)[1] == _COLOURS for _, spec in guess.tensors())
        for side in _USUAL_SIDES if coloured else (side // 4 for side in _USUAL_SIDES):
            yield guess.with_sizes(H=side, W=side)


def _by_key(outcome: TrialOutcome) -> Iterator[Guess]:
    """A table for a tensor that is asked for `features["r4"]`, which torch takes for as many indices as letters."""
    found = raised_by(outcome.error) if isinstance(outcome.error, IndexError | TypeError | ValueError) else None
    if found is None:
        return
    frame, statement = found
    for node in ast.walk(statement):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            key = node.slice.value if isinstance(node.slice, ast.Constant) else value_of(node.slice, frame)[1]
            spec = outcome.guess.spec_of(node.value.id)
            if type(key) is str and isinstance(spec, TensorSpec):
                yield outcome.guess.with_spec(node.value.id, MappingSpec(((key, spec),)))


def _with_key(table: MappingSpec, key: str, plan: CallPlan) -> MappingSpec:
    """A table with one more entry: like what is called the same but for a number, else as its name suggests."""
    called = key.rstrip("0123456789")
    alike = (spec for known, spec in table.items if called and known.rstrip("0123456789") == called != key)
    return MappingSpec((*table.items, (key, next(alike, None) or plan.named(key))))


def _by_container(outcome: TrialOutcome, plan: CallPlan) -> Iterator[Guess]:
    raised, guess = outcome.raised, outcome.guess
    missing = raised.missing_key
    for argument in guess.arguments:
        if raised.wants_mapping:
            yield guess.with_spec(argument.name, MappingSpec((("x", TensorSpec(("B", "D"))),)))
        if missing is not None and isinstance(argument.spec, MappingSpec):
            yield with_all_sizes(guess.with_spec(argument.name, _with_key(argument.spec, missing, plan)))
        if isinstance(argument.spec, SequenceSpec) and argument.spec.items:
            yield from _longer(guess, argument.name, argument.spec)
        if isinstance(argument.spec, TensorSpec) and raised.not_callable and argument.name not in plan.parts:
            yield guess.with_spec(argument.name, ConstantSpec("torch.relu", plan.callable()))
        if isinstance(argument.spec, TensorSpec) and raised.attribute_of_no_tensor is not None:
            # What is to be no tensor is of a class that nobody names: there may be none of it.
            yield guess.with_spec(argument.name, ConstantSpec("None", None))
        if isinstance(argument.spec, ConstantSpec) and raised.wants_tensor:
            for candidate in plan.tensor_candidates(argument.name):
                yield with_all_sizes(guess.with_spec(argument.name, candidate))
    if raised.wants_sequence:
        for argument in guess.arguments:
            if isinstance(argument.spec, TensorSpec):
                yield guess.with_spec(argument.name, SequenceSpec((argument.spec,) * 2, is_list=True))


def _longer(guess: Guess, name: str, spec: SequenceSpec) -> Iterator[Guess]:
    for count in (len(spec.items) + 1, len(spec.items) + 2):
        if 1 <= count <= 6:
            items = (*spec.items, *(spec.items[-1],) * count)[:count]
            yield guess.with_spec(name, replace(spec, items=items))


def _by_unpacking(outcome: TrialOutcome) -> Iterator[Guess]:
    rank, guess = outcome.raised.unpacked_into, outcome.guess
    if rank is None:
        return
    for name, spec in guess.tensors():
        if rank <= 6 and len(spec.dims) != rank:
            yield replaced(guess, name, spec, of_rank(spec, rank))
    for name, spec in guess.tensors():
        yield from shifted(guess, name, spec, outcome.raised.lacking_values)
    for argument in guess.arguments:
        if isinstance(argument.spec, TensorSpec) and rank in (2, 3):
            yield guess.with_spec(argument.name, SequenceSpec((argument.spec,) * rank))


def _by_missing(outcome: TrialOutcome, plan: CallPlan) -> Iterator[Guess]:
    """Optional arguments that the message names, or that were None where something was expected."""
    given = {item.name for item in outcome.guess.arguments}
    left_out = [name for name in plan.optional if name not in given]
    wanted = [name for name in left_out if outcome.raised.names(name)]
    if not wanted and outcome.raised.about_none:
        wanted = left_out
    for name in wanted[:6]:
        for spec in plan.candidates_of(name)[:3]:
            yield plan.with_optional(outcome.guess, name, spec)


def _by_numbers(outcome: TrialOutcome) -> Iterator[Guess]:
    numbers = outcome.raised.numbers
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


def _by_dtype(outcome: TrialOutcome) -> Iterator[Guess]:
    guess = outcome.guess
    for dtype in outcome.raised.wanted_dtypes:
        for name, spec in guess.tensors():
            if spec.dtype != dtype:
                yield replaced(guess, name, spec, replace(spec, dtype=dtype))


def _alternatives(guess: Guess, plan: CallPlan) -> Iterator[Guess]:
    for argument in guess.arguments:
        for spec in plan.candidates_of(argument.name):
            if spec != argument.spec:
                yield with_all_sizes(guess.with_spec(argument.name, spec))


def _ladders(guess: Guess, plan: CallPlan) -> Iterator[Guess]:
    used = guess.used_sizes()
    if "H" in used and "W" in used:
        for size in dict.fromkeys((*plan.image_sizes, *_SQUARES)):
            yield guess.with_sizes(H=size, W=size)
    others = [name for name in used if len(name) > 1]
    for name in (*others, "T", "S", "L", "N", "A", "D", "C", "F"):
        if name in used:
            for size in dict.fromkeys((*plan.lengths, *_LENGTHS)):
                yield guess.with_sizes(**{name: size})


def _larger(guess: Guess) -> Iterator[Guess]:
    """Images and lengths several times as large: what shrinks them, or picks some of them, may want more."""
    sizes, used = guess.size_of(), guess.used_sizes()
    images = {name: 2 * sizes[name] for name in ("H", "W") if name in used}
    if images and max(images.values()) <= _LARGEST:
        yield guess.with_sizes(**images)
    for name in used:
        # Factors of which no product is another: what comes further is then larger than all that was tried.
        for size in (3 * sizes[name], 16 * sizes[name]) if name in _LONG else ():
            if size <= _LONGEST:
                yield guess.with_sizes(**{name: size})


def _ranks_raised(guess: Guess) -> Iterator[Guess]:
    """All tensors of numbers with one dimension more, or less: `(B,)` beside `(B, T)` may be a rank off together."""
    alike = [(name, spec) for name, spec in guess.tensors() if spec.dtype == "float32" and spec.dims]
    for more in (1, -1) if len(alike) > 1 else ():
        together = guess
        for name, spec in alike if all(0 < len(spec.dims) + more <= 5 for _, spec in alike) else ():
            together = replaced(together, name, spec, of_rank(spec, len(spec.dims) + more))
        if together != guess:
            yield together


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
