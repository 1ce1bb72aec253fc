"""How a person would write a step: `scores.to(torch.float64)` where the recording says `aten._to_copy.default`.

Every spelling is tried before it is used: it must run the very operator that was recorded, and nothing else, on fake
tensors of the recorded shapes. What nobody would write, or what turns out to mean something else, stays a call of
`torch.ops`. Private `FakeTensorMode` as in `capture.tensors.fake_mode`, torch 2.11 to 2.13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.repro.program.literals import arguments, source_of
from inductor_debug.repro.program.program import CodeText, Program, ProgramStep, Ref, Spec, StepKind, refs
from inductor_debug.repro.program.program_execution import dtype_of

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mm": "@", "bmm": "@", "eq": "==", "ne": "!=", "lt": "<",
          "le": "<=", "gt": ">", "ge": ">=", "bitwise_and": "&", "bitwise_or": "|", "matmul": "@"}  # fmt: skip
_METHODS = frozenset({
    "view", "transpose", "permute", "expand", "unsqueeze", "squeeze", "t", "select", "detach", "contiguous", "repeat",
    "reshape", "clone", "index_select", "masked_fill", "split", "chunk", "unbind", "fill_", "copy_", "zero_",
    "add_", "mul_", "sub_", "div_", "unfold", "as_strided",
})  # fmt: skip
_FACTORIES = frozenset({"zeros", "ones", "empty", "full", "arange", "rand", "randn", "randint", "linspace", "eye"})


@dataclass(frozen=True, slots=True)
class PrintedStep:
    """The right-hand side of a line. `single` says that it gives the first output alone, not a sequence of them."""

    text: str
    single: bool


def printed(step: ProgramStep, program: Program) -> PrintedStep:
    """The line for `step`, which gives what the step gives.

    Raises:
        UnprintableError: an argument has no form as Python code.
    """
    text = _text(step, program)
    return PrintedStep(text, step.single or text.startswith("functional.layer_norm("))


def assignment(step: ProgramStep) -> str:
    """`x[0] = 1` for an item that is set and whose result nobody uses; "" for other steps."""
    if step.target.rsplit(".", 1)[-1] != "setitem" or len(step.args) != 3:
        return ""
    return f"{_operand(step.args[0])}[{_index(step.args[1])}] = {source_of(step.args[2])}"


def _text(step: ProgramStep, program: Program) -> str:
    plain = f"torch.ops.{step.target}({arguments(step.args, step.kwargs)})"
    if step.kind is StepKind.FUNCTION:
        return _function(step)
    if step.kind is StepKind.METHOD:
        return f"{_operand(step.args[0])}.{step.target}({arguments(step.args[1:], step.kwargs)})"
    if not step.target.startswith("aten."):
        return plain
    specs = {ref.name: program.spec_of(ref.name) for ref in refs((step.args, step.kwargs))}
    if any(spec is None for spec in specs.values()):
        return plain
    for text in _candidates(step):
        if _means(text, step, specs):
            return text
    return plain


def _function(step: ProgramStep) -> str:
    name = _SHORT.get(step.target, step.target)
    symbol = _OPERATORS.get(name)
    if symbol is not None and len(step.args) == 2 and not step.kwargs:
        return f"{_operand(step.args[0])} {symbol} {_operand(step.args[1])}"
    if name == "operator.getitem" and len(step.args) == 2:
        return f"{_operand(step.args[0])}[{_index(step.args[1])}]"
    if name == "operator.neg" and len(step.args) == 1:
        return f"-{_operand(step.args[0])}"
    if name.startswith("torch.nn.functional."):
        name = name.removeprefix("torch.nn.")
    elif name.startswith("torch._C._nn.") and hasattr(torch.nn.functional, name.rsplit(".", 1)[1]):
        name = "functional." + name.rsplit(".", 1)[1]
    return f"{name}({arguments(step.args, step.kwargs)})"


_SHORT = {"_operator." + name: "operator." + name for name in ("getitem", "neg", "add", "sub", "mul", "truediv")}
_OPERATORS = {f"operator.{name}": symbol for name, symbol in {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "and_": "&", "or_": "|", "xor": "^", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "iadd": "+", "imul": "*", "isub": "-",
}.items() if name[0] != "i"}  # fmt: skip


def _index(value: Any) -> str:
    if isinstance(value, tuple) and value:
        return ", ".join(_index(item) for item in value)
    if isinstance(value, CodeText) and value.text.startswith("slice("):
        parts = [part.strip() for part in value.text[6:-1].split(",")]
        if len(parts) == 3 and all("(" not in part for part in parts):
            shown = ["" if part == "None" else part for part in parts]
            return f"{shown[0]}:{shown[1]}" + (f":{shown[2]}" if shown[2] else "")
    return value.text if isinstance(value, CodeText) else source_of(value)


def _operand(value: Any) -> str:
    text = source_of(value)
    return f"({text})" if text.startswith("-") else text


def _candidates(step: ProgramStep) -> Iterator[str]:
    """Spellings from the most to the least usual one."""
    packet = step.target.removeprefix("aten.").rsplit(".", 1)[0]
    inside = arguments(step.args, step.kwargs)
    keywords = dict(step.kwargs)
    first = source_of(step.args[0]) if step.args and isinstance(step.args[0], Ref) else ""
    rest = arguments(step.args[1:], step.kwargs)
    if packet in _INFIX and len(step.args) == 2 and not step.kwargs:
        yield f"{_operand(step.args[0])} {_INFIX[packet]} {_operand(step.args[1])}"
    if packet == "_to_copy" and first:
        if set(keywords) == {"dtype"}:
            yield f"{first}.to({source_of(keywords['dtype'])})"
        yield f"{first}.to({arguments((), step.kwargs)})"
    special = _SPECIAL.get(packet)
    if special is not None:
        yield from special(step)
    if packet in _METHODS and first:
        yield f"{first}.{packet}({rest})"
    if packet in _FACTORIES or hasattr(torch, packet):
        yield f"torch.{packet}({inside})"
    if hasattr(torch.nn.functional, packet):
        yield f"functional.{packet}({inside})"
    if first and hasattr(torch.Tensor, packet):
        yield f"{first}.{packet}({rest})"


def _softmax(step: ProgramStep) -> Iterator[str]:
    name = step.target.removeprefix("aten._").split(".")[0]
    yield f"torch.{name}({source_of(step.args[0])}, dim={source_of(step.args[1])})"


def _layer_norm(step: ProgramStep) -> Iterator[str]:
    if not any(step.outputs[1:]):
        yield f"functional.layer_norm({arguments(step.args, ())})"


def _embedding(step: ProgramStep) -> Iterator[str]:
    yield f"functional.embedding({source_of(step.args[1])}, {source_of(step.args[0])})"


def _convolution(step: ProgramStep) -> Iterator[str]:
    if len(step.args) != 9:
        return
    x, weight, bias, stride, padding, dilation, transposed, extra, groups = step.args
    rank = len(stride) if isinstance(stride, list) else 0
    tail = f"groups={groups}"
    if transposed:
        yield (
            f"functional.conv_transpose{rank}d({arguments((x, weight, bias, stride, padding), ())}, "
            f"output_padding={source_of(extra)}, {tail}, dilation={source_of(dilation)})"
        )
    else:
        yield f"functional.conv{rank}d({arguments((x, weight, bias, stride, padding, dilation), ())}, {tail})"


def _slice(step: ProgramStep) -> Iterator[str]:
    if 2 <= len(step.args) <= 4 and isinstance(step.args[1], int) and step.args[1] >= 0 and not step.kwargs:
        begin = step.args[2] if len(step.args) > 2 else None
        end = step.args[3] if len(step.args) > 3 else None
        shown = begin or "", "" if end is None or end >= 1 << 62 else end
        yield f"{source_of(step.args[0])}[{':, ' * step.args[1]}{shown[0]}:{shown[1]}]"


def _prelu(step: ProgramStep) -> Iterator[str]:
    yield f"functional.prelu({arguments(step.args, ())})"


_SPECIAL: dict[str, Callable[[ProgramStep], Iterator[str]]] = {
    "_softmax": _softmax,
    "_log_softmax": _softmax,
    "native_layer_norm": _layer_norm,
    "embedding": _embedding,
    "convolution": _convolution,
    "slice": _slice,
    "_prelu_kernel": _prelu,
}


class _Heard(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The operators that run, in order."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operators: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace != "prim":
            self.operators.append(str(func))
        return func(*args, **(kwargs or {}))


def _means(text: str, step: ProgramStep, specs: dict[str, Spec | None]) -> bool:
    """Whether `text` runs the step's operator, nothing else, and gives what was recorded."""
    heard = _Heard()
    try:
        with quiet(), FakeTensorMode(), torch.no_grad():
            values = {
                name: torch.empty_strided(spec.shape, spec.stride, dtype=dtype_of(spec.dtype))
                for name, spec in specs.items()
                if spec is not None
            }
            with heard:
                result = eval(text, {"torch": torch, "functional": torch.nn.functional, **values})
    except Exception:
        # Of an operator that is known to raise, it is enough that it is reached.
        return heard.operators == [step.target] and step.specs == (None,)
    if heard.operators != [step.target]:
        return False
    if not any(step.outputs):
        return True
    if isinstance(result, torch.Tensor) is not (step.single or step.target.startswith("aten.native_layer_norm")):
        return False
    found = [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]
    return all(
        spec is None or tuple(tensor.shape) == spec.shape for tensor, spec in zip(found, step.specs, strict=False)
    )
