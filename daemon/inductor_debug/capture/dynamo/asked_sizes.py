"""Which branches of traced code were chosen by a size that nobody gave: noted with the function that chose.

It wraps `ShapeEnv.evaluate_expr`, by which torch answers what code asks of a symbol, and looks at the instruction for
which Dynamo asks (`InstructionTranslatorBase.current_instruction`). Private names, read in torch 2.13; where one is
gone, no branch is said to hang on a size.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from inductor_debug.capture.dynamo.dynamo_positions import current_translator, position_of
from inductor_debug.capture.expressions.instruction_expressions import SourcePositions
from inductor_debug.capture.tensors.size_symbols import example_values
from inductor_debug.capture.tensors.symbol_names import written

_ASKED = "_inductor_debug_asked"
_CHOOSES = ("POP_JUMP", "JUMP_IF", "TO_BOOL", "UNARY_NOT")
"""How the names of instructions begin that ask whether something is true."""
_OTHERS = (*range(2, 18), *(2**power + more for power in range(5, 21, 3) for more in (0, 1)))
"""Sizes that are tried in an expression, to see whether its answer is the same for all."""


@dataclass(frozen=True, slots=True)
class AskedSize:
    """A question about sizes that a function asked to choose a branch: where, and the sizes in it, by name."""

    positions: SourcePositions
    sizes: tuple[tuple[str, int], ...]


@contextmanager
def asked_sizes(names: Collection[str]) -> Iterator[None]:
    """Has functions that Dynamo traces note such questions about sizes of these names, until it is left."""
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    original: Any = getattr(ShapeEnv, "evaluate_expr", None)
    if original is None or not names:
        yield
        return
    ShapeEnv.evaluate_expr = _noting(original, frozenset(names))  # type: ignore[method-assign]
    try:
        yield
    finally:
        ShapeEnv.evaluate_expr = original  # type: ignore[method-assign]


def asked_by(translator: Any) -> tuple[AskedSize, ...]:
    """What a function has asked so far, while Dynamo traces it."""
    return tuple(getattr(translator, _ASKED, ()))


def _noting(original: Callable[..., Any], names: frozenset[str]) -> Callable[..., Any]:
    def evaluate(environment: Any, asked: Any, *args: Any, **kwargs: Any) -> Any:
        translator = current_translator()
        instruction = getattr(translator, "current_instruction", None)
        if getattr(instruction, "opname", "").startswith(_CHOOSES):
            sizes = _sizes(asked, environment)
            if sizes and names.issuperset(name for name, _ in sizes) and _differs(asked, environment):
                known = getattr(translator, _ASKED, ())
                setattr(translator, _ASKED, (*known, AskedSize(position_of(translator), sizes)))
        return original(environment, asked, *args, **kwargs)

    return evaluate


def _sizes(asked: Any, environment: Any) -> tuple[tuple[str, int], ...]:
    told = [written(symbol, environment) for symbol in getattr(asked, "free_symbols", ())]
    return (
        tuple(sorted((name, number) for name, number in told if number is not None))
        if all(number is not None for _, number in told)
        else ()
    )


def _differs(asked: Any, environment: Any) -> bool:
    """Whether the answer is another one for some other size."""
    values = example_values(environment)
    symbols = [symbol for symbol in asked.free_symbols if symbol in values]
    at_hand = {symbol: values[symbol] for symbol in symbols}
    answer = asked.xreplace(at_hand)
    kind = type(answer)
    others = (asked.xreplace({**at_hand, symbol: symbol - symbol + size}) for symbol in symbols for size in _OTHERS)
    return any(type(other) is not kind for other in others) if getattr(answer, "is_Boolean", False) else False
