"""The task that compiles kernels for a GPU, several at a time: one answer for each, as soon as it is there.

The file that the kernels are of is not looked at. Where the job is cancelled, the answers until then stay. LLVM ends
its process where it does not know a GPU: that is told of the kernel, and the others are compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from inductor_debug_schema import (
    Answered,
    CompileKernelsTask,
    Event,
    FileStatus,
    Finished,
    JobRequest,
    KernelBuild,
    KernelSource,
    Progressed,
)

from inductor_debug.accelerators.guarded_adapter import profile_of
from inductor_debug.capture.gpu_kernels.absent_gpu import AbsentGpu, absent_gpu_of
from inductor_debug.capture.gpu_kernels.triton_compiling import compile_kernel, prepare
from inductor_debug.system.forked_work import Died, worked_on

_ENDED = (
    "Triton's compiler ended before this was compiled ({}), as it does for a GPU that it does not know: there is the "
    "source of the kernel, but no machine code."
)
_NO_GPU = "The accelerator is no GPU that kernels can be compiled for."


def perform(request: JobRequest, emit: Callable[[Event], None]) -> None:
    """Answers with a `KernelBuild` for each kernel of the request, in the order in which they are done."""
    task = request.task
    assert isinstance(task, CompileKernelsTask)
    profile = profile_of(request.profile)
    gpu = absent_gpu_of(profile)
    if gpu is None:
        for kernel in task.kernels:
            emit(Answered(kernel.graph, KernelBuild("", kernel.name, kernel.graph, problem=_NO_GPU)))
    else:
        emit(Progressed("compiling kernels", 0, len(task.kernels)))
        prepare(gpu)
        compiling = worked_on(task.kernels, partial(compile_kernel, gpu=gpu))
        for number, (kernel, made) in enumerate(compiling, start=1):
            build = _ended(kernel, gpu, made) if isinstance(made, Died) else made
            emit(Answered(kernel.graph, build))
            emit(Progressed(f"compiled {kernel.name}", number, len(task.kernels)))
    emit(Finished(FileStatus.CLEAN))


def _ended(kernel: KernelSource, gpu: AbsentGpu, died: Died) -> KernelBuild:
    return KernelBuild(gpu.gpu.architecture, kernel.name, kernel.graph, problem=_ENDED.format(died.how))
