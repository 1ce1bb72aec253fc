"""What becomes of a finding before a user sees it: silenced, raised, lowered, named, put in order, told once.

A worker's answer is the same for every configuration; this is where configuration and comments come in, so changing
them never needs a new run. It never looks for findings of its own, except for comments that silence nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from inductor_debug_schema import Finding, IdleIgnore, Severity, Stage

from inductor_debug.accelerators.constraints import RULE_MARK
from inductor_debug.engine.results.fingerprints import with_fingerprints
from inductor_debug.engine.results.folding import folded
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.engine.text.source_facts import PolicySource
from inductor_debug.source.comments import Ignore

UNUSED_IGNORE_RULE = "unused-ignore"
BESIDE_RULES = frozenset({"numerics", "not-checked", "not-run"})
"""Rules of orders and of the editor: no analysis finds them, so it cannot tell whether a comment silences something."""


def apply_policy(
    findings: Iterable[Finding],
    *,
    path: str,
    settings: Settings,
    source_for: Callable[[str], PolicySource | None],
    complete: bool,
) -> list[Finding]:
    """The findings to show for the file at `path`, in order of path, position and severity.

    `source_for` gives the text that a finding's positions are in, by path. `complete` says that every stage saw every
    target, so that an ignore comment which silenced nothing is known to be unused.
    """
    ordered = with_fingerprints(sorted(findings, key=_order), settings.project_root, source_for)
    used: set[tuple[Ignore, str]] = set()
    shown = []
    for finding in ordered:
        comments = _comments_on(finding, source_for(finding.path))
        if comments:
            used.update((comment, finding.rule if comment.rules else "") for comment in comments)
            continue
        severity = severity_of(finding, settings)
        if severity is not None:
            shown.append(dataclasses.replace(finding, severity=severity))
    if complete and Stage.MOCK in settings.stages:  # without Dynamo nobody knows whether a graph breaks
        shown += _unused(path, settings, source_for, used)
    return folded(sorted(shown, key=_order))


def severity_of(finding: Finding, settings: Settings) -> Severity | None:
    """The severity that the settings give a finding; None if they switch its rule off.

    1. A severity that is set for the rule holds, strict or not.
    2. Strict mode raises a warning about the accelerator to an error; what a profile calls information stays that.
    3. Otherwise the finding's own.
    """
    if finding.rule in settings.severity:
        return settings.severity[finding.rule]
    if settings.strict and finding.severity is Severity.WARNING and _is_about_accelerator(finding.rule):
        return Severity.ERROR
    return finding.severity


def _about_accelerators() -> frozenset[str]:
    """The rules about what the accelerator can do. Imported here: an editor waits while the server starts."""
    from inductor_debug.rules.registry import about_accelerators

    return about_accelerators()


def _is_about_accelerator(rule: str) -> bool:
    """Whether a rule is about what the accelerator can do: one of ours, or one that its adapter brought along."""
    return rule in _about_accelerators() or RULE_MARK in rule


def _order(finding: Finding) -> tuple[object, ...]:
    return finding.path, finding.range.start, finding.range.end, finding.severity.rank, finding.rule, finding.message


def _comments_on(finding: Finding, source: PolicySource | None) -> list[Ignore]:
    """The ignore comments that silence a finding.

    They stand on the first or last line of its expression, or on the first line of the statement it is part of.
    """
    if source is None or not source.ignores:
        return []
    start = finding.range.start.line
    lines = {start, finding.range.end.line, source.statement_line(start)}
    named = [comment for comment in source.ignores if comment.line in lines]
    return [comment for comment in named if not comment.rules or finding.rule in comment.rules]


def _unused(
    path: str, settings: Settings, source_for: Callable[[str], PolicySource | None], used: set[tuple[Ignore, str]]
) -> list[Finding]:
    source = source_for(path)
    silent = BESIDE_RULES if settings.chosen_accelerator else BESIDE_RULES | _about_accelerators()
    hints = []
    for comment in source.ignores if source is not None else ():
        own = settings.chosen_accelerator or ""
        rules = [rule for rule in comment.rules if rule not in silent and _speaks(rule, own)] if comment.rules else [""]
        idle = [rule for rule in rules if (comment, rule) not in used]
        if idle:
            hint = Finding(
                UNUSED_IGNORE_RULE,
                Severity.HINT,
                _sentence(idle),
                path,
                comment.range,
                Stage.LOAD,
                facts=IdleIgnore([rule for rule in idle if rule]),
            )
            severity = severity_of(hint, settings)
            if severity is not None:
                hints.append(dataclasses.replace(hint, severity=severity))
    return with_fingerprints(hints, settings.project_root, source_for)


def _speaks(rule: str, accelerator: str) -> bool:
    """Whether a rule can find anything: one that an adapter brings along speaks for its accelerator alone."""
    return RULE_MARK not in rule or rule.partition(RULE_MARK)[0] == accelerator


def _sentence(idle: list[str]) -> str:
    if idle == [""]:
        return "This comment silences nothing: there is no finding on this line."
    rules = " or ".join(f"`{rule}`" for rule in idle)
    return f"This comment silences nothing: there is no finding of {rules} on this line."
