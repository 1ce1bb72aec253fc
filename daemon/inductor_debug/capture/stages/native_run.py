"""Whether torch.compile itself gets through where a stage did not, with nothing of this tool in between.

A stage records while Dynamo traces and graphs run, mostly on tensors that hold nothing, so that what fails there may be
of that and not of the code. No kernel is ever built: graphs run as they are, or as AOTAutograd makes them.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from inductor_debug_schema import Finding, Location, Shortfall, Stage, StageState
from torch.utils import _pytree as pytree

from inductor_debug.capture.running.stage_results import StageOutcome
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime.iterators import own_iterator
from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.capture.tensors.written_nowhere import WrittenNowhere
from inductor_debug.system.torch_names import refuse, with_settings

_RULE = "capture-error"


def runs_natively(target: BuiltTarget, stage: Stage) -> bool:
    """Whether a target that is made of real tensors runs to its end, compiled as in a stage of Dynamo's."""
    backend = "aot_eager" if stage is Stage.AOT else "eager"
    args, kwargs = pytree.tree_map(own_iterator, (target.args, target.kwargs))
    torch._dynamo.reset()
    try:
        with quiet(), with_settings(torch._dynamo.config, suppress_errors=False), WrittenNowhere():
            compiled = torch.compile(
                target.function, backend=backend, dynamic=target.dynamic, fullgraph=target.fullgraph
            )
            with torch.compiler.set_stance("default", force_backend=backend):
                compiled(*args, **kwargs)
    except (Exception, SystemExit) as error:
        refuse(error)
        return False
    finally:
        torch._dynamo.reset()
    return True


def not_followed(outcome: StageOutcome) -> StageOutcome:
    """The outcome of a stage that failed where torch.compile does not: nothing of it is the user's error."""
    place = next((Location(one.path, one.range) for one in outcome.findings if one.rule == _RULE), None)
    report = replace(outcome.report, state=StageState.SKIPPED, shortfall=Shortfall.NOT_FOLLOWED, at=place)
    return replace(outcome, report=report, findings=without_errors(outcome.findings))


def without_errors(findings: list[Finding]) -> list[Finding]:
    """The findings of a stage but for what it raised."""
    return [one for one in findings if one.rule != _RULE]
