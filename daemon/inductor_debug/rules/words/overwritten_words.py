"""What it means that a tensor is overwritten which the backward pass needs, in one sentence. Needs no torch."""

from __future__ import annotations

from inductor_debug_schema import OverwrittenTensor

NEEDED_HERE = "the backward pass of this needs it as it was"


def sentence_of(facts: OverwrittenTensor) -> str:
    """The finding's sentence."""
    return (
        f"`{facts.overwriting}` overwrites what the backward pass of `{facts.needing}` needs, "
        "so `backward()` raises where the model is not compiled."
    )
