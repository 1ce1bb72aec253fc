"""What a comparison found: `DiffReport`, its parts, its text and the `diff` document of the contract.

Plain data; nothing here measures or judges. Numbers that JSON does not know are None in documents.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from inductor_debug_schema import (
    DiffBlame,
    DiffDocument,
    DiffElement,
    DiffError,
    DiffFault,
    DiffNode,
    DiffSegment,
    DiffSpread,
    DiffTensor,
    DiffTolerances,
    DiffVerdict,
    Location,
    to_wire,
)
from inductor_debug_schema.answers.diff_document import Value

from inductor_debug.artifacts.savable_report import SavableReport
from inductor_debug.kerneldiff.metrics.comparison_config import number_for_json
from inductor_debug.kerneldiff.metrics.metrics import Metrics, PassesWith, TensorComparison, value_for_json
from inductor_debug.source.notebooks.reading import place_in_words

SCHEMA = 1
_MOST_NAMES = 12


Verdict: TypeAlias = DiffVerdict
"""What a comparison comes to."""


@dataclass(frozen=True, slots=True)
class TensorResult:
    """One output, updated input or gradient.

    `comparison` is None where there is no pair of tensors: then `reference` and `actual` tell the values. `ratio` is
    the backend's error over the error to expect; None where that is not measured. `spread` holds those of all runs.
    """

    name: str
    verdict: Verdict
    why: str = ""
    comparison: TensorComparison | None = None
    ratio: float | None = None
    reference: str = ""
    actual: str = ""
    dtype: str = ""
    spread: tuple[float, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The same as in the `diff` document: plain dicts, lists and numbers."""
        return dict(to_wire(self.on_wire()))

    def on_wire(self) -> DiffTensor:
        """The contract's T."""
        compared = self.comparison
        if compared is None:
            return self._plain()
        return DiffTensor(
            name=self.name,
            verdict=self.verdict,
            why=self.why,
            shape=list(compared.shape),
            dtype=compared.dtype,
            passed=compared.passed,
            metrics=compared.metrics.on_wire(_ratio_for_json(self.ratio)),
            worst=[element.on_wire() for element in compared.worst],
            passes_with=(compared.passes_with or PassesWith(None, None)).on_wire(),
            tolerances=DiffTolerances(
                number_for_json(compared.tolerances.atol), number_for_json(compared.tolerances.rtol)
            ),
            problem=compared.problem,
            runs=self._runs(),
        )

    def _plain(self) -> DiffTensor:
        """A row without a pair of tensors."""
        passed = self.verdict is Verdict.PASS
        return DiffTensor(
            name=self.name,
            verdict=self.verdict,
            why=self.why,
            shape=None,
            dtype=self.dtype,
            passed=passed,
            metrics=Metrics().on_wire(_ratio_for_json(self.ratio)),
            worst=[] if passed else [DiffElement([], self.reference, self.actual)],
            passes_with=DiffTolerances(None, None),
            runs=self._runs(),
        )

    def _runs(self) -> DiffSpread | None:
        if len(self.spread) < 2:
            return None
        mean = sum(self.spread) / len(self.spread)
        variance = sum((ratio - mean) ** 2 for ratio in self.spread) / len(self.spread)
        ratios = [_ratio_for_json(ratio) for ratio in self.spread]
        return DiffSpread(ratios, _ratio_for_json(mean), _ratio_for_json(variance))


@dataclass(frozen=True, slots=True)
class NodeError:
    """The difference of one node's value from the reference's.

    `relative` is the root mean square error over that of the reference, `ratio` the error over the error to expect
    where that was measured. `unheld` says that all there is to it is integers that the backend's format has not.
    """

    max_abs: float
    rmse: float
    relative: float
    ratio: float | None = None
    invalid: bool = False
    unheld: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The same as in the `diff` document: plain dicts, lists and numbers."""
        return dict(to_wire(self.on_wire()))

    def on_wire(self) -> DiffError:
        """For JSON."""
        return DiffError(
            max_abs=number_for_json(self.max_abs),
            rmse=number_for_json(self.rmse),
            relative=number_for_json(self.relative),
            anchored_ratio=_ratio_for_json(self.ratio),
            invalid=self.invalid,
        )


@dataclass(slots=True)
class NodeResult:
    """One operation of a graph.

    `isolated` is its own error, on the reference's inputs; `accumulated` that of everything up to it; `growth` the
    accumulated error over the largest one among its inputs; `replaced` the part of the graph's error that is left when
    this one result is the reference's.
    """

    graph: str
    node: str
    op: str
    place: Location | None = None
    module: str = ""
    isolated: NodeError | None = None
    accumulated: NodeError | None = None
    growth: float | None = None
    replaced: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The same as in the `diff` document: plain dicts, lists and numbers."""
        return dict(to_wire(self.on_wire()))

    def on_wire(self) -> DiffNode:
        """The contract's N."""
        return DiffNode(
            node=self.node,
            graph=self.graph,
            op=self.op,
            path=self.place.path if self.place is not None else None,
            range=self.place.range if self.place is not None else None,
            module=self.module,
            isolated=self.isolated.on_wire() if self.isolated else None,
            accumulated=self.accumulated.on_wire() if self.accumulated else None,
            growth=_ratio_for_json(self.growth),
            replaced=_ratio_for_json(self.replaced),
        )


