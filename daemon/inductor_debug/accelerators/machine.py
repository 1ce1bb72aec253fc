"""What is judged where nobody chose an accelerator: the GPU that torch sees on this machine, if there is one.

Such a profile is judged mildly (`Profile.chosen`). Nothing here asks torch or a driver: `worker.machine_devices` does,
in the interpreter that runs the models, and only where the machine looks as if it had a GPU at all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Any

from inductor_debug_schema import DeviceSeen

from inductor_debug.accelerators.profile import NO_ACCELERATOR, ProfileError, built_in_names, load_document

_FAMILIES = {"cuda": "cuda", "hip": "rocm", "mps": "mps"}
"""The profiles of GPUs that have none of their own, by platform."""
_DRIVERS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")
"""Files that there are where a driver for NVIDIA's or AMD's GPUs runs, also under WSL."""


def may_have_gpu(system: str, machine: str, exists: Callable[[str], bool] = os.path.exists) -> bool:
    """Whether it is worth asking torch for a GPU.

    Args:
        system: the operating system, as `sys.platform` names it.
        machine: the processor, as `platform.machine()` names it.
        exists: whether there is a file.
    """
    if system == "darwin":
        return machine == "arm64"
    if system == "win32":
        return exists(os.path.join(os.environ.get("SYSTEMROOT", "C:\\Windows"), "System32", "nvcuda.dll"))
    return any(map(exists, _DRIVERS))


def document_of(devices: Sequence[DeviceSeen]) -> dict[str, Any]:
    """The profile's document for the first device that is known; that of no accelerator where there is none."""
    for device in devices:
        if device.platform in _FAMILIES:
            document = _card(device) or _family(device)
            return {**document, "source": {**document["source"], "seen": True}}
    return load_document(NO_ACCELERATOR)


def _card(device: DeviceSeen) -> dict[str, Any] | None:
    """The profile that names the device."""
    for name in built_in_names():
        document = load_document(name)
        patterns = document.get("gpu", {}).get("device_names", [])
        if any(fnmatchcase(device.device_name.lower(), pattern.lower()) for pattern in patterns):
            return document
    return None


def _family(device: DeviceSeen) -> dict[str, Any]:
    """What is known of all GPUs of the device's architecture, or of its platform, and the memory that it has."""
    name = _FAMILIES[device.platform]
    try:
        document = load_document(f"{os.path.dirname(__file__)}/profiles/architectures/{device.architecture}.toml")
    except ProfileError:
        document = load_document(name)
    memory = {"memory": {"device_bytes": device.memory_bytes}} if device.memory_bytes else {}
    return {**document, **memory, "name": name, "title": device.device_name or document["title"]}
