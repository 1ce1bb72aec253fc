"""What contradicts what, in a sentence: from the facts of a `ShapeConflict` alone, which nobody has to read back.

Needs no torch; the worker words findings with it, and hovers the history of a size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from inductor_debug_schema import ConflictKind, ConflictSide, OperandFact, Related, ShapeConflict, TraceStep

from inductor_debug.source.notebooks.reading import line_in_words

_UNITS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("linear", "layer_norm", "rms_norm", "bilinear", "multi_head_attention_forward"), "features"),
        **dict.fromkeys(("LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell"), "features"),
        **{f"conv{count}d": "channels" for count in (1, 2, 3)},
        **{f"conv_transpose{count}d": "channels" for count in (1, 2, 3)},
        **dict.fromkeys(("batch_norm", "instance_norm", "group_norm"), "channels"),
    }
)
"""What layers count along the dimension that they work on."""
_PRODUCTS = ("matmul", "mm", "bmm", "rmatmul")
_SIGNS: Mapping[str, str] = MappingProxyType({"matmul": "@", "mm": "@", "bmm": "@", "rmatmul": "@"})


def message_of(facts: ShapeConflict) -> str:
    """The finding's sentence."""
    return _WORDS[facts.conflict](facts)


def related_of(facts: ShapeConflict) -> list[Related]:
    """Where the operands in question were made, and the steps that gave their sizes; each place once."""
    found: dict[object, Related] = {}
    for side in sides_of(facts):
        operand = facts.operands[side.operand]
        place = operand.made_at
        if place is not None and (operand.owner or operand.expression):
            made = "is made here" if operand.made_by else "comes from here"
            said = f"`{operand.owner}` is declared here" if operand.owner else f"{_named(operand)} {made}"
            chain = size_chain(operand, side)
            found.setdefault(place, Related(place.path, place.range, f"{said}: {chain}" if chain else said))
    for side in sides_of(facts):
        for step in facts.operands[side.operand].trace:
            if step.place is not None:
                told = f"{step.text}: {step.sizes}" if step.sizes and not step.first else step.text
                found.setdefault(step.place, Related(step.place.path, step.place.range, told))
    return list(found.values())


def size_chain(operand: OperandFact, side: ConflictSide) -> str:
    """The history of a size in one line: `9216 ← flatten 64·12·12 ← max_pool2d ← conv2`; empty without one."""
    return " ← ".join([str(side.size), *(step.text for step in steps_of(operand))]) if steps_of(operand) else ""


def steps_of(operand: OperandFact) -> list[TraceStep]:
    """The steps worth telling: none of a parameter, of what comes from outside as it is, or of a dtype."""
    steps = operand.trace
    made_there = len(steps) == 1 and steps[0].place == operand.made_at
    return [] if operand.owner or not steps or steps[0].first or not steps[0].sizes or made_there else steps


def sides_of(facts: ShapeConflict) -> Iterator[ConflictSide]:
    """The sides that are operands, each operand once."""
    yield facts.left
    if facts.right is not None and facts.right.operand != facts.left.operand:
        yield facts.right


def _size(facts: ShapeConflict) -> str:
    left = facts.operands[facts.left.operand]
    if facts.right is None:
        return _taken(facts, left, facts.wanted)
    right = facts.operands[facts.right.operand]
    if left.owner and not right.owner:
        left, right = right, left
        facts = _swapped(facts)
    assert facts.right is not None
    if right.owner and not left.owner:
        return _taken(facts, left, facts.wanted if facts.wanted is not None else facts.right.size)
    unequal = f"{facts.left.size} ≠ {facts.right.size}"
    mine, theirs = _place(left, facts.left), _place(right, facts.right)
    if facts.operation in _PRODUCTS:
        sign = _SIGNS[facts.operation]
        return f"{_named(left)} {sign} {_named(right)}: {unequal}: {mine} must be {theirs}"
    return f"{_named(left)} and {_named(right)}: {unequal}: {mine} must equal {theirs}{_for(facts)}"


def _taken(facts: ShapeConflict, given: OperandFact, wanted: object) -> str:
    """What a layer takes, against what arrives."""
    owner = next((operand.owner for operand in facts.operands if operand.owner), facts.call)
    unit = _UNITS.get(facts.operation)
    size = facts.left.size
    if owner and unit:
        return f"`{owner}` takes {wanted} {unit}, {_named(given)} has {size}"
    taker = f"`{owner}`" if owner else f"`{facts.operation}`"
    return f"{_named(given)}: {size} ≠ {wanted}: {_place(given, facts.left)} must be {wanted} for {taker}"


def _volume(facts: ShapeConflict) -> str:
    operand = facts.operands[facts.left.operand]
    what = f"{facts.left.size} elements"
    if facts.left.dim is not None:
        what = f"{facts.left.size} in dimension {facts.left.dim}"
    if facts.right is not None:
        other = facts.operands[facts.right.operand]
        return f"{_named(operand)} has {what}, {_named(other)} has {facts.right.size}"
    return f"{_named(operand)} has {what}; the sizes that `{facts.operation}` is given make {facts.wanted}"


