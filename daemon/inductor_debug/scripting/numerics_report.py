"""`check_numerics`: whether a backend computes what the model means, asked of a worker.

`KernelDiffHarness` is the same in the caller's own process. Only what passes counts as passed: a comparison that could
not be made, or did not end, does not.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from inductor_debug_schema import DiffBlame, DiffDocument, DiffOptions, DiffTensor, DiffVerdict, to_wire

from inductor_debug.artifacts.savable_report import SavableReport
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.orders.comparing import diff_order
from inductor_debug.engine.orders.orders import Performed
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.formats.notebook_html import diff_inline
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Styler
from inductor_debug.report.text.diff_text import diff_text
from inductor_debug.scripting.carrying_out import OrderFailedError, Tell, carried_out, in_engine, settings_for
from inductor_debug.scripting.check_report import names_for
from inductor_debug.scripting.engine_thread import EngineThread
from inductor_debug.scripting.subjects import subject_of

DEFAULT_TIMEOUT = 600.0
"""Seconds that a comparison may take."""


@dataclass(frozen=True, repr=False)
class NumericsReport(SavableReport):
    """A comparison of a backend with a reference; as text it is what `inductor-debug diff` prints.

    Attributes:
        document: the `diff` document.
        names: how files are called.
    """

    document: DiffDocument
    names: FileNames

    @property
    def verdict(self) -> DiffVerdict:
        """What it comes to; `DiffVerdict.FAILED` where it did not end."""
        return self.document.verdict or DiffVerdict.FAILED

    @property
    def passed(self) -> bool:
        """Whether the backend's error is no larger than its precision explains."""
        return self.verdict is DiffVerdict.PASS and not self.document.partial

    @property
    def why(self) -> str:
        """The reason for the verdict, in a sentence."""
        return self.document.why

    @property
    def outputs(self) -> list[DiffTensor]:
        """The outputs and updated inputs, each with its verdict and metrics."""
        return self.document.outputs

    @property
    def gradients(self) -> list[DiffTensor]:
        """The gradients, where they were asked for."""
        return self.document.gradients

    @property
    def blame(self) -> list[DiffBlame]:
        """The expressions at fault, most blamed first."""
        return self.document.blame

    def to_dict(self) -> dict[str, Any]:
        """The `diff` document as plain dicts and lists."""
        document: dict[str, Any] = to_wire(self.document)
        return document

    def __repr__(self) -> str:
        return f"<NumericsReport: {self.document.backend} against {self.document.reference}, {self.verdict.value}>"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return diff_inline(self.document, self.names, ShownTexts())

    def __str__(self) -> str:
        return diff_text(self.document, self.names, ShownTexts(), Styler(enabled=False))


def check_numerics(
    subject: str | os.PathLike[str] | Callable[..., Any],
    inputs: Any = None,
    *,
    backend: str = "inductor",
    reference: str = "eager",
    gradients: bool = False,
    seed: int = 0,
    runs: int = 1,
    timeout: float | None = None,
    progress: Tell | None = None,
) -> NumericsReport:
    """Runs a model with a reference and with a backend, and judges the difference by what precision explains.

    It runs in worker processes, as `inductor-debug diff` does.

    Args:
        subject: `"model.py::Net"`, or `"model.py"` where that offers one target; or a module or function of this
            process, which travels as its source file and its state.
        inputs: for a subject of this process, the arguments of a call: a tuple, a dict of keywords, or one tensor.
        backend: one of `torch.compile`'s by name, a function of the file, or an accelerator with emulated arithmetic.
        reference: the backend that is right.
        gradients: whether gradients are compared, too.
        seed: of random numbers.
        runs: how often, each time with another seed.
        timeout: seconds for everything (default: 600).
        progress: is given a line of text whenever there is something to tell.

    Returns:
        The verdict, the tables behind it, and what is to blame.

    Raises:
        FileTargetError: there is no such file.
        NoSourceError: a subject of this process that no other process could build.
        OrderFailedError: the file offers no such target, or several and none was named, or could not be run.
        ConfigurationError: settings for the file cannot be used.
        ProfileError: the backend is an accelerator whose file is missing or wrong.
        TypeError: a subject of this process without inputs, or a file with some.
    """
    options = DiffOptions(backend=backend, reference=reference, gradients=gradients or None, seed=seed, runs=runs)
    return numerics_with(None, subject, inputs, options, {"timeout": timeout}, progress)


def numerics_with(
    opened: EngineThread | None,
    subject: str | os.PathLike[str] | Callable[..., Any],
    inputs: Any,
    options: DiffOptions,
    said: dict[str, Any],
    progress: Tell | None = None,
) -> NumericsReport:
    """As `check_numerics`, with an engine that stays open where there is one, and settings by name."""
    with subject_of(subject, inputs) as meant:
        resolver = settings_for(meant, {"artifacts": "off", **said})
        order = diff_order(options, target=meant.file.target, timeout=said.get("timeout") or DEFAULT_TIMEOUT)

        async def work(engine: Engine) -> Performed:
            return await carried_out(engine, meant, order, progress, one=True)

        performed = in_engine(resolver, work) if opened is None else opened.run(resolver, work)
        names = names_for(meant)
    documents = performed.documents(DiffDocument)
    if not documents:
        raise OrderFailedError(f"{names.shown(meant.file.path)}: there was no answer")
    return NumericsReport(documents[0], names)
