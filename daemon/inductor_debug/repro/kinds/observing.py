"""Runs a target once under the recorder, as the stages do, and keeps what they let go: the operator that failed.

It judges nothing and reports nothing; a target is left as it was found.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import torch

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.running.dynamic_inputs import symbolic_arguments
from inductor_debug.capture.running.modules import ModulePath, Snapshot
from inductor_debug.capture.running.origins import OriginTable
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.capture.tensors.recorder import FailedOp, Recorder, StackAttribution
from inductor_debug.rules.recording.ops import Recording


@dataclass
class Observed:
    """One run: what was recorded, what the target raised, and the operator that raised it, if it was one."""

    recording: Recording
    error: BaseException | None = None
    failed: FailedOp | None = None


def observe(target: BuiltTarget, sources: SourceMap) -> Observed:
    """Runs `target` eagerly, once."""
    snapshot = Snapshot(target)
    origins = OriginTable.of_target(target)
    path = ModulePath(target.module)
    attribution = StackAttribution(lambda frame: sources.stack(frame, _call.__code__), path.current)
    recorder = Recorder(attribution, origins)
    seen = Observed(recorder.recording)
    with quiet(), target.fake_mode or contextlib.nullcontext(), symbolic_arguments(target, origins) as (args, kwargs):
        try:
            with path.follow(), torch.compiler.set_stance("force_eager"), recorder:
                _call(target, args, kwargs)
        except (Exception, SystemExit) as error:
            seen.error, seen.failed = error, recorder.failed
        snapshot.restore()
    return seen


def _call(target: BuiltTarget, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """The outermost frame of every recorded stack: frames from here outwards are ours."""
    target.function(*args, **kwargs)
