"""The export that a file itself asks for, as it asks: what stops it is an error of the file's.

Where its `dynamic_shapes` leave sizes open that the code does not, torch says so in sentences, of which the conditions
are read here; they were read in torch 2.11 to 2.13, and what they do not fit is told as torch says it.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from inductor_debug_schema import ExportFault, ExportStop, Finding, Location, Related, Severity, Stage
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from inductor_debug.capture.export.export_findings import stopped, strict_alone, undecided_findings
from inductor_debug.capture.export.export_run import ExportAttempt, exported
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.call_expressions import node_at
from inductor_debug.capture.failures.failures import innermost
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.stages.preview import run_preview
from inductor_debug.rules.words.export_words import sentence_of

_SIZE = re.compile(r"L\['(?P<name>\w+)'\](?P<way>[^\s]*?)\.size\(\)\[(?P<dim>\d+)\]")
_ASKED = (
    re.compile(
        r"- Not all values of (?P<of>.+?) in the specified range .*?satisfy the generated guard (?P<asked>.+?)\.?$"
    ),
    re.compile(
        r"- You marked (?P<of>.+?) as dynamic but your code specialized it to be a constant \((?P<number>-?\d+)\)"
    ),
    re.compile(r"- The values of (?P<one>.+?) and (?P<other>.+?) must always be equal"),
)
_OF_ALL = re.compile(r"^[012] <= |(?:<|<=) (?:IntInfinity\(\)|int_oo)$")
"""Bounds within which torch takes every size to be."""
_SUGGESTED = re.compile(r"^\s+(\w+ = .+)$", re.MULTILINE)
_MOST_RELATED = 8


def asked_findings(target: BuiltTarget, sources: SourceMap) -> list[Finding]:
    """What stops the export that the file asks for; nothing where it succeeds, or where it would raise eagerly."""
    asked = target.exported
    assert asked is not None
    strict = bool(asked.options.get("strict"))
    attempt = exported(target, sources, options=asked.options, strict=strict)
    if attempt.error is None:
        return []
    plain = exported(target, sources, options=asked.options) if strict else attempt
    found = _findings(plain, target, sources) if plain.error is not None else []
    if strict and not found:
        found = strict_alone(attempt, found, target, sources)
    # A draft is made whatever is wrong.
    return found if asked.draft else [replace(finding, severity=Severity.ERROR) for finding in found]


def _findings(attempt: ExportAttempt, target: BuiltTarget, sources: SourceMap) -> list[Finding]:
    assert target.exported is not None
    error = attempt.error
    if isinstance(error, GuardOnDataDependentSymNode):
        further = exported(target, sources, options=target.exported.options, go_on=True)
        if found := undecided_findings(further.events, target, sources):
            return found
    text = str(error)
    sizes = [
        condition
        for line in text.splitlines()
        for each in _ASKED
        if (match := each.search(line.strip()))
        for condition in _in_words(match)
    ]
    if sizes:
        return [_sizes(attempt, list(dict.fromkeys(sizes)), text, target, sources)]
    raises = any(finding.rule == "capture-error" for finding in run_preview(target, sources).findings)
    return [] if raises else [stopped(attempt, target, sources)]


def _in_words(match: re.Match[str]) -> list[str]:
    """What is asked of a size, in the names of the code."""
    parts = match.groupdict()
    if "one" in parts:
        return [f"{_size(parts['one'])} == {_size(parts['other'])}"]
    if "number" in parts:
        return [f"{_size(parts['of'])} == {parts['number']}"]
    asked = _SIZE.sub(lambda size: _size(size[0]), parts["asked"])
    return [condition for condition in asked.split(" and ") if not _OF_ALL.search(condition)]


def _size(said: str) -> str:
    """`rows = L['x'].size()[0]` is `x.shape[0]`."""
    match = _SIZE.search(said)
    return f"{match['name']}{match['way']}.shape[{match['dim']}]" if match is not None else said


def _sizes(attempt: ExportAttempt, sizes: list[str], text: str, target: BuiltTarget, sources: SourceMap) -> Finding:
    _, _, suggested = text.partition("Suggested fixes:")
    where = _dynamic_shapes(target, sources)
    facts = ExportStop(
        ExportFault.SIZES,
        sources.excerpt(where),
        sizes_asked=sizes,
        dims_suggested=[line.strip() for line in _SUGGESTED.findall(suggested)],
    )
    related = []
    for event in attempt.events.replaced:
        index = innermost(event.frames)
        if index is not None:
            place = event.frames[index].location
            became = str(event.number) if event.number is not None else _size(event.other)
            related.append(Related(place.path, place.range, f"`{_size(event.source)}` became {became} here"))
    return Finding(
        rule="export",
        severity=Severity.WARNING,
        message=sentence_of(facts),
        path=where.path,
        range=where.range,
        stage=Stage.EXPORT,
        target=target.name,
        related=list({(one.path, one.range): one for one in related}.values())[:_MOST_RELATED],
        facts=facts,
    )


def _dynamic_shapes(target: BuiltTarget, sources: SourceMap) -> Location:
    """Where the file says which sizes are open: the argument of its call."""
    index = innermost(target.input_frames)
    if index is None:
        return target.location
    call = target.input_frames[index].location
    node = node_at(sources, call)
    words = node.keywords if isinstance(node, ast.Call) else []
    value = next((word.value for word in words if word.arg == "dynamic_shapes"), None)
    return sources.location_of(call.path, value) if value is not None else call
