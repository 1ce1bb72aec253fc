"""A GPU that Inductor generates code for as if it were there: its properties come from a profile.

Traced is on the CPU; what Inductor's decompositions and passes do only for a GPU is asked for by the names in
`_for_gpu`, and the device is given right before `GraphLowering`, which only looks at metadata. What Inductor asks
`torch.cuda` meanwhile is answered from the profile; nothing is sent anywhere. Triton need not be installed: the sources
that Inductor writes are those for a Triton that takes attributes as dictionaries (3.3 and later).

Names read in torch 2.13: `torch.cuda`, `CudaInterface`, `DeviceProperties.create`, `scheduler.has_triton`,
`triton_hash_with_backend`, `AttrsDescriptorWrapper`, `triton_version_uses_attrs_dict`, `decomposition.is_gpu`,
`post_grad.is_gpu`, `post_grad.prepare_softmax_extra_check`. What is missing in another version stays as it is there.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from types import FunctionType, SimpleNamespace
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule

from inductor_debug.accelerators.gpu import Gpu, GpuPlatform
from inductor_debug.accelerators.profile import Profile
from inductor_debug.capture.gpu_kernels.gpu_attention import attention_of
from inductor_debug.capture.gpu_kernels.gpu_graphs import graph_on
from inductor_debug.capture.gpu_kernels.lowering_device import Decompositions
from inductor_debug.capture.gpu_kernels.replaced_names import Replacement, replaced

_DEVICE = torch.device("cuda", 0)
_HIP_VERSION = "6.4"
_HIP_CAPABILITY = (9, 4)
_THREADS_PER_BLOCK = 1024
_NEEDED = ("multiprocessors", "warp")


def absent_gpu_of(profile: Profile) -> AbsentGpu | None:
    """The GPU that a profile describes well enough to generate code for; None where it is none, or no certain one."""
    gpu = profile.gpu
    if gpu is None or gpu.platform is GpuPlatform.MPS or not gpu.architecture:
        return None
    if any(getattr(gpu, name) is None for name in _NEEDED):
        return None
    return AbsentGpu(gpu, profile.title or profile.name, profile.memory_bytes or 0)


def attention_on(profile: Profile) -> AbstractContextManager[None]:
    """Graphs that are traced meanwhile have the attention that the accelerator runs, where it is a known GPU."""
    gpu = absent_gpu_of(profile)
    return gpu.tracing() if gpu is not None else nullcontext()


def why_no_kernels(profile: Profile) -> str:
    """Why the kernels are the CPU's though the accelerator is a GPU; "" where they are the GPU's, or it is none."""
    if profile.gpu is None or absent_gpu_of(profile) is not None:
        return ""
    subject = profile.title or profile.name
    if profile.gpu.platform is GpuPlatform.MPS:
        return f"Kernels are not made for {subject}; these are the CPU's."
    return f"Kernels are made for one card, and the accelerator is {subject}: these are the CPU's. Choose a card."


@dataclass(frozen=True, slots=True)
class AbsentGpu:
    """A `LoweringDevice`. `memory_bytes` is 0 where nobody knows it."""

    gpu: Gpu
    title: str
    memory_bytes: int

    @property
    def _is_hip(self) -> bool:
        return self.gpu.platform is GpuPlatform.HIP

    @property
    def _capability(self) -> tuple[int, int]:
        return self.gpu.capability or _HIP_CAPABILITY

    def tracing(self) -> AbstractContextManager[None]:
        """Attention is the GPU's."""
        return attention_of(self._capability)

    def decompositions(self, usual: Decompositions) -> Decompositions:
        """Products stay products, but for outer ones: sums of few products are the CPU's."""
        aten = torch.ops.aten
        own: dict[Any, Callable[..., Any]] = {
            aten.mm.default: _outer_mm,
            aten.addmm.default: _outer_addmm,
            aten.bmm.default: _outer_bmm,
        }
        return {**usual, **own}

    @contextmanager
    def passes(self) -> Iterator[None]:
        """Passes do what they do for a GPU."""
        with replaced(_for_gpu()):
            yield

    def moved(
        self, graph_module: GraphModule, inputs: Sequence[Any], fake_mode: Any
    ) -> tuple[GraphModule, Sequence[Any]]:
        """Copies on `cuda:0`."""
        return graph_on(graph_module, inputs, fake_mode, _DEVICE)

    @contextmanager
    def lowering(self) -> Iterator[None]:
        """`torch.cuda` tells of this GPU."""
        from torch._inductor.runtime.hints import DeviceProperties

        _forget(DeviceProperties.create)
        try:
            with replaced(self._answers()):
                yield
        finally:
            _forget(DeviceProperties.create)

    @property
    def _properties(self) -> SimpleNamespace:
        """What `torch.cuda.get_device_properties` gives; `None` of the profile is left to Inductor's defaults."""
        gpu, (major, minor) = self.gpu, self._capability
        known = {
            "name": self.title,
            "major": major,
            "minor": minor,
            "total_memory": self.memory_bytes,
            "multi_processor_count": gpu.multiprocessors,
            "warp_size": gpu.warp,
            "regs_per_multiprocessor": gpu.registers_per_multiprocessor,
            "max_threads_per_multi_processor": gpu.threads_per_multiprocessor,
            "max_threads_per_block": _THREADS_PER_BLOCK,
            "shared_memory_per_block_optin": gpu.shared_bytes_per_block,
            "shared_memory_per_multiprocessor": gpu.shared_bytes_per_multiprocessor,
            "L2_cache_size": gpu.l2_bytes,
            "gcnArchName": gpu.architecture if self._is_hip else "",
        }
        return SimpleNamespace(**{name: value for name, value in known.items() if value is not None})

    def _answers(self) -> list[Replacement]:
        from torch._dynamo.device_interface import CudaInterface
        from torch._inductor import graph, scheduler, utils
        from torch._inductor.codegen import triton, triton_utils
        from torch.utils import _triton

        properties, capability = self._properties, self._capability
        architecture: int | str = self.gpu.architecture if self._is_hip else capability[0] * 10 + capability[1]
        answers: dict[str, Callable[..., Any]] = {
            "is_available": lambda: True,
            "device_count": lambda: 1,
            "current_device": lambda: 0,
            "get_device_properties": lambda *_, **__: properties,
            "get_device_capability": lambda *_, **__: capability,
            "get_device_name": lambda *_, **__: properties.name,
            "is_bf16_supported": lambda *_, **__: capability[0] >= 8,
        }
        interface: dict[str, Callable[..., Any]] = {
            **answers,
            "get_compute_capability": lambda *_, **__: architecture,
            "is_triton_capable": lambda *_, **__: True,
            "raise_if_triton_unavailable": lambda *_, **__: None,
        }
        return [
            *((torch.cuda, name, value) for name, value in answers.items()),
            *((CudaInterface, name, staticmethod(value)) for name, value in interface.items()),
            *((CudaInterface.Worker, name, staticmethod(value)) for name, value in answers.items()),
            (torch.version, "cuda", None if self._is_hip else "12.8"),
            (torch.version, "hip", _HIP_VERSION if self._is_hip else None),
            (scheduler, "has_triton", lambda *_, **__: True),
            (graph, "is_same_tensor", operator.is_),  # by their addresses; fake constants have none
            (_triton, "triton_hash_with_backend", lambda: ""),
            (triton_utils, "AttrsDescriptorWrapper", _attributes),
            *((module, "triton_version_uses_attrs_dict", lambda: True) for module in (utils, triton, triton_utils)),
        ]


