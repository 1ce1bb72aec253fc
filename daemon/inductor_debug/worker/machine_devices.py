"""Which GPUs torch can use here: its answers, as data. Public names of torch alone (2.11 to 2.14)."""

from __future__ import annotations

from typing import Any

from inductor_debug_schema import DeviceSeen


def devices_of(torch: Any) -> list[DeviceSeen]:
    """The devices that models would run on, the default one first; none where torch computes on the CPU.

    Args:
        torch: the imported package.
    """
    if torch.cuda.is_available():
        return [_cuda(torch, torch.cuda.get_device_properties(index)) for index in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        return [DeviceSeen(platform="mps", architecture="apple", memory_bytes=torch.mps.recommended_max_memory())]
    return []


def _cuda(torch: Any, properties: Any) -> DeviceSeen:
    if torch.version.hip:
        architecture = properties.gcnArchName.partition(":")[0]
        return DeviceSeen(
            platform="hip",
            device_name=properties.name,
            architecture=architecture,
            memory_bytes=properties.total_memory,
        )
    return DeviceSeen(
        platform="cuda",
        device_name=properties.name,
        architecture=f"sm_{properties.major}{properties.minor}",
        memory_bytes=properties.total_memory,
    )
