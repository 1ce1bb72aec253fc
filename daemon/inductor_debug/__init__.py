"""inductor-debug: will this PyTorch model compile and run on the accelerator, and which expression is to blame if not.

Importing the package imports nothing else: names that need torch are loaded when they are first asked for. Type
checkers read the same names in `__init__.pyi`.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_LAZY = {
    "AcceleratorAdapter": "inductor_debug.accelerators.adapter",
    "AcceleratorCapabilities": "inductor_debug.accelerators.adapter",
    "AcceleratorConstraint": "inductor_debug.accelerators.constraints",
    "Alignment": "inductor_debug.accelerators.capabilities",
    "ArithmeticFormats": "inductor_debug.accelerators.capabilities",
    "BisectReport": "inductor_debug.scripting.bisect_report",
    "Blame": "inductor_debug.kerneldiff.judging.diff_report",
    "CheckReport": "inductor_debug.scripting.check_report",
    "ComparisonConfig": "inductor_debug.kerneldiff.metrics.comparison_config",
    "CompilationResult": "inductor_debug.accelerators.adapter",
    "CompilerArtifact": "inductor_debug.accelerators.adapter",
    "CompilerStack": "inductor_debug.accelerators.capabilities",
    "DiffReport": "inductor_debug.kerneldiff.judging.diff_report",
    "Dimensions": "inductor_debug.accelerators.capabilities",
    "DtypeConstraint": "inductor_debug.accelerators.constraints",
    "Gpu": "inductor_debug.accelerators.gpu",
    "GpuPlatform": "inductor_debug.accelerators.gpu",
    "GuardInspector": "inductor_debug.capture.guards.guard_inspector",
    "GuardReport": "inductor_debug.rules.recording.guard_facts",
    "KernelDiffHarness": "inductor_debug.kerneldiff.harness",
    "MemoryConstraint": "inductor_debug.accelerators.constraints",
    "Metrics": "inductor_debug.kerneldiff.metrics.metrics",
    "NoSourceError": "inductor_debug.scripting.subjects",
    "NodeResult": "inductor_debug.kerneldiff.judging.diff_report",
    "NotCheckedError": "inductor_debug.scripting.check_report",
    "NumericsReport": "inductor_debug.scripting.numerics_report",
    "OperationSeen": "inductor_debug.accelerators.constraints",
    "OperatorLimit": "inductor_debug.accelerators.capabilities",
    "OrderFailedError": "inductor_debug.scripting.carrying_out",
    "ReproReport": "inductor_debug.scripting.repro_report",
    "ShapeConstraint": "inductor_debug.accelerators.constraints",
    "SideResult": "inductor_debug.kerneldiff.harness",
    "Speed": "inductor_debug.accelerators.capabilities",
    "StoredAs": "inductor_debug.accelerators.capabilities",
    "TensorComparison": "inductor_debug.kerneldiff.metrics.metrics",
    "TensorResult": "inductor_debug.kerneldiff.judging.diff_report",
    "TensorSeen": "inductor_debug.accelerators.constraints",
    "Verdict": "inductor_debug.kerneldiff.judging.diff_report",
    "aot_mock_backend": "inductor_debug.capture.script_backends.aot_mock_backend",
    "bisect": "inductor_debug.scripting.bisect_report",
    "check": "inductor_debug.scripting.check_report",
    "check_numerics": "inductor_debug.scripting.numerics_report",
    "compare_tensors": "inductor_debug.kerneldiff.metrics.tensor_comparison",
    "mock_backend": "inductor_debug.capture.script_backends.mock_backend",
    "reproduce": "inductor_debug.scripting.repro_report",
}
"""Public names and the modules that define them; `__init__.pyi` says the same to type checkers."""

_CALLED = {
    "load_ipython_extension": "inductor_debug.jupyter.extension",
    "unload_ipython_extension": "inductor_debug.jupyter.extension",
}
"""What IPython calls by name, and nobody else."""

__all__ = ["__version__", *_LAZY]  # noqa: PLE0604 - names of a table


def __getattr__(name: str) -> Any:
    """Loads a public name on first use (PEP 562)."""
    module = _LAZY.get(name) or _CALLED.get(name)
    if module is not None:
        return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
