"""inductor-debug: will this PyTorch model compile and run on the accelerator, and which expression is to blame if not.

Importing the package imports nothing else: names that need torch are loaded when they are first asked for.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_LAZY = {
    "aot_mock_backend": "inductor_debug.capture.script_backends.aot_mock_backend",
    "mock_backend": "inductor_debug.capture.script_backends.mock_backend",
    "compare_tensors": "inductor_debug.kerneldiff.metrics.tensor_comparison",
    "ComparisonConfig": "inductor_debug.kerneldiff.metrics.comparison_config",
    "KernelDiffHarness": "inductor_debug.kerneldiff.harness",
    "GuardInspector": "inductor_debug.capture.guards.guard_inspector",
    "DiffReport": "inductor_debug.kerneldiff.judging.diff_report",
    "AcceleratorAdapter": "inductor_debug.accelerators.adapter",
    "AcceleratorCapabilities": "inductor_debug.accelerators.adapter",
}

__all__ = [
    "__version__",
    "AcceleratorAdapter",
    "AcceleratorCapabilities",
    "ComparisonConfig",
    "DiffReport",
    "GuardInspector",
    "KernelDiffHarness",
    "aot_mock_backend",
    "compare_tensors",
    "mock_backend",
]


def __getattr__(name: str) -> Any:
    """Loads a public name on first use (PEP 562)."""
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
