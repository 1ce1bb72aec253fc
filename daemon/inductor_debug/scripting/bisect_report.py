"""`bisect`: which layer of the compiler first goes wrong with a model, and where in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from inductor_debug_schema import BisectDocument, BisectGuilty, BisectOptions, BisectRung, BisectVerdict, to_wire

from inductor_debug.artifacts.savable_report import SavableReport
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.orders.bisecting import bisect_order
from inductor_debug.engine.orders.orders import Performed
from inductor_debug.scripting.carrying_out import OrderFailedError, Tell, carried_out, in_engine, settings_for
from inductor_debug.scripting.subjects import subject_of


@dataclass(frozen=True)
class BisectReport(SavableReport):
    """Where a compiler goes wrong with a model.

    Attributes:
        document: the `bisect` document: with the commands that show the last right side and the first wrong one, and
            notes. Commands name files, so those of a model in memory show only what would be said of one in a file.
    """

    document: BisectDocument

    @property
    def verdict(self) -> BisectVerdict:
        """The layer that goes wrong first; `BisectVerdict.NONE` where none does."""
        return self.document.verdict

    @property
    def ladder(self) -> list[BisectRung]:
        """The backends that were tried, each with how it ended (`state`) and why."""
        return self.document.ladder

    @property
    def guilty(self) -> BisectGuilty | None:
        """What is to blame, as far as it is known: backend, graph, pass, operation, place in the source."""
        return self.document.guilty

    def to_dict(self) -> dict[str, Any]:
        """The `bisect` document as plain dicts and lists."""
        document: dict[str, Any] = to_wire(self.document)
        return document


def bisect(
    subject: str | os.PathLike[str] | Callable[..., Any],
    inputs: Any = None,
    *,
    backends: Sequence[str] = (),
    reference: str = "eager",
    accelerator: str | None = None,
    gradients: bool | None = None,
    seed: int = 0,
    passes: bool = True,
    timeout: float | None = None,
    progress: Tell | None = None,
) -> BisectReport:
    """Runs a model through a ladder of backends and looks into the first that computes something else than eager.

    It runs in worker processes, as `inductor-debug bisect` does.

    Args:
        subject: `"model.py::Net"`, or `"model.py"` where that offers one target; or a module or function of this
            process, which travels as its source file and its state.
        inputs: for a subject of this process, the arguments of a call: a tuple, a dict of keywords, or one tensor.
        backends: what is climbed in place of the usual ladder: names of backends, functions of the file, accelerators.
        reference: the backend that is right.
        accelerator: climbed last; None for what the project's settings say.
        gradients: whether gradients are compared, too; None where the model trains.
        seed: of random numbers.
        passes: whether Inductor's passes and lowerings are searched for the one at fault.
        timeout: seconds for everything (default: 900).
        progress: is given a line of text whenever there is something to tell.

    Returns:
        The ladder, the verdict and what is to blame.

    Raises:
        FileTargetError: there is no such file.
        NoSourceError: a subject of this process that no other process could build.
        OrderFailedError: the file offers no such target, or several and none was named, or could not be run.
        ConfigurationError: settings for the file, or the accelerator, cannot be used.
        ProfileError: the file of an accelerator among the backends is missing or wrong.
        TypeError: a subject of this process without inputs, or a file with some.
    """
    with subject_of(subject, inputs) as meant:
        resolver = settings_for(meant, {"accelerator": accelerator, "timeout": timeout})
        options = BisectOptions(
            backends=list(backends) or None, reference=reference, gradients=gradients, seed=seed, passes=passes
        )
        order = bisect_order(options, resolver(meant.file.path), timeout=timeout)
        order = replace(order, target=meant.file.target)

        async def work(engine: Engine) -> Performed:
            return await carried_out(engine, meant, order, progress, one=True)

        performed = in_engine(resolver, work)
    for answered in performed.answers:
        if isinstance(answered.document, BisectDocument):
            return BisectReport(answered.document)
    raise OrderFailedError(f"{meant.file.shown}: there was no answer")
