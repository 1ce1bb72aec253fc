"""Reproducers that nobody asked for: `mock_backend` in strict mode writes some for what it refuses.

It works in the user's own process, in the middle of a compilation that is about to fail, so it forks nothing and never
raises: what cannot be made or kept is not there. Scripts are proved in clean processes of their own, side by side and
within a bound (`MOCK_REPROS=unverified` does without). Files go to the artifact store in the user's cache folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from inductor_debug_schema import ArtifactKind, ArtifactMade, Finding

from inductor_debug.accelerators.profile import Profile
from inductor_debug.artifacts.store import ArtifactStore
from inductor_debug.capture.script_backends.graph_recording import GraphRecording
from inductor_debug.capture.tensors.fake_mode import without_modes
from inductor_debug.repro.kinds.failure_kinds import KINDS
from inductor_debug.repro.kinds.looks import RecordingLook
from inductor_debug.repro.program.value_names import file_name
from inductor_debug.repro.script.reproducer import NotReproducibleError
from inductor_debug.repro.script.writing import Header
from inductor_debug.source.notebooks.reading import place_in_words
from inductor_debug.system.clean_process import prove_all

MOST = 3
"""Findings of one graph that get a script; the first ones are the most telling."""
PATIENCE_SECONDS = 60.0
"""How long an error may wait for the proofs of its scripts."""
_UNVERIFIED = "made while the model was compiled, and not run yet"


def write_reproducers(
    recorded: GraphRecording, profile: Profile, findings: Sequence[Finding], *, verify: bool = True
) -> list[tuple[str, str]]:
    """Scripts for the first of these findings of the recorded graph: the path of each, and why it is not verified.

    The reason is "" for a script that reproduced its failure in a clean process.
    """
    made = [(finding, script) for finding in findings[:MOST] if (script := _script(recorded, profile, finding))]
    reasons = _proved([script for _, script in made]) if verify else [_UNVERIFIED] * len(made)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    store = ArtifactStore(Path(base) / "inductor-debug" / "artifacts" / "mock_backend")
    kept = []
    for (finding, script), reason in zip(made, reasons, strict=True):
        # What could not be proved says so itself: files travel without the error that names them.
        text = _script(recorded, profile, finding, f"not verified: {reason}") if reason else script
        path = _stored(store, finding, text or script)
        if path is not None:
            kept.append((path, reason))
    return kept


def _proved(scripts: Sequence[str]) -> list[str]:
    """Why each script is not verified; one that was run before is not run again, however often a frame is compiled."""
    fresh = [script for script in dict.fromkeys(scripts) if script not in _reasons]
    proofs = prove_all(fresh, interpreter=sys.executable, patience=PATIENCE_SECONDS)
    _reasons.update(zip(fresh, (proof.why for proof in proofs), strict=True))
    return [_reasons[script] for script in scripts]


_reasons: dict[str, str] = {}


def _script(recorded: GraphRecording, profile: Profile, finding: Finding, note: str = "") -> str | None:
    start = finding.range.start
    text = recorded.sources.text(finding.path)
    line = text.lines[start.line].strip() if text is not None and start.line < len(text.lines) else ""
    place = place_in_words(os.path.basename(finding.path), finding.path, start.line, start.character)
    header = Header(f"[{finding.rule}] {finding.message}", place, line, finding.target, [note] if note else [])
    look = RecordingLook([finding], recorded.recording, profile, recorded.fallback)
    try:
        with without_modes():
            made = next(KINDS[finding.rule].drafts(look, finding, header, file_name("", finding.rule)))
    except (NotReproducibleError, ValueError):
        return None
    return made.script


def _stored(store: ArtifactStore, finding: Finding, script: str) -> str | None:
    content = script.encode("utf-8", "replace")
    artifact = ArtifactMade(ArtifactKind.REPROS, finding.rule, ".py", "text/x-python", content, finding.target)
    reference = store.put(artifact, source=finding.path)
    return reference.path if reference is not None else None
