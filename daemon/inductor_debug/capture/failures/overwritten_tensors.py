"""What code overwrites in place though the backward pass needs it as it was: autograd raises there, at `backward()`.

Asked is the graph that autograd has built in a run: reading a saved tensor that has changed since raises. Only runs
that write in place into what is differentiated are asked. No backward is run.

Names that torch documents for people only: the attributes `_saved_*` of a node (`torch.autograd.graph.Node`), and its
`_sequence_nr`, which the recorder knows of each operation (torch 2.11 to 2.14). Without them nothing is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import torch
from inductor_debug_schema import Finding, Location, OverwrittenTensor, Related, Severity, Stage
from torch.utils import _pytree as pytree

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.failures import innermost, place
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.rules.recording.ops import Op, Recording, TensorMeta
from inductor_debug.rules.words.overwritten_words import NEEDED_HERE, sentence_of

Overwritten = tuple[Op, Op]
"""The op whose backward needs a tensor, and the later one that overwrites it."""


def overwritten_in(result: Any, recording: Recording) -> list[Overwritten]:
    """Of each op the first that overwrites what its backward needs.

    Args:
        result: what the run gave, as autograd made it.
        recording: the run.
    """
    writers = [op for op in recording.ops if op.mutates and op.seq_nr is not None]
    if not writers:
        return []
    ops: dict[int, Op] = {}
    for op in recording.ops:
        if op.seq_nr is not None:
            ops.setdefault(op.seq_nr, op)
    found: dict[int, Overwritten] = {}
    for node in _nodes(result):
        needing = ops.get(getattr(node, "_sequence_nr", int)())
        for name in _saved_names(node.__class__) if needing is not None else ():
            if _is_overwritten(node, name) and needing is not None:
                metas = needing.outputs if name.startswith(("_saved_result", "_saved_out")) else needing.inputs
                writer = next((op for op in writers if op.index > needing.index and _writes(op, metas)), None)
                if writer is not None:
                    found.setdefault(needing.index, (needing, writer))
    return [found[index] for index in sorted(found)]


def overwritten_findings(found: list[Overwritten], target: BuiltTarget, sources: SourceMap) -> list[Finding]:
    """A finding at each expression that overwrites something; the first tensor that it overwrites is told."""
    told: dict[Location, Finding] = {}
    for needing, writer in found:
        where, related = place(writer.frames, target.location, "inside {}")
        needed = innermost(needing.frames)
        if needed is None or where in told:
            continue
        there = needing.frames[needed].location
        facts = OverwrittenTensor(_in_one_line(sources.excerpt(where)), _in_one_line(sources.excerpt(there)))
        told[where] = Finding(
            rule="overwritten",
            severity=Severity.WARNING,
            message=sentence_of(facts),
            path=where.path,
            range=where.range,
            stage=Stage.PREVIEW,
            target=target.name,
            op=writer.overload,
            related=[Related(there.path, there.range, NEEDED_HERE), *related],
            facts=facts,
        )
    return list(told.values())


def _nodes(result: Any) -> Iterator[Any]:
    """The nodes of autograd's graph under the tensors of a result."""
    waiting = [leaf.grad_fn for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]
    seen = set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        yield node
        waiting += [before for before, _ in node.next_functions]


@lru_cache(maxsize=1024)
def _saved_names(kind: type) -> tuple[str, ...]:
    return tuple(name for name in dir(kind) if name.startswith("_saved_"))


def _is_overwritten(node: Any, name: str) -> bool:
    try:
        getattr(node, name)
    except RuntimeError as error:
        return type(error) is RuntimeError  # checkpoints, which compute anew what they have saved, raise others
    except Exception:
        return False
    return False


def _writes(op: Op, metas: tuple[TensorMeta, ...]) -> bool:
    """Whether an op writes into the memory of one of some tensors."""
    storages = {meta.storage for meta in metas}
    return any(meta.value in op.mutates and meta.storage in storages for meta in op.inputs)


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
