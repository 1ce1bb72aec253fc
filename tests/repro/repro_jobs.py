"""Runs the task `repro` on a text in a forked child, as a worker does."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import forked
from inductor_debug.accelerators.profile import load_document
from inductor_debug.repro import repro_task
from inductor_debug.repro.script.reproducer import trial
from inductor_debug_schema import (
    Answered,
    ArtifactMade,
    Event,
    Finished,
    JobRequest,
    Progressed,
    ReproTask,
    Stage,
    to_wire,
)

_BESIDE = (".safetensors", ".pt2")


@dataclass
class Reproduced:
    """What came of one job."""

    events: list[Event]
    output: str

    @property
    def document(self) -> dict[str, Any]:
        found = [to_wire(event.document) for event in self.events if isinstance(event, Answered)]
        assert len(found) == 1, self.output
        return found[0]

    @property
    def why(self) -> str:
        return str(self.document["why"])

    @property
    def script(self) -> str:
        assert self.document["script"], self.why
        return str(self.document["script"])

    @property
    def files(self) -> dict[str, bytes]:
        made = [event for event in self.events if isinstance(event, ArtifactMade) and event.suffix in _BESIDE]
        return {f"{event.title}{event.suffix}": event.content for event in made}

    @property
    def lines(self) -> list[str]:
        """The lines of operations."""
        body = self.script.partition("\n):\n")[2].partition("    return ")[0]
        return [line.partition("#")[0].strip() for line in body.splitlines() if line.strip()]

    @property
    def progress(self) -> list[Progressed]:
        return [event for event in self.events if isinstance(event, Progressed)]

    @property
    def finished(self) -> Finished:
        assert isinstance(self.events[-1], Finished), self.output
        return self.events[-1]

    def status(self, script: str | None = None) -> int:
        """The exit status of the script, run beside its files."""
        found = trial(script or self.script, self.files)
        assert "status" in found.answer, found.detail
        return int(found.answer["status"])


def reproduce(folder: Path, source: str, *, accelerator: str | dict[str, Any] = "mock", **options: Any) -> Reproduced:
    """Asks for a reproducer of what `options` describe in `source`, which may use `torch`, `nn` and `F`."""
    text = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n" + textwrap.dedent(source)
    path = folder / "model.py"
    path.write_text(text, encoding="utf-8")
    profile = load_document(accelerator) if isinstance(accelerator, str) else accelerator
    request = JobRequest(
        job=1,
        path=str(path),
        text=text,
        project_root=str(folder),
        stages=[Stage.PREVIEW, Stage.MOCK],
        profile=profile,
        task=ReproTask(**{"fingerprint": "", **options}),
    )
    events: list[Event] = []

    def work() -> list[Event]:
        repro_task.perform(request, events.append)
        return events

    result, output = forked.in_child(work)
    return Reproduced(result, output)
