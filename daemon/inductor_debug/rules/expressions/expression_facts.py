"""From a recording to facts about the user's expressions: shapes, ops and modules for hovers and inlay hints.

Facts are for reading only: no rule looks at them, and nothing here holds a tensor or needs torch. Which expression gave
what is `expression_runs`' affair; this module describes it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from inductor_debug_schema import CostBound, ExpressionFact, Location, TensorFact

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.costing.run_costs import RunCosts
from inductor_debug.rules.expressions.expression_runs import Expression, Metas, expressions_of
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.ops import Recording, Size, TensorMeta
from inductor_debug.rules.recording.stick_flow import StickFlow
from inductor_debug.source.flow import Flow, flow_of
from inductor_debug.source.source_text import SourceText

MOST_FACTS = 5000
"""Expressions of one stage and target that are told of; those that ran first come first."""
MOST_OPS = 8
MOST_MODULES = 4
MOST_OUTPUTS = 8


class ExpressionSources(Protocol):
    """Where the texts of files come from."""

    def text(self, path: str) -> SourceText | None:
        """The text that runs as `path`, if there is one."""


class ExpressionReader:
    """Makes facts for one job.

    Args:
        profile: the accelerator, for the layout of tensors on it.
        sources: the texts that ran.
        costs: what runs cost on it.
    """

    def __init__(self, profile: Profile, sources: ExpressionSources, costs: RunCosts) -> None:
        self._profile = profile
        self._sources = sources
        self._costs = costs
        self._flows: dict[str, Flow] = {}

    def facts(self, recordings: Iterable[Recording], unfinished: Collection[Location] = ()) -> list[ExpressionFact]:
        """What the recordings of one stage and target say of every expression in the project's files.

        In the order in which they first ran; of an expression that several recordings saw, the last one speaks. Those
        at the places `unfinished` raised, and gave nothing.
        """
        found: dict[Location, ExpressionFact] = {}
        for recording in recordings:
            words = _Words(self._sticks_of(recording))
            seen = expressions_of(recording, self._flow_of)
            whole = [expression for expression in seen if expression.location not in unfinished]
            costs = self._costs.expressions(recording)
            found.update({one.location: words.fact(one, costs.get(one.location)) for one in whole})
        return list(found.values())[:MOST_FACTS]

    def _sticks_of(self, recording: Recording) -> StickFlow | None:
        if not self._profile.has_layouts:
            return None
        return StickFlow(recording, self._profile, operators.attention_calls(recording.ops))

    def _flow_of(self, path: str) -> Flow:
        known = self._flows.get(path)
        if known is None:
            text = self._sources.text(path)
            known = self._flows[path] = Flow() if text is None else flow_of(text)
        return known


class _Words:
    """Turns metadata into what goes over the wire; equal tensors are described once.

    Args:
        sticks: how the recording's tensors lie on the accelerator; None where it has no sticks.
    """

    def __init__(self, sticks: StickFlow | None) -> None:
        self._sticks = sticks
        self._tensors: dict[object, TensorFact] = {}

    def fact(self, expression: Expression, cost: CostBound | None) -> ExpressionFact:
        """The fact about one expression."""
        ops = sorted(expression.ops.items(), key=lambda item: -item[1])[:MOST_OPS]
        modules = [module for module in expression.modules if module]
        several = list(expression.variants.values()) if len(expression.variants) > 1 else []
        return ExpressionFact(
            path=expression.location.path,
            range=expression.location.range,
            outputs=self._tensors_of(expression.outputs),
            exact=expression.exact,
            ops=dict(ops),
            op_count=expression.op_count,
            modules=modules[:MOST_MODULES],
            module_count=len(modules),
            runs=expression.runs,
            variants=[self._tensors_of(metas) for metas in several],
            cost=cost,
        )

    def _tensors_of(self, metas: Metas) -> list[TensorFact]:
        return [self._tensor(meta) for meta in metas[:MOST_OUTPUTS]]

    def _tensor(self, meta: TensorMeta) -> TensorFact:
        place = None if self._sticks is None else self._sticks.placed(meta)
        key = (meta.shape, meta.stride, meta.dtype, place)
        known = self._tensors.get(key)
        if known is None:
            sizes = _numbers(meta.shape)
            known = self._tensors[key] = TensorFact(
                shape=[_plain(size) for size in meta.shape],
                stride=[_plain(size) for size in meta.stride],
                dtype=meta.dtype,
                bytes=None if sizes is None else math.prod(sizes) * meta.element_bytes,
                layout=None if self._sticks is None else self._sticks.layout_of(meta),
            )
        return known


def _plain(size: Size) -> int | str:
    return size if isinstance(size, int) else str(size)


def _numbers(sizes: Sequence[Size]) -> list[int] | None:
    numbers = [size for size in sizes if isinstance(size, int)]
    return numbers if len(numbers) == len(sizes) else None
