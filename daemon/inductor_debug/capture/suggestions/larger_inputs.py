"""Sizes at which it is worth asking what makes a model faster, where nobody said any.

Inputs that are inferred are as small as they can be, since they are there to find out what runs. With a batch of two
and sixteen tokens a GPU does nothing but read weights, and nobody runs a model so. The sizes here are made up as well,
and are told as that; a size that the model does not take (more tokens than it has positions) is tried smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.sizes.resizing import tensor_leaves
from inductor_debug.capture.sizes.sizing import Sizing

_BATCH = 8
_ROWS = 256
"""A batch of vectors: more of them are run at once than of sequences and images."""
_LENGTHS = (512, 128)
_SHORT = 128
"""A length from which on it stays as it is."""
_IMAGE_RANK = 4

Runs = Callable[[BuiltTarget], bool]
"""Whether a target runs."""


def larger_sizes(target: BuiltTarget, sizing: Sizing, runs: Runs) -> dict[str, int]:
    """Larger sizes that the target runs with; none where there are none.

    Args:
        target: with the usual sizes.
        sizing: the sizes that inference has found to be free.
        runs: runs one with other sizes.
    """
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
