"""The task that compiles kernels for a GPU: one answer for each, as soon as it is there.

The file that the kernels are of is not looked at. Where the job is cancelled, the answers until then stay.
"""

from __future__ import annotations

from collections.abc import Callable

from inductor_debug_schema import (
    Answered,
    CompileKernelsTask,
    Event,
    FileStatus,
    Finished,
    JobRequest,
    KernelBuild,
    Progressed,
)

from inductor_debug.accelerators.guarded_adapter import profile_of
from inductor_debug.capture.gpu_kernels.absent_gpu import absent_gpu_of
from inductor_debug.capture.gpu_kernels.triton_compiling import compile_kernel

_NO_GPU = "The accelerator is no GPU that kernels can be compiled for."


def perform(request: JobRequest, emit: Callable[[Event], None]) -> None:
    """Answers with a `KernelBuild` for each kernel of the request, in its order."""
    task = request.task
    assert isinstance(task, CompileKernelsTask)
    profile = profile_of(request.profile)
    gpu = absent_gpu_of(profile)
    for number, kernel in enumerate(task.kernels):
        emit(Progressed(f"compiling {kernel.name}", number, len(task.kernels)))
        build = (
            compile_kernel(kernel, gpu)
            if gpu is not None
            else KernelBuild("", kernel.name, kernel.graph, problem=_NO_GPU)
        )
        emit(Answered(kernel.graph, build))
    emit(Finished(FileStatus.CLEAN))
