"""What the runs of a document have told of its expressions, at their places in the present text.

Nothing is computed while an analysis runs: what workers send is kept as it came, and put together when somebody asks.
What a run has not seen, because it goes on or because the target raised, stays as the last run of the target that went
through saw it, moved along with the edits and marked as `stale`. No findings here, and nothing decides what is shown.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

from inductor_debug_schema import ExpressionFact, FileStatus, Range, Stage, StageState, TensorFact

from inductor_debug.engine.results.merge import Results
from inductor_debug.source.text_changes import TextChange, difference

MOST_VARIANTS = 4


@dataclass(frozen=True, slots=True)
class KnownExpression:
    """A fact about an expression of a document, in positions of the present text.

    `stage` is the deepest that saw it, `targets` are those that ran it. `stale` says that the text has changed since.
    """

    fact: ExpressionFact
    stage: Stage
    targets: tuple[str, ...]
    stale: bool

    @property
    def range(self) -> Range:
        """Where it stands."""
        return self.fact.range


class ExpressionStore:
    """The facts of one document's runs: of the newest, and of the last one of each target that went through."""

    def __init__(self) -> None:
        self._newest: Results | None = None
        self._whole: dict[str, Results] = {}
        self._asked: tuple[object, list[KnownExpression]] | None = None

    def take(self, results: Results) -> None:
        """Results of a run, which may be going on."""
        before = self._newest
        if results is not before:
            if before is not None:
                self._whole.update((target, before) for target in before.lines if _went_through(before, target))
            self._newest = results

    def at(self, path: str, text: str, known_as: str | None = None) -> list[KnownExpression]:
        """What is known of the expressions of the file at `path`, whose present text is `text`.

        Args:
            path: the document's own file, or another one that its targets run.
            text: what the places are in.
            known_as: the text that ran, for another file than the document's; None if nobody knows.
        """
        runs = self._runs()
        key = (path, text, known_as, [(id(run), len(run.expressions)) for run, _ in runs])
        if self._asked is None or self._asked[0] != key:
            found: dict[Range, KnownExpression] = {}
            for run, targets in reversed(runs):
                ran = run.text if path == run.path else known_as
                found.update(_united(run, targets, path, None if ran is None else difference(ran, text)))
            self._asked = (key, list(found.values()))
        return self._asked[1]

    def timelines(self) -> dict[str, Results]:
        """The run that knows most of the tensors of each target: the newest that went through, else the newest."""
        found: dict[str, Results] = {}
        for run, targets in reversed(self._runs()):
            found.update((target, run) for target in targets if target in run.timelines)
        for target, whole in self._whole.items():
            newest = found.get(target)
            if newest is not None and target in whole.timelines and not _went_through(newest, target):
                found[target] = whole
        return found

    def _runs(self) -> list[tuple[Results, list[str]]]:
        """The runs to ask, the newest first, and about which targets."""
        newest = self._newest
        if newest is None:
            return []
        runs = [(newest, list(newest.lines))]
        for target, whole in self._whole.items():
            wanted = target in newest.lines if newest.loaded else newest.status is not FileStatus.NO_TARGET
            if wanted and not _went_through(newest, target):
                runs.append((whole, [target]))
        return runs


def _went_through(run: Results, target: str) -> bool:
    """Whether a stage of the target came to its end, and all that is to be told of its expressions is here."""
    return any(
        report.state is StageState.DONE and (run.status is not None or (name, stage) in run.expressions)
        for (name, stage), report in run.reports.items()
        if name == target
    )


def _united(run: Results, targets: Iterable[str], path: str, edit: TextChange | None) -> dict[Range, KnownExpression]:
    """The facts of one run about one file, moved by `edit`; later stages refine earlier ones."""
    united: dict[Range, KnownExpression] = {}
    for target in targets:
        seen: dict[Range, tuple[ExpressionFact, Stage]] = {}
        for stage in Stage:
            for fact in run.expressions.get((target, stage), ()):
                if fact.path == path:
                    seen[fact.range] = (fact, stage)
        for fact, stage in seen.values():
            place = fact.range if edit is None else edit.moved(fact.range)
            if place is None:
                continue
            moved = fact if place == fact.range else dataclasses.replace(fact, range=place)
            known = KnownExpression(moved, stage, (target,), edit is not None and bool(edit.hunks))
            other = united.get(place)
            united[place] = known if other is None else _both(other, known)
    return united


def _both(first: KnownExpression, second: KnownExpression) -> KnownExpression:
    """One expression that two targets run; its cost is that of the target in which it costs more."""
    one, two = first.fact, second.fact
    variants: dict[str, list[TensorFact]] = {}
    for outputs in (*(one.variants or [one.outputs]), *(two.variants or [two.outputs])):
        variants.setdefault(repr([(tensor.shape, tensor.dtype) for tensor in outputs]), outputs)
    fact = dataclasses.replace(
        one,
        exact=one.exact and two.exact,
        runs=one.runs + two.runs,
        op_count=one.op_count + two.op_count,
        ops={name: one.ops.get(name, 0) + two.ops.get(name, 0) for name in {**one.ops, **two.ops}},
        modules=list(dict.fromkeys([*one.modules, *two.modules])),
        module_count=max(one.module_count, two.module_count),
        variants=list(variants.values())[:MOST_VARIANTS] if len(variants) > 1 else [],
        cost=max((one.cost, two.cost), key=lambda cost: (cost.seconds or 0.0) if cost is not None else -1.0),
    )
    return dataclasses.replace(first, fact=fact, targets=(*first.targets, *second.targets))
