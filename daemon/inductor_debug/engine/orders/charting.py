"""Orders whose answers are drawn: the memory over a run, and what its expressions cost at least.

Where nobody said how large the inputs are, all of them are about the same sizes, those that `suggest` tries.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from inductor_debug_schema import ArtifactKind, ArtifactMade, Stage, from_wire
from inductor_debug_schema.answers.cost_document import CostDocument
from inductor_debug_schema.answers.memory_document import MemoryDocument

from inductor_debug.engine.live_tensors.memory_run import memory_of
from inductor_debug.engine.orders.orders import Order, Performed

MEMORY = Order(stages=(Stage.PREVIEW,), trace_tensors=True, larger_sizes=True)
"""What is alive while each operation runs."""
KERNELS = Order(stages=(Stage.INDUCTOR,), keep_costs=True, larger_sizes=True)
"""The kernels that the run and its backward pass become, with what each costs."""
COSTS = Order(stages=(Stage.AOT,), keep_costs=True, larger_sizes=True)
"""What the run and its backward pass cost."""


def memories_of(performed: Performed, text_of: Callable[[str], str | None]) -> list[MemoryDocument]:
    """The memory of each target that ran; `text_of` has the text of each file as it ran."""
    path = performed.report.path
    return [memory_of(target, path, timeline, text_of) for target, timeline in performed.timelines.items()]


def costs_of(artifacts: Iterable[ArtifactMade]) -> list[CostDocument]:
    """What targets cost at least, among `artifacts`."""
    return [
        from_wire(CostDocument, json.loads(made.content))
        for made in artifacts
        if made.kind is ArtifactKind.STATISTICS and made.title == "costs"
    ]
