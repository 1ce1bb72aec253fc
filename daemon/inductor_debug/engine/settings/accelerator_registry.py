"""The one registry of accelerators: what comes with the tool, what is installed beside torch, and files of the user's.

A name means an installed adapter before a built-in profile, so that the package of an accelerator's makers replaces
what was known of it here, which holds again where that adapter fails. The adapters are those of the interpreter that
runs the models, which need not be ours. Their names are metadata; what one can do is asked in a process of that
interpreter. Both are kept until files say that they may have changed: the folders of packages, the sources of an
adapter.
"""

from __future__ import annotations

import dataclasses
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from inductor_debug_schema import THIS_MACHINE, AcceleratorEntry, AcceleratorList, AdapterDescription, AdaptersFound

from inductor_debug.accelerators import machine
from inductor_debug.accelerators.constraints import RULE_MARK
from inductor_debug.accelerators.description import document_of, entry_of
from inductor_debug.accelerators.installed import installed_adapters
from inductor_debug.accelerators.profile import (
    NO_ACCELERATOR,
    ProfileError,
    built_in_names,
    load_document,
    read_profile,
)
from inductor_debug.accelerators.spelling import Called, meant
from inductor_debug.accelerators.suggestions import nearest
from inductor_debug.engine.pool.asking_interpreters import DescribingError, ask_interpreter

_PAGE = """\
# {rule}

{summary}

A rule of the accelerator `{name}`, which its adapter{package} brings along: what it asks for is decided by code of the
accelerator's makers. It speaks only where this accelerator is chosen.

## How to silence it

Put `# inductor-debug: ignore[{rule}]` at the end of the line, or say `severity = {{ "{rule}" = "off" }}` under
`[tool.inductor-debug]` in `pyproject.toml`.
"""

COMPILERS = ("inductor", "aot_eager", "dynamo")
"""What everybody has of torch.compile to compare with: its default, AOTAutograd's and Dynamo's graphs as they are."""

Ask = Callable[[str, "str | None"], AdaptersFound]
"""Asks an interpreter for one adapter by name, or (None) for the names of all.

Raises:
    DescribingError: the interpreter, or the adapter in it, ended without an answer.
    StillAskingError: the answer has not come yet.
"""


class StillAskingError(Exception):
    """What is installed, or what an adapter can do, is being asked for; whoever asks says when it is known."""


@dataclass
class _Names:
    """The adapters that an interpreter has, and when the folders of its packages were last written then."""

    entries: list[AcceleratorEntry]
    folders: list[str]
    written: list[float]


@dataclass
class _Known:
    """What an adapter said, and when its files were last written then."""

    description: AdapterDescription
    written: list[float]

    def holds(self, entry: AcceleratorEntry) -> bool:
        same = (entry.version, entry.place) == (self.description.entry.version, self.description.entry.place)
        return same and self.written == written(self.description.files)


