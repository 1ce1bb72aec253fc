"""The public names with their types, for type checkers; at run time `__init__.py` loads each on first use."""

from inductor_debug.accelerators.adapter import AcceleratorAdapter as AcceleratorAdapter
from inductor_debug.accelerators.adapter import AcceleratorCapabilities as AcceleratorCapabilities
from inductor_debug.accelerators.adapter import CompilationResult as CompilationResult
from inductor_debug.accelerators.adapter import CompilerArtifact as CompilerArtifact
from inductor_debug.accelerators.capabilities import Alignment as Alignment
from inductor_debug.accelerators.capabilities import ArithmeticFormats as ArithmeticFormats
from inductor_debug.accelerators.capabilities import CompilerStack as CompilerStack
from inductor_debug.accelerators.capabilities import Dimensions as Dimensions
from inductor_debug.accelerators.capabilities import OperatorLimit as OperatorLimit
from inductor_debug.accelerators.capabilities import Speed as Speed
from inductor_debug.accelerators.capabilities import StoredAs as StoredAs
from inductor_debug.accelerators.constraints import AcceleratorConstraint as AcceleratorConstraint
from inductor_debug.accelerators.constraints import DtypeConstraint as DtypeConstraint
from inductor_debug.accelerators.constraints import MemoryConstraint as MemoryConstraint
from inductor_debug.accelerators.constraints import OperationSeen as OperationSeen
from inductor_debug.accelerators.constraints import ShapeConstraint as ShapeConstraint
from inductor_debug.accelerators.constraints import TensorSeen as TensorSeen
from inductor_debug.accelerators.gpu import Gpu as Gpu
from inductor_debug.accelerators.gpu import GpuPlatform as GpuPlatform
from inductor_debug.capture.guards.guard_inspector import GuardInspector as GuardInspector
from inductor_debug.capture.script_backends.aot_mock_backend import aot_mock_backend as aot_mock_backend
from inductor_debug.capture.script_backends.mock_backend import mock_backend as mock_backend
from inductor_debug.kerneldiff.harness import KernelDiffHarness as KernelDiffHarness
from inductor_debug.kerneldiff.harness import SideResult as SideResult
from inductor_debug.kerneldiff.judging.diff_report import Blame as Blame
from inductor_debug.kerneldiff.judging.diff_report import DiffReport as DiffReport
from inductor_debug.kerneldiff.judging.diff_report import NodeResult as NodeResult
from inductor_debug.kerneldiff.judging.diff_report import TensorResult as TensorResult
from inductor_debug.kerneldiff.judging.diff_report import Verdict as Verdict
from inductor_debug.kerneldiff.metrics.comparison_config import ComparisonConfig as ComparisonConfig
from inductor_debug.kerneldiff.metrics.metrics import Metrics as Metrics
from inductor_debug.kerneldiff.metrics.metrics import TensorComparison as TensorComparison
from inductor_debug.kerneldiff.metrics.tensor_comparison import compare_tensors as compare_tensors
from inductor_debug.rules.recording.guard_facts import GuardReport as GuardReport
from inductor_debug.scripting.bisect_report import BisectReport as BisectReport
from inductor_debug.scripting.bisect_report import bisect as bisect
from inductor_debug.scripting.carrying_out import OrderFailedError as OrderFailedError
from inductor_debug.scripting.repro_report import ReproReport as ReproReport
from inductor_debug.scripting.repro_report import reproduce as reproduce
from inductor_debug.scripting.subjects import NoSourceError as NoSourceError

__version__: str
