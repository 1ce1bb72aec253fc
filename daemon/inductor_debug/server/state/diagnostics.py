"""Findings as LSP diagnostics, cut to what this client understands and to what one message may carry.

Pure functions; when and where diagnostics are sent is decided in `publishing`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import PurePath

from inductor_debug_schema import Finding, FindingData, Position, Range, Severity, to_wire
from lsprotocol import types

from inductor_debug.engine.orders.reproducing import NOT_CUT_OUT
from inductor_debug.server.rpc.client import Client

SOURCE = "inductor-debug"
BUDGET = 56 << 10
"""Bytes of JSON that the diagnostics of one document may have, which leaves 8 KiB of a message for the rest."""
LONGEST_MESSAGE = 4000
MOST_RELATED = 16
_TIGHT_MESSAGE = 300
_TIGHT_RELATED = 1
_NOTE_BYTES = 400
_FIXED_BYTES = 360
"""What a diagnostic takes in JSON at least and besides its strings: keys, numbers and punctuation, rounded up."""

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFORMATION: types.DiagnosticSeverity.Information,
    Severity.HINT: types.DiagnosticSeverity.Hint,
}

_DIMMED = frozenset({"not-run"})
"""Rules about code that editors show dimmed."""
LocationOf = Callable[[str, Range], types.Location]
"""A place of the file at an absolute path, as the client spells its URI and counts its lines where it is open."""


def uri_of_path(path: str) -> str:
    """The URI of a file that the client never spelled."""
    return PurePath(path).as_uri()


def diagnostics_of(findings: Sequence[Finding], client: Client, location_of: LocationOf) -> list[types.Diagnostic]:
    """The diagnostics of one document, in the order of its text, without repetitions and within the budget.

    What does not fit is shortened first (messages, related places), then left out, the least severe first, with a
    note in the first line that says how many are missing.
    """
    ordered = _without_repetitions(findings)
    if len(ordered) > BUDGET // _FIXED_BYTES:
        return _most_severe(ordered, client, location_of)
    diagnostics = [_diagnostic(finding, client, location_of, LONGEST_MESSAGE, MOST_RELATED) for finding in ordered]
    if sum(map(_bytes, diagnostics)) <= BUDGET:
        return diagnostics
    return _most_severe(ordered, client, location_of)


def _most_severe(ordered: Sequence[Finding], client: Client, location_of: LocationOf) -> list[types.Diagnostic]:
    kept: list[types.Diagnostic] = []
    left = BUDGET - _NOTE_BYTES
    for finding in sorted(ordered, key=lambda finding: finding.severity.rank):
        diagnostic = _diagnostic(finding, client, location_of, _TIGHT_MESSAGE, _TIGHT_RELATED)
        left -= _bytes(diagnostic)
        if left < 0:
            break
        kept.append(diagnostic)
    if len(kept) < len(ordered):
        kept.append(_note(len(ordered) - len(kept)))
    return sorted(kept, key=lambda diagnostic: (diagnostic.range.start.line, diagnostic.range.start.character))


def _without_repetitions(findings: Sequence[Finding]) -> list[Finding]:
    """A helper module that several open files use has its findings once, though each of them finds them."""
    unique: dict[tuple[str, Range, str], Finding] = {}
    for finding in sorted(findings, key=lambda finding: finding.severity.rank):
        unique.setdefault((finding.rule, finding.range, finding.message), finding)
    return sorted(unique.values(), key=lambda finding: (finding.range, finding.severity.rank, finding.rule))


def _diagnostic(
    finding: Finding, client: Client, location_of: LocationOf, longest_message: int, most_related: int
) -> types.Diagnostic:
    related = finding.related[:most_related] if client.related_information else []
    link = finding.link if client.code_description else None
    return types.Diagnostic(
        range=range_of(finding.range),
        message=_shortened(finding.message, longest_message),
        severity=_SEVERITIES[finding.severity],
        code=finding.rule,
        tags=[types.DiagnosticTag.Unnecessary] if finding.rule in _DIMMED else None,
        code_description=types.CodeDescription(href=link) if link else None,
        source=SOURCE,
        related_information=[
            types.DiagnosticRelatedInformation(
                location=location_of(place.path, place.range),
                message=_shortened(place.message, longest_message // 8),
            )
            for place in related
        ]
        or None,
        data=to_wire(_data_of(finding)) if client.diagnostic_data else None,
    )


def _data_of(finding: Finding) -> FindingData:
    module = finding.module and _shortened(finding.module, 300)
    return FindingData(
        fingerprint=finding.fingerprint,
        target=finding.target,
        stage=finding.stage,
        op=finding.op,
        module=module,
        count=finding.count,
        reproducible=finding.rule not in NOT_CUT_OUT,
    )


def range_of(value: Range) -> types.Range:
    """A range as the protocol's library has it."""
    return types.Range(
        start=types.Position(line=value.start.line, character=value.start.character),
        end=types.Position(line=value.end.line, character=value.end.character),
    )


def read_range(value: types.Range) -> Range:
    """A range of the protocol's library as we have it."""
    start, end = (Position(each.line, each.character) for each in (value.start, value.end))
    return Range(start, end)


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _note(missing: int) -> types.Diagnostic:
    return types.Diagnostic(
        range=types.Range(start=types.Position(line=0, character=0), end=types.Position(line=0, character=0)),
        message=f"{missing} more findings are not shown here; `inductor-debug check` lists all of them.",
        severity=types.DiagnosticSeverity.Information,
        source=SOURCE,
    )


def _bytes(diagnostic: types.Diagnostic) -> int:
    """An upper bound of the bytes a diagnostic takes in JSON, without the cost of the converter.

    Strings are counted as JSON escapes them.
    """
    size = _FIXED_BYTES + len(json.dumps([diagnostic.message, diagnostic.code, diagnostic.data]))
    if diagnostic.code_description:
        size += len(json.dumps(diagnostic.code_description.href))
    for place in diagnostic.related_information or ():
        size += 180 + len(json.dumps([place.location.uri, place.message]))
    return size
