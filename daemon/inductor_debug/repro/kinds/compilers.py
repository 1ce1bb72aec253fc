"""What a compiler does wrong to a target: a backend that is named, or those of the stages after the capture.

Which graph it is, and what is left of it, is found by the searches of `repro.backend`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import torch
import torch._dynamo
from inductor_debug_schema import Stage

from inductor_debug.accelerators.guarded_adapter import GuardedAdapter
from inductor_debug.accelerators.installed import AdapterError, installed_adapter, installed_adapters
from inductor_debug.accelerators.profile import Profile, ProfileError, built_in_names, load_document, read_profile
from inductor_debug.repro.backend.backend_script import BackendScript
from inductor_debug.repro.backend.backends_of_file import function_in, named_in_script
from inductor_debug.repro.backend.emulated_checks import Numbers
from inductor_debug.repro.backend.emulated_script import EmulatedScript
from inductor_debug.repro.kinds.case import Case
from inductor_debug.repro.program.value_names import file_name
from inductor_debug.repro.script.reproducer import NotReproducibleError, Reproducer
from inductor_debug.repro.script.writing import Header
from inductor_debug.source.notebooks.reading import place_in_words

_OF_STAGES = {Stage.AOT: "aot_eager", Stage.INDUCTOR: "inductor"}
"""What compiles in the stages that come after the capture."""


def named(case: Case) -> Iterator[str]:
    """The backend that was named.

    Raises:
        NotReproducibleError: none was.
    """
    if not case.task.backend:
        raise NotReproducibleError("which backend computes something else? Name it: --backend NAME")
    yield case.task.backend


def of_stages(case: Case) -> Iterator[str]:
    """The backend of the stage that is meant; of each where none is."""
    yield from (backend for stage, backend in _OF_STAGES.items() if case.wanted.stage in ("", stage.value))


def shown_by(backend: str, case: Case) -> Reproducer | None:
    """The script for what a backend does wrong to the target, with real values; None where it does nothing wrong.

    Raises:
        NotReproducibleError: there is no such backend, no target with real values, or no script.
    """
    try:
        own = function_in(case.load, backend)
    except AdapterError as error:
        raise NotReproducibleError(str(error)) from error
    known = own is not None or backend in torch._dynamo.list_backends(exclude_tags=None)
    numbers = None if known else _numbers(backend, case.profile)
    real = case.target if case.target.fake_mode is None else case.real()
    if isinstance(real, str):
        raise NotReproducibleError(real)
    where = real.location
    place = place_in_words(os.path.basename(where.path), where.path, where.range.start.line)
    header = Header("", place, "", real.name)
    remembered = Path(case.task.memo) if case.task.memo else None
    if numbers is None:
        named = named_in_script(backend, own, case.load, case.sources)
        script = BackendScript(real, named, remembered, case.progress, case.keep, own)
        made = script.run(header, file_name(where.path, backend))
        fine = f"backend {backend} does nothing wrong to {real.name}"
    else:
        script = EmulatedScript(real, numbers, remembered, case.progress, case.keep)
        made = script.run(header, file_name(where.path, numbers.accelerator))
        fine = (
            f"the arithmetic of {numbers.accelerator}, emulated, is no worse on {real.name} than the "
            f"{numbers.compute.mantissa_bits} mantissa bits of {numbers.compute.name} explain"
        )
        fine += f"; a script would not show {numbers.unseen}" if numbers.unseen else ""
    if made is None:
        case.fine.append(fine)
    return made


def _numbers(accelerator: str, profile: Profile) -> Numbers:
    """The numbers that an accelerator without a compiler computes with, as its profile says.

    Raises:
        NotReproducibleError: there is no such accelerator, or nothing is known of its numbers.
    """
    numbers = Numbers.of(profile if accelerator == profile.name else _profile(accelerator))
    if numbers is None:
        raise NotReproducibleError(
            f"the profile {accelerator!r} does not say with which numbers the accelerator computes, "
            "so its arithmetic cannot be emulated"
        )
    return numbers


def _profile(accelerator: str) -> Profile:
    """The profile of an accelerator by name or path.

    Raises:
        NotReproducibleError: there is none, or it cannot be used.
    """
    installed = installed_adapter(accelerator)
    try:
        if installed is not None:
            return GuardedAdapter.of(installed).capabilities()
        if accelerator in built_in_names() or accelerator.endswith(".toml"):
            return read_profile(load_document(accelerator))
    except (AdapterError, ProfileError) as error:
        raise NotReproducibleError(str(error)) from error
    names = sorted({*built_in_names(), *(adapter.name for adapter in installed_adapters())})
    raise NotReproducibleError(
        f"there is no backend {accelerator!r}; there are those of torch._dynamo.list_backends(), and "
        f"accelerators: {', '.join(names)}, or the path of a profile"
    )
