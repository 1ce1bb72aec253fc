"""Accelerators as people write them: which are meant by "RTX 4090", by "A100", or by what torch calls a card.

A name is one word of small letters, so that it can stand anywhere; people know cards by what is printed on the box.
Every place where an accelerator is named asks `meant`, and goes on with the name that it gives. Another card than the
one that was written is never meant: an L40 is no L40S, and a laptop's RTX 4090 is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

_MAKERS = frozenset(
    {"nvidia", "geforce", "tesla", "amd", "radeon", "instinct", "ibm", "apple", "gpu", "card", "tensor", "core"}
)
"""Words that do not tell one card from another."""
_SERIES = re.compile(r"\b([a-z]{3,})(\d)")
_MEMORY = re.compile(r"(\d) ?gi?b\b")


@dataclass(frozen=True, slots=True)
class Called:
    """What an accelerator is called.

    Attributes:
        name: the name that stands for it everywhere.
        title: what people read.
        patterns: what torch or people call it besides, like patterns of file names.
    """

    name: str
    title: str = ""
    patterns: Sequence[str] = ()


def meant(said: str, known: Sequence[Called]) -> list[str]:
    """The names that may be meant: one where it is clear, several where more words would tell, none where nothing fits.

    Args:
        said: what somebody wrote.
        known: all that there are.
    """
    words = _plain(said)
    together = words.replace(" ", "")
    ways = (
        lambda one: one.name == said,
        lambda one: any(fnmatchcase(words, _plain(pattern)) for pattern in one.patterns),
        lambda one: one.name.replace("-", "").lower() == together,
        lambda one: _is_part(words, one),
    )
    found = ([one.name for one in known if fits(one)] for fits in ways)
    return next((names for names in found if names), [])


def _is_part(words: str, one: Called) -> bool:
    """Whether all words are among those that it is called by, and one of them can only mean a card."""
    name = _plain(one.name).split()
    telling = [word for word in words.split() if word not in _MAKERS]
    called = {*name, *_plain(one.title).split()}
    return called.issuperset(telling) and any(word in name or any(map(str.isdigit, word)) for word in telling)


def _plain(text: str) -> str:
    """The words of a text in small letters, each apart from the number that it stands before: "rtx 4090", "80 gb"."""
    kept = re.sub(r"[^a-z0-9*?]+", " ", text.lower())
    return _MEMORY.sub(r"\1 gb", _SERIES.sub(r"\1 \2", kept)).strip()
