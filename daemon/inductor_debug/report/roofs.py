"""The roofs of an accelerator, for all who draw a roofline: its memory's bandwidth, and its highest rates."""

from __future__ import annotations

from inductor_debug_schema.answers.cost_document import CostDocument
from inductor_debug_schema.answers.roofline_document import Ceiling, RooflineDocument

from inductor_debug.accelerators.profile import Profile

SCHEMA = 1


def roofline_of(cost: CostDocument, profile: Profile | None) -> RooflineDocument:
    """The document about what a target costs on the accelerator, which is None where none was chosen."""
    speed = profile.speed if profile is not None else None
    bandwidth = speed.bytes_per_second if speed is not None else None
    return RooflineDocument(schema=SCHEMA, cost=cost, bytes_per_second=bandwidth, ceilings=ceilings_of(profile))


def ceilings_of(profile: Profile | None) -> list[Ceiling]:
    """The highest rates of dense products, the highest first; formats that have the same one share it."""
    speed = profile.speed if profile is not None else None
    if speed is None:
        return []
    rates: dict[float, list[str]] = {}
    for dtype in dict.fromkeys([*speed.operations_per_second, *speed.matrix_operations_per_second]):
        rate = speed.product_rate(dtype)
        if rate is not None:
            rates.setdefault(rate, []).append(dtype)
    if speed.tf32_operations_per_second:
        rates.setdefault(speed.tf32_operations_per_second, []).append("tf32")
    return [Ceiling(rate, rates[rate]) for rate in sorted(rates, reverse=True)]
