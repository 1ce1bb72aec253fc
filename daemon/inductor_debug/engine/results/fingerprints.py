"""Names for findings that survive edits elsewhere in the file, for baselines, SARIF and `repro --fingerprint`.

A fingerprint is made of what the finding is about (rule, file, enclosing function, the expression's own text, the op),
never of where it stands; equal ones in the same function are told apart by their order.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import PurePath

from inductor_debug_schema import Finding

from inductor_debug.engine.text.source_facts import PolicySource

LENGTH = 16
"""Hexadecimal digits: 64 bits, enough that two findings of one project never meet by chance."""


def with_fingerprints(
    findings: Sequence[Finding], project_root: str, source_for: Callable[[str], PolicySource | None]
) -> list[Finding]:
    """Fills in the fingerprints of findings that are in order of their position."""
    seen: Counter[tuple[str, ...]] = Counter()
    marked = []
    for finding in findings:
        identity = _identity(finding, project_root, source_for(finding.path))
        digest = hashlib.sha256("\0".join((*identity, str(seen[identity]))).encode("utf-8", "surrogatepass"))
        seen[identity] += 1
        marked.append(dataclasses.replace(finding, fingerprint=digest.hexdigest()[:LENGTH]))
    return marked


def _identity(finding: Finding, project_root: str, source: PolicySource | None) -> tuple[str, ...]:
    relative = PurePath(os.path.relpath(finding.path, project_root)).as_posix() if project_root else finding.path
    if source is None:
        return finding.rule, relative, "", finding.message, finding.op or ""
    expression = "".join(source.text_of(finding.range).split())
    return finding.rule, relative, source.qualname(finding.range.start.line), expression, finding.op or ""
