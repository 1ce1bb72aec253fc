"""Compiles one kernel of Inductor's with Triton, for a GPU that need not be there, and looks at the machine code.

The kernel's text is what Inductor wrote: its module is loaded as Inductor loads it, and its own functions say what is
compiled with which options; only the target is told, where otherwise the driver is asked. Triton keeps what it compiled
in Inductor's cache folder, by text and target. Nothing is run but the compiler's own programs.

Names read in torch 2.13 and Triton 3.7: `PyCodeCache.load`, `CachingAutotuner` (`configs`, `_create_compile_meta`,
`_create_compile_options`, `device_props`), `triton_helpers.set_driver_to_gpu`, `ASTSource`, `GPUTarget`,
`triton_key` (where it is missing, each process reads for itself), and the programs in `triton/backends/nvidia/bin`.
Where another is missing, the build says so as its problem.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from typing import Any

from inductor_debug_schema import CompiledText, KernelBuild, KernelSource, Occupancy

from inductor_debug.accelerators.gpu import Gpu
from inductor_debug.accelerators.occupancy import occupancy_of
from inductor_debug.capture.gpu_kernels.absent_gpu import AbsentGpu
from inductor_debug.capture.gpu_kernels.machine_code import (
    ResourceUsage,
    accesses_of_amdgcn,
    accesses_of_ptx,
    matrix_instructions_of,
    usage_of_amdgcn,
    usage_of_cubin,
)
from inductor_debug.capture.gpu_kernels.replaced_names import replaced

NOT_INSTALLED = (
    "Triton is not installed in this environment, so there is the source of kernels, but no machine code: "
    "pip install inductor-debug[gpu]"
)
_IMPORTED = (
    "torch._inductor.codecache",
    "torch._inductor.runtime.triton_heuristics",
    "triton.compiler",
    "triton.backends.compiler",
)
READY = "inductor_debug.capture.gpu_kernels.triton_ready"
"""What a process that was forked for a kernel is better forked with."""
_READ_IN = (3, 7)
_CUOBJDUMP_SECONDS = 60
_SIMD_UNITS = 4
_WAVES_PER_UNIT = 8


class _RefusedError(Exception):
    """A kernel, or its machine code, that nothing more can be told of; the message says why."""


def prepare(gpu: AbsentGpu) -> None:
    """Does once what every compilation begins with: processes that are forked afterwards have it."""
    if importlib.util.find_spec("triton") is None:
        return
    with contextlib.suppress(ImportError, AttributeError), gpu.lowering():
        for name in _IMPORTED:
            importlib.import_module(name)
        importlib.import_module(READY)


def compile_kernel(kernel: KernelSource, gpu: AbsentGpu) -> KernelBuild:
    """Compiles the first of the kernel's configurations. Never raises for a kernel: the build says what went wrong."""
    build = KernelBuild(gpu.gpu.architecture, kernel.name, kernel.graph)
    if importlib.util.find_spec("triton") is None:
        return replace(build, problem=NOT_INSTALLED)
    try:
        with gpu.lowering():
            tuner = _loaded(kernel)
            build = replace(build, **_configuration(tuner))
            binary = _compiled(tuner)
        return _looked_at(build, binary, gpu.gpu)
    except Exception as error:
        return replace(build, problem=_refused_by(build.architecture, error))


def _loaded(kernel: KernelSource) -> Any:
    """The autotuner that the kernel's module makes; its decorator would look for a driver."""
    from torch._inductor.codecache import PyCodeCache
    from torch._inductor.runtime import triton_helpers

    with replaced([(triton_helpers, "set_driver_to_gpu", lambda: None)]):
        return getattr(PyCodeCache.load(kernel.text), kernel.name)


def _configuration(tuner: Any) -> dict[str, Any]:
    first = tuner.configs[0]
    sizes = [f"{name}={value}" for name, value in first.kwargs.items()]
    counted = [f"{first.num_warps} warp{'s' if first.num_warps != 1 else ''}"]
    stages = [f"{first.num_stages} stages"] if first.num_stages > 1 else []
    return {
        "configuration": ", ".join([*sizes, *counted, *stages]),
        "configurations": len(tuner.configs),
        "warps": int(first.num_warps),
    }


