"""Stand-ins for operators that torch alone does not have: a script must run where the user's library is not.

A stand-in has the schema of the real operator and gives results of the recorded shapes. It computes nothing that means
anything, which is enough where the operator itself is what is complained of. Where the real one is there, no stand-in
can be defined, so such a script is not tried in the process that made it.
"""

from __future__ import annotations

from inductor_debug.repro.program.bodies import all_steps
from inductor_debug.repro.program.from_recording import operator
from inductor_debug.repro.program.program import Program, ProgramStep, Ref, Spec, StepKind, row_major

_OWN = frozenset({"aten", "prims", "prim", "quantized", "mkldnn", "_c10d_functional"})


def stand_ins(program: Program) -> list[str]:
    """Definitions for the script, one for each operator that is not torch's own."""
    found: dict[str, ProgramStep] = {}
    for step in all_steps(program):
        if step.kind is StepKind.OPERATOR and step.target.split(".")[0] not in _OWN:
            found.setdefault(step.target, step)
    return [_definition(step) for step in found.values()]


def is_foreign(program: Program) -> bool:
    """Whether the program runs operators that are not torch's own."""
    return bool(stand_ins(program))


def _made(maker: str, spec: Spec) -> str:
    if spec.stride == row_major(spec.shape):
        return f"{maker}zeros({spec.shape}, dtype=torch.{spec.dtype})"
    return f"{maker}empty_strided({spec.shape}, {spec.stride}, dtype=torch.{spec.dtype}).zero_()"


def _definition(step: ProgramStep) -> str:
    namespace, packet, overload = step.target.split(".", 2)
    name = packet if overload == "default" else f"{packet}.{overload}"
    schema = str(getattr(operator(step.target), "_schema", f"{namespace}::{name}() -> ()")).split("::", 1)[1]
    # On the device of an argument, so that fake tensors give fake ones.
    first = next((f"args[{index}].new_" for index, item in enumerate(step.args) if isinstance(item, Ref)), "torch.")
    made = [_made(first, spec) for spec in step.specs if isinstance(spec, Spec)]
    result = made[0] if step.single and made else f"({', '.join(made)}{',' if len(made) == 1 else ''})"
    identifier = f"{namespace}_{packet}".replace(".", "_")
    return "\n".join(
        [
            f"# {namespace}::{name} is not torch's own: this stand-in has its schema, and gives tensors of its shapes.",
            f'{identifier}_library = torch.library.Library("{namespace}", "FRAGMENT")',
            f'{identifier}_library.define("{schema}")',
            "",
            "",
            f"def {identifier}(*args, **kwargs):",
            f"    return {result}",
            "",
            "",
            f'{identifier}_library.impl("{name}", {identifier}, "CompositeExplicitAutograd")',
        ]
    )
