"""How much of a target was looked at, and what it lacks, in a sentence for the user.

The one place that decides what counts as checked; every face of the tool repeats it. It reads typed facts alone (how
stages ended, what was found, why the run broke off), never a note. Whether it fails a build is not decided here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from inductor_debug_schema import (
    Checked,
    ClassSeen,
    FileReport,
    Finding,
    Inferred,
    Location,
    Shortfall,
    Stage,
    StageReport,
    StageState,
    TargetReport,
    UntakenBlock,
)

from inductor_debug.rules.words.untaken_words import summary_of
from inductor_debug.source.notebooks.reading import place_seen_from

ENDING_RULES = frozenset({"capture-error", "import-error"})
"""Rules of findings at which a target's run is over."""
WORDS = {Checked.YES: "checked", Checked.PARTLY: "partly checked", Checked.NO: "not checked"}
_NOT_OVER = "its check is not over"
_WHAT_ENDED = {
    Stage.PREVIEW: "its run",
    Stage.MOCK: "its capture by torch.compile",
    Stage.AOT: "the capture of its forward and backward",
    Stage.INDUCTOR: "its way to kernels",
    Stage.GRADIENTS: "the look at its gradients",
    Stage.EXPORT: "its export",
}
_WORDS = {
    Shortfall.NO_INPUTS: "no inputs are known that it runs with",
    Shortfall.INPUTS: "it does not run to its end with the inputs that were inferred",
    Shortfall.NOT_BUILT: "it could not be built",
    Shortfall.VALUE: "{place} looks at a tensor's value, and it could not be run with real tensors",
    Shortfall.MEMORY: "{place} looks at a tensor's value, and real tensors would take more memory than is allowed",
    Shortfall.OPERATION: "torch cannot imitate the operation in {place}, and it could not be run with real tensors",
    Shortfall.DEVICE: "{place} wants a device that this machine does not have",
    Shortfall.NOT_FOLLOWED: "torch.compile gets past {place}, where this analysis could not follow",
    Shortfall.NOT_REACHED: "the file was run up to {place} alone",
    Shortfall.TORCH: "this torch lacks what that takes",
}


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of one target was looked at; `why` is empty where nothing is missing."""

    checked: Checked
    why: str = ""


def remark(target: TargetReport) -> str:
    """`not checked: why`, in one line, of a target that was not checked to its end; else nothing."""
    return "" if target.checked is Checked.YES else " ".join(f"{WORDS[target.checked]}: {target.why}".splitlines())


def small_inputs(target: TargetReport) -> bool:
    """Whether a target ran with inferred inputs of sizes that nobody gave, the smallest that run."""
    return target.inferred is not None and not any(size.given for size in target.sizes)


def sizes_of(target: TargetReport) -> str:
    """`batch 8 · seq any`: the free sizes of a target as they are now; empty where none is free, as far as is known."""
    shown = [f"{size.name} {size.value if size.known else 'any'}" for size in target.sizes]
    return " · ".join(shown) + (" (set by you)" if any(size.given for size in target.sizes) else "")


def sizes_set(targets: Sequence[TargetReport]) -> str:
    """`with batch 8, seq 63 (set by you)`: the sizes that hold because the user set them; empty where none do."""
    given = dict.fromkeys(f"{size.name} {size.value}" for target in targets for size in target.sizes if size.given)
    return f"with {', '.join(given)} (set by you)" if given else ""


def coverage_of(
    reports: Mapping[Stage, StageReport],
    asked: Sequence[Stage],
    found: Sequence[Finding],
    *,
    path: str,
    inferred: Inferred | None = None,
    broke_off: str | None = None,
    untaken: Sequence[UntakenBlock] = (),
) -> Coverage:
    """Sums up one target.

    Args:
        reports: its stages that have ended.
        asked: the stages that were to be run, in their order.
        found: what they found.
        path: the file that offers it.
        inferred: what was inferred for it.
        broke_off: why the run as a whole is over before its time, if it is.
        untaken: what its run left out.
    """
    seen = any(report.state is StageState.DONE or report.ops for report in reports.values())
    lacking = next((report for report in reports.values() if report.shortfall is Shortfall.TORCH), None)
    ends = any(finding.rule in ENDING_RULES for finding in found)
    if lacking is not None and not ends:  # whatever other stages saw, they do not look for the same
        return Coverage(Checked.PARTLY if seen else Checked.NO, _sentence(lacking, path, seen=seen))
    deepest = reports.get(asked[-1]) if asked else None
    if deepest is not None and deepest.state is StageState.DONE:
        return Coverage(Checked.PARTLY if untaken else Checked.YES, summary_of(untaken, path))
    short = next((report for report in reversed(list(reports.values())) if report.state is not StageState.DONE), None)
    if short is None:
        why = broke_off or _NOT_OVER
    elif (end := next((finding for finding in found if finding.rule in ENDING_RULES), None)) is not None:
        why = f"it ends with the error in {_place(Location(end.path, end.range), path)}"
    elif inferred is not None and inferred.reason:
        why = inferred.reason
    else:
        why = _sentence(short, path, seen=seen)
    return Coverage(Checked.PARTLY if seen else Checked.NO, why)


def shared(reports: Sequence[FileReport]) -> list[FileReport]:
    """The reports of one check, where a class that was not checked by itself may have run as a part of another.

    `Informer` of `model.py` runs the layers of `attn.py` with what they are really given: they were looked at.
    """
    users: dict[ClassSeen, tuple[FileReport, TargetReport]] = {}
    for report in reports:
        for target in report.targets:
            if target.checked is not Checked.NO:
                for seen in (seen for stage in target.stages for seen in stage.elsewhere):
                    users.setdefault(seen, (report, target))

    def completed(report: FileReport, target: TargetReport) -> TargetReport:
        user = users.get(ClassSeen(report.path, target.name)) if target.checked is Checked.NO else None
        if user is None:
            return target
        why = f"ran as a part of {user[1].name} in {os.path.basename(user[0].path)} alone"
        return replace(target, checked=Checked.PARTLY, why=why)

    return [replace(report, targets=[completed(report, target) for target in report.targets]) for report in reports]


def _sentence(short: StageReport, path: str, *, seen: bool) -> str:
    if short.shortfall is None:
        return f"{_WHAT_ENDED[short.stage]} was not seen to its end"
    if short.shortfall is Shortfall.TORCH and short.notes:
        words = short.notes[-1].rstrip(".")
    else:
        words = _WORDS[short.shortfall].format(place=_place(short.at, path))
    return f"{_WHAT_ENDED[short.stage]} ended early: {words}" if seen else words


def _place(at: Location | None, path: str) -> str:
    """`line 12`, or `helper.py:12` of another file."""
    if at is None:
        return "its code"
    return place_seen_from(path, at.path, at.range.start.line)