@dataclass(frozen=True, slots=True)
class SegmentResult:
    """A piece of a graph that an opaque backend was given by itself, with the reference's values: `start` to `end`.

    Positions are those of the graph's operations, `end` exclusive. `error` is that of what the piece returns, and its
    ratio that to the error to expect of the piece; None where the piece could not be compiled or run alone, `why` says.
    """

    graph: str
    start: int
    end: int
    ops: tuple[str, ...]
    nodes: tuple[str, ...]
    error: NodeError | None = None
    wrong: bool = False
    why: str = ""
    place: Location | None = None

    def to_dict(self) -> dict[str, Any]:
        """The same as in the `diff` document: plain dicts, lists and numbers."""
        return dict(to_wire(self.on_wire()))

    def on_wire(self) -> DiffSegment:
        """For JSON; of long pieces the first and the last operations only."""
        return DiffSegment(
            graph=self.graph,
            start=self.start,
            end=self.end,
            ops=_ends(self.ops),
            nodes=_ends(self.nodes),
            path=self.place.path if self.place is not None else None,
            range=self.place.range if self.place is not None else None,
            isolated=self.error.on_wire() if self.error else None,
            wrong=self.wrong,
            why=self.why,
        )


@dataclass(frozen=True, slots=True)
class Blame:
    """An operation that computes something wrong, and why we say so."""

    node: str
    op: str
    why: str
    place: Location | None = None
    graph: str = ""
    module: str = ""
    nodes: tuple[str, ...] = ()
    """All nodes that are meant, where they cannot be told apart."""

    def to_dict(self) -> dict[str, Any]:
        """The same as in the `diff` document: plain dicts, lists and numbers."""
        return dict(to_wire(self.on_wire()))

    def on_wire(self) -> DiffBlame:
        """For JSON."""
        return DiffBlame(
            path=self.place.path if self.place is not None else None,
            range=self.place.range if self.place is not None else None,
            op=self.op,
            node=self.node,
            graph=self.graph,
            module=self.module,
            nodes=list(self.nodes or (self.node,)),
            why=self.why,
        )


InjectedFault: TypeAlias = DiffFault
"""A fault that was put in on purpose. One that changed nothing cannot be found."""


@dataclass
class DiffReport(SavableReport):
    """All that a comparison found. `error` tells which side raised and what, "" where none did."""

    target: str
    reference: str
    backend: str
    verdict: Verdict = Verdict.FAILED
    why: str = ""
    outputs: list[TensorResult] = field(default_factory=list)
    gradients: list[TensorResult] = field(default_factory=list)
    nodes: list[NodeResult] = field(default_factory=list)
    segments: list[SegmentResult] = field(default_factory=list)
    blame: list[Blame] = field(default_factory=list)
    faults: list[InjectedFault] = field(default_factory=list)
    first_divergent: str = ""
    largest_growth: str = ""
    deterministic: bool | None = None
    seed: int = 0
    runs: int = 1
    weights: str = ""
    notes: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    pictures: list[str] = field(default_factory=list)

    def document(self) -> DiffDocument:
        """The `diff` document."""
        return DiffDocument(
            schema=SCHEMA,
            target=self.target,
            reference=self.reference,
            backend=self.backend,
            verdict=self.verdict,
            why=self.why,
            outputs=[result.on_wire() for result in self.outputs],
            gradients=[result.on_wire() for result in self.gradients],
            nodes=[node.on_wire() for node in self.nodes],
            segments=[segment.on_wire() for segment in self.segments],
            blame=[blame.on_wire() for blame in self.blame],
            faults=list(self.faults),
            first_divergent=self.first_divergent or None,
            largest_growth=self.largest_growth or None,
            deterministic=self.deterministic,
            seed=self.seed,
            runs=self.runs,
            weights=self.weights,
            notes=list(self.notes),
            seconds={name: round(value, 4) for name, value in self.seconds.items()},
            partial=False,
        )

    def to_dict(self) -> dict[str, Any]:
        """The `diff` document as plain dicts and lists."""
        document: dict[str, Any] = to_wire(self.document())
        return document

    def summary(self) -> str:
        """The outcome as a few lines of text."""
        lines = [f"{self.target}: {self.backend} against {self.reference}: {self.verdict.value}. {self.why}"]
        lines += [f"  {result.name}: {_line(result)}" for result in (*self.outputs, *self.gradients)]
        for position, blame in enumerate(self.blame, 1):
            where = f" at {_where(blame.place)}" if blame.place is not None else ""
            lines.append(f"  blame {position}: {blame.op} ({blame.node}){where}: {blame.why}")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def _line(result: TensorResult) -> str:
    parts = [result.verdict.value]
    largest = result.comparison.metrics.max_abs if result.comparison is not None else None
    if result.comparison is not None:
        parts.append(f"{result.comparison.dtype}{list(result.comparison.shape)}")
    if largest is not None:
        parts.append(f"max error {largest:.3g}" if largest else "equal to the last bit")
    if result.ratio and largest != 0:
        parts.append(f"{result.ratio:.3g} times the error to expect")
    return ", ".join(parts) + (f" ({result.why})" if result.why else "")


def _ends(names: tuple[str, ...]) -> list[str]:
    """All of a few names; of many those at both ends, with an ellipsis between."""
    half = _MOST_NAMES // 2
    return list(names) if len(names) <= _MOST_NAMES else [*names[:half], "…", *names[-half:]]


def _where(place: Location) -> str:
    return place_in_words(place.path, place.path, place.range.start.line)


def _ratio_for_json(ratio: float | None) -> Value:
    """Infinite ratios are told as a string: they mean NaNs or infinities where there should be numbers."""
    return None if ratio is None else value_for_json(ratio)
