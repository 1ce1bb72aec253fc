"""From an order for a reproducer to the contract's `repro` document: the worker's answer, proved.

Shared by the command line and the language server. What it knows of a script is its text and its exit status.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from inductor_debug_schema import (
    Answered,
    ArtifactKind,
    ArtifactMade,
    ArtifactReference,
    Event,
    Finding,
    ReproDocument,
    ReproTask,
)

from inductor_debug.accelerators.constraints import RULE_MARK
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.orders.proving import prove
from inductor_debug.engine.settings.settings import Settings

REPRO_SECONDS = 600.0
"""How long a search may take; what was found until then is kept."""

_FILE = "it is about the file and not about what torch does, so there is nothing to run"
_PROCESS = "it is about the process that ran the file, whose operations went with it"
_STICKS = "it is about how the accelerator lays tensors out in sticks, of which torch itself shows nothing"
_PRICE = "the model runs and its numbers are right; what it costs is told with the finding"
_GPU = "it takes a GPU to show, and a reproducer has to run elsewhere"

NOT_CUT_OUT: dict[str, str] = {
    "restickify": _STICKS,
    "stick-reshape": _STICKS,
    "unaligned-write": _STICKS,
    "host-tensor": _GPU,
    "host-sync": _GPU,
    "autograd-function": "`torch.autograd.gradcheck` shows it of the function alone; the finding names the error",
    "export": "the model runs; `torch.export.export` shows it of the target, and the finding names the expression",
    "slow-dtype": _PRICE,
    "tf32": _PRICE,
    "matrix-padding": _PRICE,
    "channels-last": _PRICE,
    "launch-bound": _PRICE,
    "growth": "it compares two texts of a model, of which only one is here",
    "overwritten": "it shows where nothing is compiled, in `backward()`; the finding names both expressions",
    "unused-ignore": _FILE,
    "not-checked": "it is about what did not run",
    "not-run": "it is about what did not run",
    "fixed-size": "the model runs; what is wrong is that it does so with one size only",
    "missing-attribute": "it is about what did not run",
    "shape-annotation": "it is about what the code says of a tensor, which torch does not read",
    "unusable-default": "the model runs where the argument is given",
    "syntax-error": _FILE,
    "configuration": _FILE,
    "directive": _FILE,
    "unreadable": _FILE,
    "import-error": _FILE,
    "environment": "it is about what is installed here, and a reproducer has to run elsewhere",
    "accelerator-adapter": "it is about code of the accelerator's makers that is installed here, not about torch",
    "internal-error": "it is a fault of inductor-debug itself; please report it with the log",
    "timeout": _PROCESS,
    "crash": _PROCESS,
    "out-of-memory": _PROCESS,
}
"""Rules that no script of torch can show, and why. What a backend does to a target is another matter."""


def not_cut_out(rule: str) -> str | None:
    """Why no script of torch can show findings of a rule; None where one can."""
    if RULE_MARK in rule:
        return "what breaks it is decided by code of the accelerator's adapter, and not by torch"
    return NOT_CUT_OUT.get(rule)


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A reproducer, or why there is none. `document` is the contract's, `script` the text, `files` what stands beside.

    `document.script` is the path of the kept script; None where none was kept or there is none. `output` is what the
    script printed in the clean process.
    """

    document: ReproDocument
    script: str | None
    files: dict[str, bytes]
    output: str = ""


def order_for(
    *,
    rule: str = "",
    line: int | None = None,
    finding: Finding | None = None,
    target: str = "",
    backend: str = "",
    memo: str = "",
    timeout: float | None = None,
) -> Order:
    """The order for the reproducer of a finding, or of what fits `rule` and the zero-based `line`.

    With `backend` it is for what that backend does to the target: a crash, or different numbers. `memo` is a folder
    where attempts are remembered, so that a search that was cut off goes on.
    """
    task = ReproTask(fingerprint="", rule=rule, line=line, backend=backend, memo=memo)
    if finding is not None:
        task = replace(
            task,
            fingerprint=finding.fingerprint,
            rule=finding.rule,
            path=finding.path,
            line=None,
            range=finding.range,
            stage=finding.stage.value,
        )
        target = target or finding.target
    return Order(task, target, timeout=timeout or REPRO_SECONDS)


def refused(order: Order) -> Reproduction | None:
    """The answer to an order that no run can answer: nothing can be cut out for the finding that is meant."""
    task = order.task
    reason = not_cut_out(task.rule) if isinstance(task, ReproTask) and not task.backend else None
    if reason is None or not isinstance(task, ReproTask):
        return None
    why = f"a finding of {task.rule} has no reproducer: {reason}"
    return Reproduction(ReproDocument.without_script(why, fingerprint=task.fingerprint), None, {})


async def proved(
    performed: Performed, settings: Settings, *, tell: Callable[[str], None] | None = None
) -> Reproduction:
    """Runs the script that came of an order in a clean process and completes the document."""
    started = time.perf_counter()
    document = document_of(performed.answers)
    script, files = made_of(performed.artifacts)
    why = document.why
    if performed.broken and script is not None and not why:
        why = "the search broke off before it was done; this is the smallest script until then"
    document = replace(document, script=script_of(performed.references))
    if script is None:
        why = why or "there is no reproducer: the run failed"
        return Reproduction(replace(document, why=why), None, files)  # an exported graph, perhaps
    if tell is not None:
        tell("running the script in a clean process")
    proof = await prove(script, files, interpreter=settings.interpreter)
    document = replace(
        document,
        verified=proof.verified,
        why="; ".join(filter(None, (why, proof.why))),
        seconds=round(document.seconds + time.perf_counter() - started, 3),
    )
    return Reproduction(document, script, files, proof.output)


def document_of(answers: Iterable[Answered]) -> ReproDocument:
    """The worker's document without its text; an empty one where it could not answer."""
    said = [answer.document for answer in answers if isinstance(answer.document, ReproDocument)]
    return replace(said[-1], script=None) if said else ReproDocument.without_script("")


def script_of(references: Sequence[ArtifactReference]) -> str | None:
    """The path of the newest script among artifacts that were kept."""
    return next((reference.path for reference in reversed(references) if reference.path.endswith(".py")), None)


def made_of(artifacts: Iterable[Event]) -> tuple[str | None, dict[str, bytes]]:
    """The newest script among artifacts, and the files of values that stand beside it, by name."""
    script: str | None = None
    files: dict[str, bytes] = {}
    for made in artifacts:
        if not isinstance(made, ArtifactMade) or made.kind is not ArtifactKind.REPROS:
            continue
        if made.suffix == ".py":
            script = made.content.decode("utf-8", "replace")
        else:
            files[f"{made.title.replace(' ', '_')}{made.suffix}"] = made.content
    return script, {name: content for name, content in files.items() if script is None or name.split(".")[0] in script}