def _divisibility(facts: ShapeConflict) -> str:
    operand = facts.operands[facts.left.operand]
    unit = _UNITS.get(facts.operation, f"in {_place(operand, facts.left, article='')}")
    return f"{_named(operand)} has {facts.left.size} {unit}, which is no multiple of {facts.wanted}{_for(facts)}"


def _rank(facts: ShapeConflict) -> str:
    operand = facts.operands[facts.left.operand]
    wanted = f"{facts.wanted} dimension{'' if facts.wanted == 1 else 's'}"
    return f"{_named(operand)} has {len(operand.shape)}, {_taker(facts)} wants {wanted}"


def _dtype(facts: ShapeConflict) -> str:
    left = facts.operands[facts.left.operand]
    if facts.right is None:
        return f"{_called(left)} is {left.dtype}, {_taker(facts)} takes {facts.wanted}"
    right = facts.operands[facts.right.operand]
    told = f"{_called(left)} is {left.dtype}, {_called(right)} {right.dtype}: {_taker(facts)} needs one dtype"
    for operand in (left, right):
        step = operand.trace[0] if operand.trace else None
        if step is not None and step.place is not None and operand.expression and step.place != operand.place:
            place = line_in_words(step.place.path, step.place.range.start.line)
            return f"{told}; {_called(operand)} became {operand.dtype} at {place}"
    return told


def _index(facts: ShapeConflict) -> str:
    operand = facts.operands[facts.left.operand]
    if facts.left.dim is None:
        return f"{_named(operand)} has no dimension {facts.wanted}"
    return (
        f"{_named(operand)} has no index {facts.wanted} in dimension {facts.left.dim}, whose size is {facts.left.size}"
    )


def _device(facts: ShapeConflict) -> str:
    left = facts.operands[facts.left.operand]
    right = facts.operands[facts.right.operand if facts.right is not None else facts.left.operand]
    return f"{_called(left)} is on {left.device}, {_called(right)} on {right.device}: {_taker(facts)} needs one device"


def _window(facts: ShapeConflict) -> str:
    operand = facts.operands[facts.left.operand]
    return (
        f"{_named(operand)}: {_place(operand, facts.left)} is {facts.left.size}, and the kernel of {_taker(facts)} "
        f"needs at least {facts.wanted}"
    )


def _layout(facts: ShapeConflict) -> str:
    operand = facts.operands[facts.left.operand]
    return (
        f"{_named(operand)} does not lie in memory in the order of its dimensions: `reshape` copies it, `view` cannot"
    )


_WORDS: Mapping[ConflictKind, Callable[[ShapeConflict], str]] = MappingProxyType(
    {
        ConflictKind.SIZE: _size,
        ConflictKind.VOLUME: _volume,
        ConflictKind.DIVISIBILITY: _divisibility,
        ConflictKind.RANK: _rank,
        ConflictKind.DTYPE: _dtype,
        ConflictKind.INDEX: _index,
        ConflictKind.DEVICE: _device,
        ConflictKind.WINDOW: _window,
        ConflictKind.LAYOUT: _layout,
    }
)


def _swapped(facts: ShapeConflict) -> ShapeConflict:
    assert facts.right is not None
    return ShapeConflict(
        facts.conflict, facts.operation, facts.call, facts.operands, facts.right, facts.left, facts.wanted
    )


def _called(operand: OperandFact) -> str:
    """An operand's name: its expression, the module that owns it, or what made it."""
    name = operand.owner or operand.expression
    if name:
        return f"`{name}`"
    if operand.made_by:
        return f"what `{operand.made_by}` gives"
    return f"`{operand.trace[0].name}`" if operand.trace and operand.trace[0].first else "a tensor"


def _named(operand: OperandFact) -> str:
    return f"{_called(operand)} {operand.shape}"


def _place(operand: OperandFact, side: ConflictSide, article: str = "the ") -> str:
    """A size in words: `the second to last size of q`."""
    if side.dim is None:
        return f"{article}number of elements of {_called(operand)}"
    from_end = len(operand.shape) - side.dim
    if len(operand.shape) == 1:
        ordinal = "size"
    elif from_end == 1:
        ordinal = "last size"
    elif from_end == 2 and len(operand.shape) > 2:
        ordinal = "second to last size"
    elif side.dim == 0:
        ordinal = "first size"
    else:
        ordinal = f"size of dimension {side.dim}"
    return f"{article}{ordinal} of {_called(operand)}"


def _taker(facts: ShapeConflict) -> str:
    owner = next((operand.owner for operand in facts.operands if operand.owner), facts.call)
    return f"`{owner or _SIGNS.get(facts.operation, facts.operation)}`"


def _for(facts: ShapeConflict) -> str:
    return f" for {_taker(facts)}"
