"""What a line of the user's code sees when it is about to run: read off eager runs of the target."""

from __future__ import annotations

import ast
import contextlib
import sys
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch

from inductor_debug.capture.running.modules import Snapshot
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime.quiet import quiet

MOST_CALLS = 12
"""Times that are kept."""


@dataclass
class Seen:
    """What the names of a frame stood for: local ones, then global ones."""

    values: dict[str, Any]


def _as_now(value: Any) -> Any:
    """A module with the attributes that it has at this moment: what a call counts in it is other in the next."""
    if not isinstance(value, torch.nn.Module):
        return value
    copied = value.__class__.__new__(value.__class__)
    copied.__dict__ = dict(value.__dict__)
    return copied


def frames_at(
    target: BuiltTarget, path: str, line: int, function: ast.FunctionDef | None, *, runs: int = 1
) -> list[Seen]:
    """What was seen when the line was about to run, first and last times.

    Args:
        target: runs eagerly, `runs` times for each set of inputs.
        path: the file.
        line: counted from one.
        function: of which the line is, None for the file's top level.
        runs: how often.
    """
    found: list[Seen] = []
    inside = function.name if function is not None else "<module>"

    def local(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and frame.f_lineno == line:
            del found[MOST_CALLS - 1 :]  # the first ones are kept, and the last: it may be the one that raises
            local_values = {name: _as_now(value) for name, value in frame.f_locals.items()}
            found.append(Seen({**frame.f_globals, **local_values}))
        return local

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        return local if code.co_filename == path and code.co_name == inside else None

    snapshot = Snapshot(target)
    before = sys.gettrace()
    with quiet(), target.fake_mode or contextlib.nullcontext(), torch.compiler.set_stance("force_eager"):
        sys.settrace(trace)
        try:
            for args, kwargs in target.calls:
                for _ in range(runs):
                    target.function(*args, **kwargs)
        except (Exception, SystemExit):
            pass  # what the code saw until then is what is wanted
        finally:
            sys.settrace(before)
    snapshot.restore()
    return found
