"""A trace that was recorded elsewhere, by itself: no model is named, so nothing runs and no torch is needed."""

from __future__ import annotations

import dataclasses

from inductor_debug_schema import RunProfileDocument

from inductor_debug.traces.chrome_trace import read_trace
from inductor_debug.traces.expected_calls import ExpectedRun
from inductor_debug.traces.run_profiles import empty_profile, with_times


def profile_of_trace(path: str) -> RunProfileDocument:
    """What the trace at `path` says.

    Raises:
        TraceError: it is none that can be read.
    """
    trace = read_trace(path)
    document = dataclasses.replace(empty_profile(), trace=path)
    return with_times(document, trace, ExpectedRun(), {}, lambda place: "", fused=True)