def _compiled(tuner: Any) -> Any:
    # By their names: a worker runs without Triton as well.
    compiler, backends = map(importlib.import_module, ("triton.compiler", "triton.backends.compiler"))
    first = tuner.configs[0]
    meta = tuner._create_compile_meta(first)
    options = tuner._create_compile_options(first, meta)
    target = backends.GPUTarget(meta["device_type"], meta["cc"], tuner.device_props.warp_size_or_default)
    source = compiler.ASTSource(tuner.fn, meta["signature"], meta["constants"], meta["configs"][0])
    return compiler.compile(source, target=target, options=options)


def _looked_at(build: KernelBuild, binary: Any, gpu: Gpu) -> KernelBuild:
    """The build with all that its texts say."""
    texts: dict[str, Any] = binary.asm
    shared = int(binary.metadata.shared)
    if "amdgcn" in texts:
        assembly = str(texts["amdgcn"])
        usage = replace(usage_of_amdgcn(assembly), shared_bytes=shared)
        build = _with_usage(build, usage, _of_waves(usage))
        return replace(
            build,
            accesses=accesses_of_amdgcn(assembly),
            matrix_instructions=matrix_instructions_of(assembly),
            texts=[CompiledText("AMDGCN", assembly)],
        )
    ptx = str(texts["ptx"])
    build = replace(
        build,
        shared_bytes=shared,
        accesses=accesses_of_ptx(ptx),
        matrix_instructions=matrix_instructions_of(ptx),
        texts=[CompiledText("PTX", ptx)],
    )
    try:
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(texts["cubin"])
            file.flush()
            usage = replace(usage_of_cubin(_told("cuobjdump", "-res-usage", file.name)), shared_bytes=shared)
            machine_code = _told("nvdisasm", "-c", file.name)
    except _RefusedError as refused:
        return replace(build, problem=str(refused))
    build = replace(build, texts=[*build.texts, CompiledText("SASS", machine_code)])
    if usage.registers is None or build.warps is None:
        return replace(build, problem="cuobjdump does not say how many registers the kernel takes.")
    held = occupancy_of(gpu, warps=build.warps, registers=usage.registers, shared_bytes=shared)
    return _with_usage(build, usage, held)


def _with_usage(build: KernelBuild, usage: ResourceUsage, occupancy: Occupancy | None) -> KernelBuild:
    return replace(
        build,
        registers=usage.registers,
        spilled_bytes=usage.spilled_bytes,
        shared_bytes=usage.shared_bytes,
        occupancy=occupancy,
    )


def _of_waves(usage: ResourceUsage) -> Occupancy | None:
    """What LLVM says of a SIMD unit, for the four of a compute unit of CDNA's."""
    if usage.waves is None:
        return None
    return Occupancy(usage.waves * _SIMD_UNITS, _WAVES_PER_UNIT * _SIMD_UNITS)


def _told(program: str, *arguments: str) -> str:
    """What one of the CUDA programs that come with Triton prints.

    Raises:
        _RefusedError: it is not there, cannot be run, or failed.
    """
    nvidia = importlib.import_module("triton.backends.nvidia")
    path = os.path.join(os.path.dirname(str(nvidia.__file__)), "bin", program)
    try:
        done = subprocess.run(
            [path, *arguments], capture_output=True, text=True, timeout=_CUOBJDUMP_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise _RefusedError(f"{program}, which comes with Triton, cannot be run: {_first_line(error)}") from error
    if done.returncode:
        raise _RefusedError(f"{program}, which comes with Triton, failed with status {done.returncode}.")
    return done.stdout


def _refused_by(architecture: str, error: Exception) -> str:
    """That Triton did not compile a kernel, and whether it is another Triton than the one that was read."""
    version = str(getattr(sys.modules.get("triton"), "__version__", ""))
    told = f"{f'Triton {version}'.strip()} cannot compile this for {architecture}: {_first_line(error).rstrip('.')}."
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
    if numbers in ((), _READ_IN):
        return told
    age, read_in = "older" if numbers < _READ_IN else "newer", ".".join(map(str, _READ_IN))
    return f"{told} It is {age} than Triton {read_in}, with which kernels were seen to compile."


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