def _attributes(
    divisible_by_16: Sequence[int] = (), equal_to_1: Sequence[int] = (), pointer_range_32: Sequence[int] = ()
) -> dict[tuple[int], list[list[Any]]]:
    """What is known of arguments, by their positions, as recent Tritons take it; ones are constants there."""
    known: dict[tuple[int], list[list[Any]]] = {(index,): [["tt.divisibility", 16]] for index in divisible_by_16 or ()}
    for index in pointer_range_32 or ():
        known.setdefault((index,), []).append(["tt.pointer_range", 32])
    return known


def _for_gpu() -> list[Replacement]:
    """Where decompositions and passes ask whether a tensor is on a GPU: it will be.

    The pattern of a softmax keeps the function that asks, so the function itself has to answer otherwise.
    """
    from torch._inductor import config, decomposition
    from torch._inductor.fx_passes import post_grad

    asked: list[Replacement] = [(module, "is_gpu", lambda _: True) for module in (decomposition, post_grad)]
    check = getattr(post_grad, "prepare_softmax_extra_check", None)
    if isinstance(check, FunctionType) and getattr(config, "online_softmax", False):
        asked.append((check, "__code__", _always.__code__))
    return asked


def _always(match: Any) -> bool:
    return True


def _forget(function: Any) -> None:
    """Empties the cache of a function of torch's, which may be a method; one without a cache has nothing to forget."""
    clear = getattr(function, "cache_clear", None)
    if clear is not None:
        clear()


def _is_one(size: Any) -> bool:
    """Whether a size is 1 whatever the symbols are."""
    from torch.fx.experimental.symbolic_shapes import statically_known_true

    return bool(statically_known_true(size == 1))


def _is_outer(rows: Any, inner: Any, columns: Any) -> bool:
    return _is_one(inner) and not _is_one(rows) and not _is_one(columns)


def _outer_mm(first: Tensor, second: Tensor, out_dtype: torch.dtype | None = None) -> Any:
    if out_dtype is None and _is_outer(first.size(0), first.size(1), second.size(1)):
        return first * second
    return NotImplemented


def _outer_addmm(
    bias: Tensor,
    first: Tensor,
    second: Tensor,
    out_dtype: torch.dtype | None = None,
    beta: float = 1,
    alpha: float = 1,
) -> Any:
    if out_dtype is None and _is_outer(first.size(0), first.size(1), second.size(1)):
        return alpha * (first * second) + beta * bias
    return NotImplemented


def _outer_bmm(first: Tensor, second: Tensor, out_dtype: torch.dtype | None = None) -> Any:
    if out_dtype is None and _is_one(first.size(2)):
        return (first * second).contiguous()
    return NotImplemented
