"""`reproduce`: the smallest script that shows what goes wrong with a model, proved in a clean process."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inductor_debug_schema import ReproDocument, to_wire

from inductor_debug.artifacts.savable_report import SavableReport
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.orders.reproducing import Reproduction, order_for, proved, refused
from inductor_debug.engine.settings.folders import cache_folder
from inductor_debug.rules.registry import find
from inductor_debug.scripting.carrying_out import Tell, carried_out, in_engine, settings_for
from inductor_debug.scripting.subjects import subject_of


@dataclass(frozen=True)
class ReproReport(SavableReport):
    """A reproducer, or why there is none.

    Attributes:
        document: the `repro` document: with sizes, attempts, seconds, and what makes the failure go away.
        script: the text of the script, which needs torch alone; None where there is none.
        files: what the script reads beside it (values that the failure needs, an exported graph), by name.
        output: what the script printed in the clean process.
    """

    document: ReproDocument
    script: str | None
    files: dict[str, bytes]
    output: str

    @property
    def path(self) -> str | None:
        """Where the script was kept, in the artifact store; None where there is none."""
        return self.document.script

    @property
    def verified(self) -> bool:
        """Whether the script was seen to reproduce the failure in a process of its own."""
        return self.document.verified

    @property
    def why(self) -> str:
        """Why there is no script, or what is weaker about it than wished; "" where all is well."""
        return self.document.why

    def to_dict(self) -> dict[str, Any]:
        """The `repro` document as plain dicts and lists."""
        document: dict[str, Any] = to_wire(self.document)
        return document

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the script to the file `path`, and what it reads beside it.

        Raises:
            ValueError: there is no script; the message is `why`.
            OSError: a file cannot be written.
        """
        if self.script is None:
            raise ValueError(self.why)
        Path(path).write_text(self.script, encoding="utf-8")
        for name, content in self.files.items():
            Path(path).with_name(name).write_bytes(content)


def reproduce(
    subject: str | os.PathLike[str] | Callable[..., Any],
    inputs: Any = None,
    *,
    rule: str = "",
    line: int | None = None,
    backend: str = "",
    accelerator: str | None = None,
    timeout: float | None = None,
    progress: Tell | None = None,
) -> ReproReport:
    """Reduces what goes wrong with a model to the smallest script that shows it, and runs that in a clean process.

    The search runs in worker processes; nothing of it runs in this one. It is what `inductor-debug repro` does, and
    what others call a minifier.

    Args:
        subject: `"model.py"` or `"model.py::Net"`; or a module or function of this process, which travels as its
            source file and its state.
        inputs: for a subject of this process, the arguments of a call: a tuple, a dict of keywords, or one tensor.
        rule: the rule whose finding is meant, as `inductor-debug explain` lists them; "" for the first that is found.
        line: the line of the finding in its file, counted from 1.
        backend: a backend that crashes or computes something else, by its name, or an accelerator, whose arithmetic is
            emulated. It takes the place of `rule`.
        accelerator: a built-in accelerator, an installed one or a TOML file, by whose constraints is judged; None for
            what the project's settings say.
        timeout: seconds for the whole search (default: 600); the smallest script until then is what is given.
        progress: is given a line of text whenever there is something to tell.

    Returns:
        The script and what is known of it. `script` is None, and `why` says the reason, where nothing fits or where
        what fits has no script.

    Raises:
        FileTargetError: there is no such file.
        NoSourceError: a subject of this process that no other process could build: it was defined at a prompt or in a
            notebook's cell, or holds something that has no safe form.
        OrderFailedError: the file offers no such target, or could not be run.
        ConfigurationError: settings for the file, or the accelerator, cannot be used.
        UnknownRuleError: there is no such rule.
        TypeError: a subject of this process without inputs, or a file with some.
    """
    if rule:
        find(rule)
    with subject_of(subject, inputs) as meant:
        resolver = settings_for(meant, {"accelerator": accelerator, "timeout": timeout})
        order = order_for(
            rule=rule,
            line=None if line is None else line - 1,
            target=meant.file.target,
            backend=backend,
            memo=str(cache_folder() / "repro"),
            timeout=timeout,
        )

        async def work(engine: Engine) -> Reproduction:
            performed = await carried_out(engine, meant, order, progress)
            return await proved(performed, resolver(meant.file.path), tell=progress)

        found = refused(order) or in_engine(resolver, work)
    return ReproReport(found.document, found.script, found.files, found.output)
