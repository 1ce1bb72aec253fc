"""Where compiling goes, in a few words."""

from __future__ import annotations

from inductor_debug_schema import AlikeModules, CompileTimeDocument

from inductor_debug.rules.amounts import in_seconds

_LEAST_SHARE = 0.1
"""Layers that take less of it are not what makes compiling slow."""


def headline_of(document: CompileTimeDocument) -> str:
    """`4.1 s · 41 % in 80 equal layers`, or with the part of the compiler that takes most; `failed` where it did."""
    if document.problem or not document.seconds:
        return "failed"
    layers = repeated_layers(document)
    if layers is not None:
        most = f"{layers.seconds / document.seconds:.0%} in {layers.count} equal layers"
    else:
        parts: dict[str, float] = {}
        for phase in document.compile_phases:
            parts[phase.part] = parts.get(phase.part, 0.0) + phase.seconds
        part = max(parts, key=lambda name: parts[name])
        most = f"{parts[part] / document.seconds:.0%} {part}"
    return f"{in_seconds(document.seconds)} · {most.replace('%', ' %')}"


def repeated_layers(document: CompileTimeDocument) -> AlikeModules | None:
    """The equal modules that take most, the outermost where some are inside of others; None where none take much."""
    return next(
        (row for row in document.alike if row.count > 1 and row.seconds >= _LEAST_SHARE * document.seconds), None
    )
