"""Builds and loads the device of `simulated_device.cpp`, for this process and for good: no other test may share it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType

_SOURCE = Path(__file__).with_name("simulated_device.cpp")


class UnavailableError(Exception):
    """There is no compiler here, or it cannot build against this torch."""


def build() -> Path:
    """The built library, from an earlier build where there is one.

    Raises:
        UnavailableError: it cannot be built here.
    """
    import torch

    compiler = shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        raise UnavailableError("there is no C++ compiler")
    key = "\0".join((_SOURCE.read_text("utf-8"), torch.__version__, torch.__file__, sysconfig.get_platform()))
    folder = Path(tempfile.gettempdir()) / f"inductor-debug-simulated-device-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    library = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:20]}.so"
    import fcntl

    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not library.exists():
            _compile(compiler, library)
    return library


def _compile(compiler: str, library: Path) -> None:
    import torch

    root = Path(torch.__file__).parent
    made = library.with_suffix(f".{os.getpid()}.so")
    command = [compiler, "-shared", "-fPIC", "-std=c++20", "-O1", str(_SOURCE), "-o", str(made)]
    command += [f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"]
    command += [f"-I{root / 'include'}", f"-I{root / 'include/torch/csrc/api/include'}"]
    command += [f"-L{root / 'lib'}", "-lc10", "-ltorch_cpu"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise UnavailableError(ran.stderr[-2000:])
    os.replace(made, library)


def load(library: Path, *, float64: bool = True) -> None:
    """Makes `torch.device("simulated")` usable; `float64` says whether the device has that dtype."""
    import torch
    from torch.utils import generate_methods_for_privateuse1_backend, rename_privateuse1_backend

    torch.ops.load_library(str(library))
    rename_privateuse1_backend("simulated")
    generate_methods_for_privateuse1_backend(for_storage=True)
    torch._register_device_module("simulated", _module())
    torch.ops.simulated.set_float64(float64)


def _module() -> ModuleType:
    import torch

    device, operations = ModuleType("torch.simulated"), torch.ops.simulated
    functions = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "_is_in_bad_fork": lambda: False,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "synchronize": lambda device=None: None,
        "manual_seed": operations.seed,
        "manual_seed_all": operations.seed,
        "get_rng_state": lambda device=0: operations.random_state(),
        "set_rng_state": lambda state, device=0: operations.set_random_state(state),
        "get_amp_supported_dtype": lambda: [torch.float16, torch.bfloat16],
    }
    for name, function in functions.items():
        setattr(device, name, function)
    return device
