"""What a script means by a model: `FILE[::TARGET]`, or a model or function in memory with its inputs.

Nothing is run here.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inductor_debug.engine.orders.file_targets import FileTarget, file_target


class NoSourceError(ValueError):
    """A model in memory cannot be built in another process; the message says what is in the way."""


@dataclass(frozen=True)
class Subject:
    """A target in a file. `text` stands in for what the file has, where something was added to it; `entry` names it."""

    file: FileTarget
    text: str | None = None
    entry: str | None = None


_JOB = "inductor_debug.worker.job"
"""Where a worker's process has it that it is one; others need not have loaded it."""
_ADDED = '''


def {name}():
    """The model and its inputs as they were when they were asked about."""
    from inductor_debug.scripting.saved_model import load

    return load({folder!r}, globals())
'''


@contextlib.contextmanager
def subject_of(subject: str | os.PathLike[str] | Callable[..., Any], inputs: Any) -> Iterator[Subject]:
    """What is meant; what has to be written down for it is there until the end.

    Raises:
        SubjectError: there is no such file.
        NoSourceError: the model has no source file, or a state that no other process could build.
        TypeError: a model without inputs, or a file with some.
        RuntimeError: it is a worker that asks, because it runs a file that does.
    """
    job = sys.modules.get(_JOB)
    if job is not None and job.WorkerState.at_work:
        raise RuntimeError(
            "this file was run by a worker of inductor-debug, which must not ask for another: put the call under "
            '`if __name__ == "__main__":`'
        )
    if isinstance(subject, (str, os.PathLike)):
        if inputs is not None:
            raise TypeError("inputs are for a model in memory; a file says its own")
        yield Subject(file_target(os.fspath(subject)))
        return
    if inputs is None:
        raise TypeError("a model in memory needs inputs: a tuple of its arguments")
    with tempfile.TemporaryDirectory(prefix="inductor-debug-") as folder:
        yield _in_memory(subject, inputs, Path(folder))


def _in_memory(model: Callable[..., Any], inputs: Any, folder: Path) -> Subject:
    from inductor_debug.scripting.saved_model import NotSavableError, save

    model = inspect.unwrap(getattr(model, "_orig_mod", model))  # what `torch.compile` was given
    defined: Any = model if inspect.isroutine(model) else type(model)
    path = _source_file(defined)
    try:
        save((model, inputs), folder, defined.__module__ if path is not None else "")
    except NotSavableError as error:
        raise NoSourceError(str(error)) from error
    name = re.sub(r"\W", "_", defined.__name__) + "_in_memory"
    if path is None:
        path, text = Path.cwd() / f"{name}.py", ""  # where the settings of the project hold
    else:
        text = path.read_text(encoding="utf-8")
    added = _ADDED.format(name=name, folder=str(folder))
    return Subject(FileTarget(str(path), str(path), f"{name}()"), text + added, f"{path}::{name}()")


def _source_file(defined: Any) -> Path | None:
    """The file to run for a class or function: None for a library's, which can be imported from anywhere.

    Raises:
        NoSourceError: it was defined at a prompt or in a notebook's cell.
    """
    module = sys.modules.get(defined.__module__)
    file = getattr(module, "__file__", None)
    if file is None or not os.path.isfile(file):
        raise NoSourceError(
            f"{defined.__qualname__} was defined at a prompt or in a notebook's cell, which no other process can run: "
            "put it into a file and import it"
        )
    libraries = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), sysconfig.get_path("stdlib"))
    path = Path(file).resolve()
    return None if any(path.is_relative_to(Path(library).resolve()) for library in libraries) else path
