"""Diagnostics of our own server as the findings that they were, as far as they crossed the wire."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from inductor_debug_schema import Finding, Range, Related, Severity, Stage, from_wire

_SEVERITIES = {1: Severity.ERROR, 2: Severity.WARNING, 3: Severity.INFORMATION, 4: Severity.HINT}


def finding_of(uri: str, diagnostic: dict[str, Any]) -> Finding:
    """The finding that a diagnostic of the document `uri` tells of."""
    data = diagnostic.get("data") or {}
    return Finding(
        rule=str(diagnostic.get("code", "")),
        severity=_SEVERITIES[diagnostic.get("severity", 2)],
        message=diagnostic["message"],
        path=path_of_uri(uri),
        range=from_wire(Range, diagnostic["range"]),
        stage=Stage(data.get("stage", Stage.LOAD.value)),
        target=data.get("target") or "",
        op=data.get("op"),
        module=data.get("module"),
        count=data.get("count") or 1,
        related=[
            Related(
                path_of_uri(place["location"]["uri"]), from_wire(Range, place["location"]["range"]), place["message"]
            )
            for place in diagnostic.get("relatedInformation") or []
        ],
        fingerprint=data.get("fingerprint") or "",
        link=(diagnostic.get("codeDescription") or {}).get("href"),
    )


def path_of_uri(uri: str) -> str:
    """The path that a `file:` URI names."""
    return url2pathname(unquote(urlsplit(uri).path))
