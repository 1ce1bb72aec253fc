"""Sizes at which it is worth asking what a model costs and what makes it faster, where nobody said any.

Inputs that are inferred are as small as they can be, since they are there to find out what runs. With a batch of two
and sixteen tokens a GPU does nothing but read weights, and nobody runs a model so. The sizes here are made up as well,
and are told as that; a size that the model does not take (more tokens than it has positions) is tried smaller. Costs,
memory and suggestions are about the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager

from inductor_debug_schema import StageState

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.inference.finding_filter import has_free_sizes, with_fixed_sizes
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.sizes.resizing import tensor_leaves
from inductor_debug.capture.sizes.sizing import Sizing, inferred_sizing
from inductor_debug.capture.stages.preview import run_preview

_BATCH = 8
_ROWS = 256
"""A batch of vectors: more of them are run at once than of sequences and images."""
_LENGTHS = (512, 128)
_SHORT = 128
"""A length from which on it stays as it is."""
_IMAGE_RANK = 4

Around = Callable[[BuiltTarget], AbstractContextManager[None]]
"""What an eager run of a target needs around it."""


def with_larger_sizes(target: BuiltTarget, sources: SourceMap, around: Around) -> tuple[BuiltTarget, Sizing]:
    """The target with numbers for all sizes, larger ones where they are ours, and what inference says of sizes.

    Args:
        target: as it was built.
        sources: turns places into frames.
        around: what is around a run.
    """

    def runs(other: BuiltTarget) -> bool:
        with around(other):
            return run_preview(other, sources).report.state is StageState.DONE

    sizing = inferred_sizing(target)
    numbers = with_fixed_sizes(target) if has_free_sizes(target) else target
    return sizing.grown(numbers, _larger_sizes(numbers, sizing, runs)), sizing


def _larger_sizes(target: BuiltTarget, sizing: Sizing, runs: Callable[[BuiltTarget], bool]) -> dict[str, int]:
    """Larger sizes that the target runs with; none where there are none."""
    ways = (sizes for sizes in _ways(target, sizing) if sizes)
    return next((sizes for sizes in ways if runs(sizing.resized(target, sizes))), {})


def _ways(target: BuiltTarget, sizing: Sizing) -> Iterator[dict[str, int]]:
    """Sizes to be tried, the largest first; only those that grow."""
    leaves = dict(tensor_leaves(target))
    batches: dict[str, int] = {}
    lengths: list[str] = []
    for name, places in sizing.places.items():
        rank = max(leaves[leaf].dim() for leaf, _ in places)
        if any(dim == 0 for _, dim in places):
            vectors = rank == 2 and len(sizing.places) == 1 and leaves[places[0][0]].is_floating_point()
            batches[name] = _ROWS if vectors else _BATCH
        elif rank < _IMAGE_RANK and sizing.sizes[name].value < _SHORT:
            lengths.append(name)
    for length in _LENGTHS if lengths else ():
        yield _grown(sizing, {**batches, **dict.fromkeys(lengths, length)})
    yield _grown(sizing, batches)


def _grown(sizing: Sizing, sizes: Mapping[str, int]) -> dict[str, int]:
    return {name: size for name, size in sizes.items() if size > sizing.sizes[name].value}
