"""The charts of a check's report: what was found by rule and by file, why graphs break, what targets need at least.

They sum up what stands below them on the page, and link to it. Nothing is judged here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from inductor_debug_schema import DiffDocument, DiffVerdict, Finding, GraphBreak, Severity
from inductor_debug_schema.cost_bounds import RunCost

from inductor_debug.report.html.card_pieces import BarRow, HeatRow, bars, cards, heat_map
from inductor_debug.report.html.markup import code, link_within, text
from inductor_debug.report.run_report import CheckedFile, CheckResult
from inductor_debug.rules.amounts import in_bytes, in_seconds

_MOST_FILES = 40
"""Rows of the heat map: the files with most findings."""
_VERDICTS = {
    DiffVerdict.PASS: "good",
    DiffVerdict.SUSPICIOUS: "warning",
    DiffVerdict.WRONG: "error",
    DiffVerdict.FAILED: "hint",
}


def check_charts(result: CheckResult, place_of: Callable[[CheckedFile], str]) -> str:
    """The charts that there is something to show on; `place_of` says where on the page a file is."""
    found = result.findings()
    costs = list(_costs(result.files))
    return cards(
        [
            _by_rule([finding for _, finding in found]),
            _breaks([finding for _, finding in found]),
            *_bounds(costs),
            _errors(result.files),
            _heat(found, place_of),
        ]
    )


def _by_rule(findings: Sequence[Finding]) -> str:
    rules: dict[str, Counter[Severity]] = {}
    for finding in findings:
        rules.setdefault(finding.rule, Counter())[finding.severity] += 1
    found = [
        BarRow(
            link_within(code(rule), rule),
            f"{counts.total():,}",
            [(severity.value, counts[severity], f"{counts[severity]:,} {severity.value}") for severity in Severity],
        )
        for rule, counts in sorted(rules.items(), key=lambda item: (-item[1].total(), item[0]))
    ]
    return bars("Findings by rule", found, [(severity.value, severity.value) for severity in Severity])


def _breaks(findings: Sequence[Finding]) -> str:
    reasons = Counter(finding.facts.breaks_by.value for finding in findings if isinstance(finding.facts, GraphBreak))
    return bars(
        "Graphs break by",
        [BarRow(text(reason), f"{count:,}", [("part0", count, reason)]) for reason, count in reasons.most_common()],
    )


def _costs(files: Sequence[CheckedFile]) -> Iterator[tuple[str, RunCost]]:
    """Targets whose bound is known, each with what the deepest stage says."""
    for file in files:
        for target in file.report.targets:
            known = [stage.cost for stage in target.stages if stage.cost is not None]
            if known:
                yield f"{file.shown}::{target.name}", known[-1]


def _bounds(costs: Sequence[tuple[str, RunCost]]) -> Iterator[str]:
    roofs = list(dict.fromkeys(str(roof) for _, cost in costs for roof in cost.by_roof))
    timed = sorted(costs, key=lambda item: -(item[1].total.seconds or 0.0))
    names = ", ".join(dict.fromkeys(cost.accelerator for _, cost in costs))
    slow = [
        BarRow(
            text(name),
            in_seconds(cost.total.seconds),
            [
                (f"part{number}", cost.by_roof.get(roof, 0.0), f"{roof} {in_seconds(cost.by_roof.get(roof, 0.0))}")
                for number, roof in enumerate(roofs)
            ],
        )
        for name, cost in timed
        if cost.total.seconds
    ]
    yield bars(
        f"Time at least on {names}, by what limits it", slow, [(f"part{at}", roof) for at, roof in enumerate(roofs)]
    )
    large = sorted(costs, key=lambda item: -item[1].peak_bytes)
    yield bars(
        f"Memory at least on {names}, at the peak",
        [
            BarRow(text(name), in_bytes(cost.peak_bytes), [("part0", cost.peak_bytes, in_bytes(cost.peak_bytes))])
            for name, cost in large
        ],
    )


def _errors(files: Sequence[CheckedFile]) -> str:
    """How large the errors of backends are beside what is to be expected of their precision."""
    found = [
        (f"{file.shown}::{document.target}, {document.backend}", document, error)
        for file in files
        for document in file.made.compared
        if (error := _error(document)) is not None
    ]
    found.sort(key=lambda item: -item[2])
    return bars(
        "Error over the error to expect",
        [
            BarRow(
                text(name), f"{error:.3g}", [(_VERDICTS[document.verdict or DiffVerdict.FAILED], error, f"{error:.3g}")]
            )
            for name, document, error in found
        ],
        [(kind, verdict.value) for verdict, kind in _VERDICTS.items() if verdict is not DiffVerdict.FAILED],
    )


def _error(document: DiffDocument) -> float | None:
    ratios = [tensor.metrics.anchored_ratio for tensor in (*document.outputs, *document.gradients)]
    return max((float(ratio) for ratio in ratios if isinstance(ratio, (int, float))), default=None)


def _heat(found: Sequence[tuple[CheckedFile, Finding]], place_of: Callable[[CheckedFile], str]) -> str:
    """Files by rules: as strong as the worst finding, with how many there are; of one file the bars say the same."""
    files: dict[str, tuple[CheckedFile, dict[str, tuple[Severity, int]]]] = {}
    for file, finding in found:
        cells = files.setdefault(file.path, (file, {}))[1]
        severity, count = cells.get(finding.rule, (finding.severity, 0))
        cells[finding.rule] = (min(severity, finding.severity, key=lambda one: one.rank), count + 1)
    if len(files) < 2:
        return ""
    most = sorted(files.values(), key=lambda item: -sum(count for _, count in item[1].values()))[:_MOST_FILES]
    rules = sorted({rule for _, cells in most for rule in cells})
    left = f": the {len(most)} files with most findings of {len(files)}" if len(files) > len(most) else ""
    return heat_map(
        f"Files × rules{left}",
        {rule: link_within(code(rule), rule) for rule in rules},
        [HeatRow(link_within(text(file.shown), place_of(file)), cells) for file, cells in most],
    )
