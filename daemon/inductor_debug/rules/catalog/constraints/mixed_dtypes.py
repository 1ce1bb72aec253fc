"""The rule `mixed-dtypes`: operands that torch itself refuses to combine, which fake tensors let pass."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import Severity

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.ops import Op, TensorArgument


class MixedDtypesRule(Constraint):
    """Finds ops that get tensors of different dtypes where torch wants one."""

    id = "mixed-dtypes"
    order = 7
    judges_accelerator = False
    summary = "An op gets tensors of different dtypes where torch wants one."
    what = """
        Most ops convert operands of different dtypes to a common one. Matrix multiplications, norms and indexed writes
        do not: torch refuses them when they run on real tensors ("mat1 and mat2 must have the same dtype"). The finding
        stands at the expression that runs such an op."""
    why = """
        The model fails in its first step, on every device. Shapes and dtypes alone do not show it: tracing and
        compiling such a model succeed, because neither touches data."""
    example = """
        ```python
        self.linear = nn.Linear(64, 64)   # float32 weights
        y = self.linear(x.half())         # the finding stands here
        ```"""
    fix = """
        Convert one side: leave the activation in the dtype of the weights, or convert the module
        (`self.linear.half()`). To mix precisions on purpose, run the code under `torch.autocast`, which converts the
        operands."""

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Every op with operands that differ is a root, but for those fed by one: there the run has ended."""
        never_made: set[int] = set()
        for op in run.recording.ops:
            dtypes = _dtypes(op)
            if any(tensor.value in never_made for tensor in op.inputs):
                never_made.update(tensor.value for tensor in op.outputs)
            elif not operators.may_mix(op.overload, dtypes):
                never_made.update(tensor.value for tensor in op.outputs)
                packet = op.packet.removesuffix("_")
                given = wording.listing(list(dict.fromkeys(dtypes)))
                subject = f"{packet} wants operands of one dtype and gets {given}"
                roots.of_op(op, subject, Severity.ERROR).cover(op)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """Which op gets which dtypes."""
        return f"{found[0].subject}; torch refuses this on every device."


def _dtypes(op: Op) -> list[str]:
    """The dtypes of those operands that must be alike."""
    given = [op.arguments.get(name) for name in operators.of_one_dtype(op.overload)]
    return [op.inputs[item.index].dtype for item in given if isinstance(item, TensorArgument)]
