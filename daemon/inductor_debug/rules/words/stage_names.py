"""What people read for a stage: the one table of it. Wire and command line keep the stages' own values.

`mock` on the wire is the capture by Dynamo; people know a device of that name, and must not meet it unasked.
The extension has the same words in `src/common/words.ts`; a test holds them together.
"""

from __future__ import annotations

from inductor_debug_schema import Stage

_NAMES = {
    Stage.LOAD: "load",
    Stage.PREVIEW: "run",
    Stage.MOCK: "capture",
    Stage.AOT: "forward and backward",
    Stage.INDUCTOR: "kernels",
    Stage.GRADIENTS: "gradients",
    Stage.EXPORT: "export",
    Stage.COMPARISON: "comparison",
}


def stage_name(stage: Stage) -> str:
    """`run`, `capture`, `forward and backward`, `kernels`."""
    return _NAMES[stage]
