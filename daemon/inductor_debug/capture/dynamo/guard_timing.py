"""Leaves out how Dynamo times its guards, which nobody reads here and every compilation waits for.

After each compilation Dynamo flushes the processor's cache with a block of 32 MiB and runs the new guards once, for the
latency in its logs. In a forked worker these are eight thousand page faults, more time than a small model is traced in.
That guards hold for the call that they were made by is checked before, and stays so.

Private name, read in torch 2.13: `profile_guard_manager` of `torch._dynamo.guards`. Where it is gone, nothing changes.
"""

from __future__ import annotations


def leave_out() -> None:
    """Lets guards of this process be made without being timed; idempotent."""
    from torch._dynamo import guards

    if hasattr(guards, "profile_guard_manager"):
        guards.profile_guard_manager = _untimed


def _untimed(*_args: object) -> float:
    return 0.0
