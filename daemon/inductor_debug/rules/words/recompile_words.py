"""Why code is compiled again for state that calls change, in one plain sentence, from the facts. Needs no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from inductor_debug_schema import ChangingState, SpecialisedSize, StateChange, StateHolder

_MOST_SEEN = 5
_WHO: Mapping[StateHolder, str] = MappingProxyType(
    {
        StateHolder.ATTRIBUTE: "`{name}`",
        StateHolder.GLOBAL: "the global `{name}`",
        StateHolder.CLOSURE: "`{name}`, a variable of the function around,",
        StateHolder.DEFAULT: "the mutable default argument `{name}`",
        StateHolder.ARGUMENT: "the argument `{name}`",
    }
)


def sentence_of(function: str, state: ChangingState) -> str:
    """The finding's sentence.

    Args:
        function: what is compiled again.
        state: what changes.
    """
    who = _WHO[state.held_by].format(name=state.state_name)
    return f"{who[:1].upper()}{who[1:]} {_does(state)}, so {_effect(function, state)}."


def sentence_of_size(function: str, size: SpecialisedSize) -> str:
    """The sentence for a size that code turns into a number, and for every value of which `function` is compiled."""
    it = f"`{size.asking}`" if size.asking else "this code"
    seen = ", ".join(size.seen_sizes)
    return (
        f"{it[:1].upper()}{it[1:]} needs {size.size_name} as a number ({seen}), so `{function}` is compiled for each."
    )


def _does(state: ChangingState) -> str:
    seen = _list(state.seen)
    times = "with every call" if state.every_call else "with the first call"
    match state.changes_in:
        case StateChange.NUMBER:
            return f"is another number in {'every' if state.every_call else 'a later'} call ({seen})"
        case StateChange.LENGTH:
            grows = all(int(a) < int(b) for a, b in zip(state.seen, state.seen[1:], strict=False))
            return f"{'grows' if grows else 'changes its length'} {times} ({seen} items)"
        case StateChange.TYPE:
            return f"changes its type {times} ({', then '.join(state.seen[:_MOST_SEEN])})"
        case StateChange.OBJECT:
            return "is a new object in every call"
        case StateChange.VALUE:
            return f"changes {times} ({seen})"


def _list(seen: Sequence[str]) -> str:
    return ", ".join((*seen[:_MOST_SEEN], *(["…"] if len(seen) > _MOST_SEEN else [])))


def _effect(function: str, state: ChangingState) -> str:
    again = "again for each" if state.every_call else "a second time"
    return f"`{function}` is compiled {again}"
