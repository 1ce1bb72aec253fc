"""The words that messages of several rules share: counts, lists of names, operators as people call them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inductor_debug_schema import Direction

from inductor_debug.rules.amounts import counted
from inductor_debug.rules.judging.roots import Root
from inductor_debug.rules.recording.ops import Op, Origin

_MOST_NAMES = 3


def of_direction(sentence: str, direction: Direction | None) -> str:
    """The sentence, with the pass that it is about where nobody would expect that one at the forward's code."""
    return f"In the backward pass: {sentence}" if direction is Direction.BACKWARD else sentence


def operator(overload: str) -> str:
    """`aten._to_copy` for `aten._to_copy.default`; other overloads keep their name."""
    return overload.removesuffix(".default")


def listing(names: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and 4 more`; each name once, in order."""
    unique = list(dict.fromkeys(names))
    if len(unique) > _MOST_NAMES:
        unique = [*unique[: _MOST_NAMES - 1], f"{len(unique) - _MOST_NAMES + 1} more"]
    return unique[0] if len(unique) == 1 else f"{', '.join(unique[:-1])} and {unique[-1]}"


def of_number(found: Sequence[Root], one: str, several: str) -> str:
    """The word that agrees with `listing` of the roots' subjects."""
    return one if len({root.subject for root in found}) == 1 else several


def whereabouts(found: Sequence[Root], pronoun: str = "it") -> str:
    """How far the trouble reaches: who introduces it and how many ops carry it on."""
    covered = set[int]().union(*(root.covers for root in found))
    introduced = set[int]().union(*(root.introduced for root in found))
    origins = [origin for root in found for origin in root.origins]
    carried = len(covered - introduced)
    if not origins:
        text = f"this expression introduces {pronoun}"
        if len(introduced) > 1:
            text += f" in {counted(len(introduced), 'op')}"
        return text + (f" and {counted(carried, 'more op')} {_carry(carried)} {pronoun} on" if carried else "")
    text = f"{_named(origins)} {'bring' if _several(origins) else 'brings'} {pronoun} in"
    return text + f" and {counted(len(covered), 'op')} {_carry(len(covered))} {pronoun} on"


def introducer(cause: Op | Origin) -> str:
    """The op or origin that introduces something, named for a message."""
    return operator(cause.overload) if isinstance(cause, Op) else _named([cause])


def _carry(count: int) -> str:
    return "carries" if count == 1 else "carry"


def _several(origins: Sequence[Origin]) -> bool:
    return len({origin.name for origin in origins}) > 1


def _named(origins: Sequence[Origin]) -> str:
    kind = origins[0].kind
    names = [f"`{origin.name}`" for origin in origins if origin.name]
    if not names:
        return f"a {kind} used here"
    article = "" if _several(origins) else "the "
    noun = kind if not _several(origins) else f"{kind}s"
    return f"{article}{noun} {listing(names)}"
