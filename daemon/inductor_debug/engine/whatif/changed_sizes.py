"""A target with other sizes, told from its run with symbols: findings, what expressions give, memory.

No code is run: a size takes the place of its symbol wherever the run had it. That is right as long as the run's guards
hold for the sizes; where one does not, there is no answer here, and the code has to be run with them.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from inductor_debug_schema import ExpressionFact, Finding, FreeSize, SizedCapture, SizesSeen, Stage

from inductor_debug.accelerators.profile import Profile, read_profile
from inductor_debug.engine.results.merge import Part, Results
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.rules.captures.capture_judging import Capture, CapturedRun, judged
from inductor_debug.rules.captures.codec import CaptureError
from inductor_debug.rules.captures.size_expressions import NoValueError, holds
from inductor_debug.rules.captures.substitution import substituted
from inductor_debug.rules.costing.run_costs import RunCosts
from inductor_debug.rules.expressions.expression_facts import ExpressionReader
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.recording.liveness import Peak, peak_of
from inductor_debug.rules.registry import constraints
from inductor_debug.source.source_text import SourceText

_SMALLEST_SYMBOL = 2
"""Runs with symbols say nothing of sizes of 0 and 1."""


@dataclass(frozen=True)
class ResizedResults:
    """What a target does with sizes that somebody tries."""

    results: Results
    peak: Peak
    device_bytes: int | None


class SizeTrials:
    """Tells of one document's targets with other sizes; what was unpacked for one set of sizes serves the next."""

    def __init__(self) -> None:
        self._unpacked: dict[int, tuple[SizedCapture, Capture]] = {}

    def tried(
        self, results: Results, target: str, values: Mapping[str, int], settings: Settings
    ) -> ResizedResults | None:
        """The results as they are with these sizes of a target, and usual ones for the others.

        Args:
            results: those of the present text.
            target: the target's name.
            values: sizes by name; names that the target does not have are passed over.
            settings: what to judge by.

        Returns:
            None where the target has to be run with them.
        """
        seen = results.sizes.get(target)
        sizes = now(seen, values) if seen is not None else []
        fitting = next((one for one in seen.captures if _fits(one, sizes)), None) if seen is not None else None
        if seen is None or fitting is None:
            return None
        try:
            capture = self._with_values(self._capture(fitting), sizes)
        except (NoValueError, CaptureError):
            return None
        profile = read_profile(settings.profile)
        found = dataclasses.replace(
            results,
            parts=_parts(results, target, capture, profile),
            expressions=_expressions(results, target, capture, profile),
            sizes={**results.sizes, target: dataclasses.replace(seen, sizes=sizes)},
        )
        measure = JudgedRun(capture.recording, profile).measure
        return ResizedResults(found, peak_of(capture.recording, measure), profile.memory_bytes)

    def _capture(self, sized: SizedCapture) -> Capture:
        known = self._unpacked.get(id(sized))
        if known is None:
            # With the bytes, so that their id stays theirs; those of older texts are of no use any more.
            known = sized, Capture.of(sized.captured)
            self._unpacked = {**dict(list(self._unpacked.items())[-3:]), id(sized): known}
        return known[1]

    def _with_values(self, capture: Capture, sizes: list[FreeSize]) -> Capture:
        values: dict[str, int | str] = {size.name: size.value for size in sizes if size.known}
        bounds = {size.name: (_SMALLEST_SYMBOL, size.maximum) for size in sizes if not size.known}
        runs = [self._run(run, values, bounds, sizes) for run in capture.runs]
        return dataclasses.replace(capture, runs=runs)

    def _run(
        self,
        run: CapturedRun,
        values: dict[str, int | str],
        bounds: dict[str, tuple[int, int | None]],
        sizes: list[FreeSize],
    ) -> CapturedRun:
        recording = substituted(run.recording, values, bounds) if values else run.recording
        if run.basis is None:
            return dataclasses.replace(run, recording=recording)
        symbols = [name for name in run.basis.symbols if name not in values]
        basis = dataclasses.replace(run.basis, symbols=symbols, given=any(size.given for size in sizes))
        return dataclasses.replace(run, recording=recording, basis=basis)


def now(seen: SizesSeen, values: Mapping[str, int]) -> list[FreeSize]:
    """The sizes of a target where `values` are set and no others."""
    return [
        dataclasses.replace(size, value=values[size.name], given=True, known=True)
        if size.name in values
        else dataclasses.replace(size, value=size.usual, given=False, known=not size.inferred)
        for size in seen.sizes
    ]


def _fits(sized: SizedCapture, sizes: list[FreeSize]) -> bool:
    """Whether a run with symbols says what happens with these sizes.

    What is asked only of sizes that are any is part of the run; with those that are set it must hold.
    """
    values = {size.name: size.value for size in sizes}
    known = {size.name for size in sizes if size.known}
    return all(holds(guard, values) for guard in sized.guards if not known.isdisjoint(_names(guard)))


def _names(guard: str) -> set[str]:
    try:
        return {node.id for node in ast.walk(ast.parse(guard, mode="eval")) if isinstance(node, ast.Name)}
    except (SyntaxError, ValueError):
        return set()


def _parts(results: Results, target: str, capture: Capture, profile: Profile) -> dict[Part, list[Finding]]:
    """The findings, with the target judged anew. Of later stages stays what is not judged by sizes."""
    of_rules = {rule.id for rule in constraints()}
    parts = {
        (name, stage): [finding for finding in found if name != target or finding.rule not in of_rules]
        for (name, stage), found in results.parts.items()
    }
    return {**parts, (target, Stage.PREVIEW): judged(capture, profile, ())}


def _expressions(results: Results, target: str, capture: Capture, profile: Profile) -> dict[Part, list[ExpressionFact]]:
    others = {part: facts for part, facts in results.expressions.items() if part[0] != target}
    facts = ExpressionReader(profile, _Texts(results), RunCosts(profile)).facts([capture.recording])
    return {**others, (target, Stage.PREVIEW): facts}


class _Texts:
    """The texts that ran."""

    def __init__(self, results: Results) -> None:
        self._results = results

    def text(self, path: str) -> SourceText | None:
        own = path == self._results.path
        return SourceText(self._results.text) if own else SourceText.read(path)
