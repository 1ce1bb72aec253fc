"""Words for what needs more than it did when a baseline was written."""

from __future__ import annotations

from inductor_debug_schema import Growth

from inductor_debug.rules.amounts import in_bytes, in_seconds


def growth_sentence(facts: Growth, accelerator: str) -> str:
    """What grew by how much, and what it was."""
    grown = [
        f"{words.format(told(now))}, {100 * (now / known - 1):.3g} % more than the {told(known)}"
        for words, told, known, now in (
            ("takes at least {}", in_seconds, facts.known_seconds, facts.seconds),
            ("needs at least {} of memory", lambda amount: in_bytes(int(amount)), facts.known_bytes, facts.peak_bytes),
        )
        if now > known > 0
    ]
    return f"a run on accelerator '{accelerator}' {' and '.join(grown)} of the baseline."
