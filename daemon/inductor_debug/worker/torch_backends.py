"""Which backends `torch.compile` knows in an interpreter, what each is for, and what one needs that is not there.

Backends of other packages are known by their metadata: none is loaded. Private: the tags of backends, in
`torch._dynamo.backends.registry._COMPILER_FNS` (2.11 to 2.14); where they are gone, those of torch count as compilers.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from typing import Any

from inductor_debug_schema.compiling.backend_entries import BackendEntry, BackendKind

_GROUP = "torch_dynamo_backends"
_OURS = "inductor-debug"
_MODULES = {
    "onnxrt": "onnxruntime",
    "openxla": "torch_xla",
    "openxla_eval": "torch_xla",
    "tensorrt": "torch_tensorrt",
    "tvm": "tvm",
}
"""What torch's own entries for other compilers import when they are used."""


def backends_of(torch: Any) -> list[BackendEntry]:
    """All that `torch.compile(backend=…)` takes by name, in order.

    Args:
        torch: the imported package.
    """
    registry = torch._dynamo.backends.registry
    offered = {point.name: point for point in importlib.metadata.entry_points(group=_GROUP)}
    return [
        _entry(name, getattr(registry, "_COMPILER_FNS", {}).get(name), offered.get(name), torch)
        for name in sorted(torch._dynamo.list_backends(exclude_tags=()))
    ]


def _entry(name: str, function: Any, point: importlib.metadata.EntryPoint | None, torch: Any) -> BackendEntry:
    distribution = getattr(point, "dist", None)
    if function is not None:  # torch's own, also where it offers it as packages do
        distribution = None
    package = distribution.name if distribution is not None else ""
    tags = getattr(function, "_tags", ())
    kind = BackendKind.COMPILER
    if "debug" in tags or package.replace("_", "-") == _OURS:
        kind = BackendKind.DEBUG
    elif "experimental" in tags:
        kind = BackendKind.EXPERIMENTAL
    return BackendEntry(
        name=name,
        backend_kind=kind,
        distribution=package,
        version=distribution.version if distribution is not None else "",
        lacks=_lacking(name, torch),
    )


def _lacking(name: str, torch: Any) -> str:
    if name == "cudagraphs" and not torch.cuda.is_available():
        return "a CUDA device"
    module = _MODULES.get(name)
    return f"the package {module}" if module is not None and importlib.util.find_spec(module) is None else ""
