"""What is wrong with a stated shape, in one plain sentence, from the facts. Needs no torch."""

from __future__ import annotations

from inductor_debug_schema import ShapeFault, StatedBy, StatedShape

from inductor_debug.rules.amounts import listed

_STATING = {StatedBy.ANNOTATION: "The annotation", StatedBy.COMMENT: "The comment", StatedBy.DOCSTRING: "The docstring"}


def sentence_of(facts: StatedShape) -> str:
    """The finding's sentence: the comment says that `k` is (B, C, T), where C is 64 and T is 16: it is [2, 16, 64]."""
    value = f"`{facts.named}`" if facts.named else f"what `{facts.in_function}` returns"
    so = f"[{', '.join(facts.shape)}]"
    if facts.shape_fault is ShapeFault.DTYPE:
        return f"The annotation says that {value} is {facts.written}: it is {facts.dtype}."
    known = [f"{name} is {size}" for name, size in facts.sizes.items()]
    where = f", where {listed(known)}" if known else ""
    quoted = f'"{facts.written}"' if facts.stated_by is StatedBy.ANNOTATION else facts.written
    count = len(facts.shape)
    how_many = f", {count} {'size' if count == 1 else 'sizes'}" if facts.shape_fault is ShapeFault.RANK else ""
    right = f", {facts.instead}" if facts.instead else ""
    return f"{_STATING[facts.stated_by]} says that {value} is {quoted}{where}: it is {so}{how_many}{right}."