class Accelerators:
    """Accelerators by name, for each interpreter. Nothing that is not ours runs in this process."""

    def __init__(self, ask: Ask = ask_interpreter, *, may_have_gpu: bool | None = None) -> None:
        self._ask = ask
        self._may_have_gpu = (
            machine.may_have_gpu(sys.platform, platform.machine()) if may_have_gpu is None else may_have_gpu
        )
        self._machines: dict[str, dict[str, Any]] = {}
        self._names: dict[str, _Names] = {}
        self._known: dict[tuple[str, str], _Known] = {}

    def meant(self, said: str, interpreter: str) -> str:
        """The name of the accelerator that somebody wrote in words of their own; a path stays as it is.

        Raises:
            ProfileError: there is none that is called so, or there are several.
            StillAskingError: nobody knows yet.
        """
        if said == NO_ACCELERATOR or is_path(said):
            return said
        known = [*self.names(interpreter), NO_ACCELERATOR]
        if said in known:
            return said
        found = meant(said, [_called(name) for name in known])
        if len(found) == 1:
            return found[0]
        if found:
            raise ProfileError(f"{said!r} may be {' or '.join(found)}: say which")
        near = nearest(said, known)
        raise ProfileError(
            f"unknown accelerator {said!r}{f'; did you mean {near!r}?' if near else ''} (there are "
            f"{', '.join(known[:-1])}, or {NO_ACCELERATOR}; `cuda` and `rocm` are any GPU of NVIDIA's and AMD's; a "
            "profile of your own is given by its path, `my-device.toml`)"
        )

    def document(self, name_or_path: str, interpreter: str) -> dict[str, Any]:
        """The document of a built-in accelerator, an installed adapter, or a file.

        Raises:
            ProfileError: there is none that is called so, or there are several, or its file is not one.
            StillAskingError: nobody knows yet.
        """
        name = self.meant(name_or_path, interpreter)
        if name == NO_ACCELERATOR or is_path(name):
            return load_document(name)
        installed = {entry.name: entry for entry in self._installed(interpreter)}
        if name not in installed:
            return load_document(name)
        built_in = load_document(name) if name in built_in_names() else None
        return document_of(self._description(installed[name], interpreter), built_in)

    def of_machine(self, interpreter: str) -> dict[str, Any]:
        """The document of what is judged where nobody chose: the GPU that torch sees here, else no accelerator.

        Raises:
            StillAskingError: nobody knows yet.
        """
        if not self._may_have_gpu:
            return load_document(NO_ACCELERATOR)
        if interpreter not in self._machines:
            try:
                devices = self._ask(interpreter, THIS_MACHINE).devices
            except DescribingError:  # what is wrong with an interpreter is said when it is to run something
                devices = []
            self._machines[interpreter] = machine.document_of(devices)
        return self._machines[interpreter]

    def names(self, interpreter: str) -> list[str]:
        """What can be chosen by name, but for the absence of an accelerator."""
        return sorted({*built_in_names(), *(entry.name for entry in self._installed(interpreter))})

    def usually_compared(self, interpreter: str) -> list[str]:
        """What is compared where nobody says which: all but the GPUs, which are too many for a table.

        Raises:
            StillAskingError: nobody knows yet.
        """
        gpus = {name for name in built_in_names() if "gpu" in load_document(name)}
        return [name for name in self.names(interpreter) if name not in gpus]

    def listed(self, interpreter: str) -> AcceleratorList:
        """All of them with what each says of itself; an adapter that fails to is there with its problem.

        Raises:
            StillAskingError: nobody knows yet.
        """
        installed = [self._description(entry, interpreter).entry for entry in self._installed(interpreter)]
        replaced = {entry.name for entry in installed}
        built_in = [_built_in(name) for name in built_in_names() if name not in replaced]
        found = sorted([*built_in, *installed], key=lambda entry: entry.name)
        backends = [*COMPILERS, *(entry.name for entry in found if entry.computes)]
        return AcceleratorList(interpreter=interpreter, accelerators=found, backends=backends)

    def rule_page(self, rule: str, interpreter: str) -> str | None:
        """The page of a rule that an installed adapter brings along, as Markdown; None where none does."""
        name = rule.partition(RULE_MARK)[0]
        for entry in self._installed(interpreter):
            if entry.name == name:
                told = self._description(entry, interpreter).entry
                package = f" ({told.distribution} {told.version})" if told.distribution else ""
                return (
                    None
                    if rule not in told.rules
                    else _PAGE.format(rule=rule, summary=told.rules[rule], name=name, package=package)
                )
        return None

    def _installed(self, interpreter: str) -> list[AcceleratorEntry]:
        known = self._names.get(interpreter)
        if known is not None and known.written == written(known.folders):
            return known.entries
        if interpreter == sys.executable and not sys.flags.isolated:  # else models find packages that we do not see
            folders, entries = list(sys.path), [entry_of(adapter) for adapter in installed_adapters()]
        else:
            try:
                found = self._ask(interpreter, None)
                folders, entries = found.folders, [description.entry for description in found.adapters]
            except StillAskingError:
                if known is None:
                    raise
                return known.entries
            except DescribingError:  # what is wrong with an interpreter is said when it is to run something
                folders, entries = [interpreter], []
        self._names[interpreter] = _Names(entries, folders, written(folders))
        return entries

    def _description(self, entry: AcceleratorEntry, interpreter: str) -> AdapterDescription:
        known = self._known.get((interpreter, entry.name))
        if known is not None and known.holds(entry):
            return known.description
        try:
            answers = self._ask(interpreter, entry.name).adapters
            problem = "" if answers else f"The adapter {entry.name!r} is no longer installed."
        except StillAskingError:
            if known is None:
                raise
            return known.description
        except DescribingError as error:
            answers, problem = [], f"The adapter {entry.name!r} cannot be used: {error}."
        if answers:
            description = answers[0]
        else:
            description = AdapterDescription(
                entry=dataclasses.replace(entry, problem=problem), files=[entry.place] if entry.place else []
            )
        self._known[interpreter, entry.name] = _Known(description, written(description.files))
        return description


def is_path(accelerator: str) -> bool:
    """Whether a profile is named by its path."""
    return accelerator.endswith(".toml") or "/" in accelerator or os.sep in accelerator


def written(files: list[str]) -> list[float]:
    """When each file was last written; 0 where it is gone."""
    return [os.stat(path).st_mtime if os.path.exists(path) else 0.0 for path in files]


def backend_meant(said: str) -> str:
    """The built-in accelerator that a backend's name means; any other backend's, and a path, stays as it is.

    What may be the name of a function or of one of torch's backends is not taken for a card's, unless it is the name of
    an accelerator as it stands.

    Raises:
        ProfileError: there are several that are called so.
    """
    if is_path(said) or (said.isidentifier() and said.islower()):
        return said
    found = meant(said, [_called(name) for name in built_in_names()])
    if len(found) > 1:
        raise ProfileError(f"{said!r} may be {' or '.join(found)}: say which")
    return found[0] if found else said


def _called(name: str) -> Called:
    if name not in built_in_names():
        return Called(name)
    document = load_document(name)
    return Called(
        name, document.get("title", ""), [*document.get("called", []), *document.get("gpu", {}).get("device_names", [])]
    )


def _built_in(name: str) -> AcceleratorEntry:
    document = load_document(name)
    profile = read_profile(document)
    return AcceleratorEntry(
        name=name,
        title=profile.title,
        place=document["source"]["path"],
        computes=profile.arithmetic is not None,
        gpu=profile.gpu is not None,
    )
