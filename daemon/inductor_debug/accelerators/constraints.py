"""Rules that an adapter brings along: objects that look at one operation at a time and say what is wrong with it.

They are for what no table of a profile can say. Each is data and a predicate, needs no torch, and becomes a rule of
`check` under the accelerator's name (`my_chip/even-batch`), so that it can be silenced and given a severity as any
other. Where the trouble comes from, how often, and at which expression, is found out by the tool.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from inductor_debug_schema import Severity

RULE_MARK = "/"
"""Between an accelerator's name and the id of one of its constraints: `my_chip/even-batch`. No other rule has it."""


@dataclass(frozen=True)
class TensorSeen:
    """A tensor that an operation takes or gives.

    `shape` and `stride` are in elements, with None where a size is not known; `dtype` has no `torch.` prefix.
    """

    shape: tuple[int | None, ...]
    stride: tuple[int | None, ...]
    dtype: str
    element_bytes: int

    @property
    def bytes(self) -> int | None:
        """What its elements take; None where a size is not known."""
        total = self.element_bytes
        for size in self.shape:
            if size is None:
                return None
            total *= size
        return total


@dataclass(frozen=True)
class OperationSeen:
    """One ATen operation: `name` is the overload (`aten.mm.default`), `arguments` its literals by name."""

    name: str
    inputs: tuple[TensorSeen, ...]
    outputs: tuple[TensorSeen, ...]
    arguments: Mapping[str, Any]


class AcceleratorConstraint(ABC):
    """Something that an accelerator asks of operations.

    `id` is short, lower case and hyphenated; `summary` is the sentence that lists and reports show. `operators` are
    patterns as in profiles (`aten.conv2d`, `aten.*`): only what they name is looked at. `fix` says what to do instead.
    """

    id: str
    summary: str
    operators: Sequence[str] = ("*",)
    severity: Severity = Severity.WARNING
    fix: str = ""

    @abstractmethod
    def broken_by(self, operation: OperationSeen) -> str | None:
        """What is wrong with an `operation`, as a clause ("the batch of 3 is odd"); None where nothing is."""

    def looks_at(self, overload: str) -> bool:
        """Whether the patterns name the operator `overload` (`aten.mm.default`)."""
        packet = overload.rsplit(".", 1)[0]
        return any(fnmatchcase(packet, pattern) or fnmatchcase(overload, pattern) for pattern in self.operators)


class ShapeConstraint(AcceleratorConstraint):
    """Shapes of what operators take must satisfy a predicate; a shape with unknown sizes is not judged.

    Args:
        id: its id.
        allowed: whether a shape may be taken.
        summary: what is asked, as a sentence.
        operators: patterns of the operators that it is asked of.
    """

    def __init__(
        self, id: str, allowed: Callable[[tuple[int, ...]], bool], summary: str, *, operators: Sequence[str] = ("*",)
    ) -> None:
        self.id, self.summary, self.operators = id, summary, tuple(operators)
        self._allowed = allowed

    def broken_by(self, operation: OperationSeen) -> str | None:
        """Names the first shape of an `operation` that is refused."""
        for tensor in operation.inputs:
            shape = tuple(size for size in tensor.shape if size is not None)
            if len(shape) == len(tensor.shape) and not self._allowed(shape):
                return f"it takes a tensor of shape {list(shape)}"
        return None


class DtypeConstraint(AcceleratorConstraint):
    """Operators take these dtypes only.

    Args:
        id: its id.
        allowed: dtypes, without the `torch.` prefix.
        summary: what is asked, as a sentence.
        operators: patterns of the operators that it is asked of.
    """

    def __init__(self, id: str, allowed: Sequence[str], summary: str, *, operators: Sequence[str] = ("*",)) -> None:
        self.id, self.summary, self.operators = id, summary, tuple(operators)
        self._allowed = frozenset(allowed)

    def broken_by(self, operation: OperationSeen) -> str | None:
        """Names the first dtype of an `operation` that is not among them."""
        found = next((tensor.dtype for tensor in operation.inputs if tensor.dtype not in self._allowed), None)
        return None if found is None else f"it takes {found}"


class MemoryConstraint(AcceleratorConstraint):
    """All that an operation takes and gives, together, may have so many bytes; unknown sizes are not judged.

    Args:
        id: its id.
        limit: bytes on the host.
        summary: what is asked, as a sentence.
        operators: patterns of the operators that it is asked of.
    """

    def __init__(self, id: str, limit: int, summary: str, *, operators: Sequence[str] = ("*",)) -> None:
        self.id, self.summary, self.operators = id, summary, tuple(operators)
        self._limit = limit

    def broken_by(self, operation: OperationSeen) -> str | None:
        """Says how much an `operation` needs."""
        sizes = [tensor.bytes for tensor in (*operation.inputs, *operation.outputs)]
        total = sum(size for size in sizes if size is not None)
        return None if total <= self._limit else f"it needs {total} bytes at once"
