"""Reproducers that nobody asked for: `mock_backend` in strict mode writes one for what it refuses.

It runs in the user's own process, in the middle of a compilation, so it runs no script, forks nothing and never raises:
what cannot be made or kept is not there. Files go to the artifact store in the user's cache folder.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from inductor_debug_schema import ArtifactKind, ArtifactMade, Finding

from inductor_debug.accelerators.profile import Profile
from inductor_debug.artifacts.store import ArtifactStore
from inductor_debug.capture.fake_mode import without_modes
from inductor_debug.capture.graph_recording import GraphRecording
from inductor_debug.repro.constraint_script import constraint_script
from inductor_debug.repro.made import NotReproducibleError
from inductor_debug.repro.writing import Header

MOST = 3
"""Findings of one graph that get a script; the first ones are the most telling."""


def write_reproducers(recorded: GraphRecording, profile: Profile, findings: Sequence[Finding]) -> list[str]:
    """Paths of the scripts for the first of these findings of the recorded graph."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    store = ArtifactStore(Path(base) / "inductor-debug" / "artifacts" / "mock_backend")
    paths = []
    for finding in findings[:MOST]:
        path = _written(store, recorded, profile, finding)
        if path is not None:
            paths.append(path)
    return paths


def _written(store: ArtifactStore, recorded: GraphRecording, profile: Profile, finding: Finding) -> str | None:
    start = finding.range.start
    text = recorded.sources.text(finding.path)
    line = text.lines[start.line].strip() if text is not None and start.line < len(text.lines) else ""
    place = f"{os.path.basename(finding.path)}:{start.line + 1}:{start.character + 1}"
    note = "made while the model was compiled, and not run yet"
    header = Header(f"[{finding.rule}] {finding.message}", place, line, finding.target, [note])
    name = f"repro_{finding.rule.replace('-', '_')}.py"
    try:
        with without_modes():
            made = constraint_script(recorded.recording, profile, finding, recorded.fallback, header, name, trial=False)
    except (NotReproducibleError, ValueError):
        return None
    content = made.script.encode("utf-8", "replace")
    artifact = ArtifactMade(ArtifactKind.REPROS, finding.rule, ".py", "text/x-python", content, finding.target)
    reference = store.put(artifact, source=finding.path)
    return reference.path if reference is not None else None
