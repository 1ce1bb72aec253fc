"""One side of a comparison, run once: forward, and backward where gradients are compared.

A target with several sets of inputs is called with each in turn, and nothing is put back in between: what the first
call leaves behind is what the second meets. What user code or a backend raises is a result (`SideRun.error`), never an
exception of ours. Inputs are cloned for every run; what becomes of them is part of the result.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import torch

from inductor_debug.capture.failures.failures import describe
from inductor_debug.capture.running.target import BuiltTarget, Call
from inductor_debug.kerneldiff.execution.higher_order import Mode
from inductor_debug.kerneldiff.execution.run_state import seed_everything
from inductor_debug.kerneldiff.execution.settled import settled
from inductor_debug.kerneldiff.execution.structure import Leaf, cloned, flatten, mapped, shares_memory, tensors_of

_COTANGENT_SEED = 20_071_205
"""Any number: cotangents must be the same on all sides, whatever the seed of the run."""


@dataclass
class SideRun:
    """What one run gave. `outputs` and `inputs` have a value for each call, `gradients` are named leaves.

    `inputs` are `(args, kwargs)` as the run left them, and `buffers` the module's by name.

    `error` is what it raised, and `phase` ("forward", "backward") when, in the call number `call` of `calls`.
    """

    calls: int
    outputs: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    gradients: list[Leaf] = field(default_factory=list)
    buffers: dict[str, torch.Tensor] = field(default_factory=dict)
    error: BaseException | None = None
    phase: str = ""
    call: int = 0
    seconds: float = 0.0

    @property
    def step(self) -> str:
        """When it raised, in words."""
        return self.phase if self.calls == 1 else f"{self.phase} of call {self.call + 1}"

    @property
    def complaint(self) -> str:
        """What it raised, in one line."""
        error = self.error
        # What a backend raises while it compiles comes wrapped by Dynamo; the cause says what happened.
        inner = getattr(error, "inner_exception", None)
        return "" if error is None else describe(inner if isinstance(inner, BaseException) else error)


def run_side(
    target: BuiltTarget,
    function: Callable[..., Any],
    *,
    seed: int,
    gradients: bool,
    prepare: Callable[[torch.Tensor], torch.Tensor] | None = None,
) -> SideRun:
    """Calls `function` on a clone of the target's inputs.

    Args:
        target: whose inputs and module are used; the caller restores its state afterwards.
        function: the target's function, compiled or not.
        seed: where random numbers start.
        gradients: run backward, from the same cotangents on every side.
        prepare: changes every input tensor first (a conversion to another precision).
    """
    calls = cloned(target.calls)
    if prepare is not None:
        calls = mapped(calls, prepare)
    leaves = _differentiable_inputs(calls) if gradients else {}
    passed = mapped(calls, lambda tensor: _passed(tensor, leaves))
    if gradients and target.module is not None:
        for parameter in target.module.parameters():
            parameter.grad = None
    seed_everything(seed)
    ran = SideRun(len(calls), inputs=passed)
    started = time.perf_counter()
    try:
        for ran.call, (args, kwargs) in enumerate(passed):
            ran.phase = "forward"
            with torch.set_grad_enabled(gradients or _may_train(target)):
                ran.outputs.append(settled(function(*args, **kwargs)))
            if gradients:
                ran.phase = "backward"
                _backward(ran.outputs[-1])
        if gradients:
            ran.gradients = _gradients(calls, leaves, target.module)
    except (Exception, SystemExit) as error:
        ran.error = error
    ran.seconds = time.perf_counter() - started
    ran.outputs = mapped(ran.outputs, torch.Tensor.detach)
    ran.inputs = settled(mapped(ran.inputs, torch.Tensor.detach))
    ran.buffers = _buffers(target.module)
    return ran


def of_call(name: str, index: int, calls: int) -> str:
    """What a result of the call number `index` is named."""
    return name if calls == 1 else f"call {index + 1}, {name}"


def computes(target: BuiltTarget, seed: int, around: Callable[[], AbstractContextManager[Any]]) -> bool:
    """Whether the target runs any operation on tensors in eager. The caller restores its state afterwards."""
    with around(), _Counting() as counting:
        run_side(target, counting.inside(target.function), seed=seed, gradients=False)
    return bool(counting.operations)


def cotangent(tensor: torch.Tensor, index: int) -> torch.Tensor:
    """What the gradient of output number `index` starts from: random multiples of 1/64 from -2 to 2.

    Every precision down to bfloat16 holds them exactly.
    """
    generator = torch.Generator().manual_seed(_COTANGENT_SEED + index)
    values = torch.randint(-128, 129, tensor.shape, generator=generator) / 64
    return values.to(device=tensor.device, dtype=tensor.dtype)


def _buffers(module: torch.nn.Module | None) -> dict[str, torch.Tensor]:
    """Copies: the buffers themselves are put back for the next run."""
    return {} if module is None else {name: cloned(buffer.detach()) for name, buffer in module.named_buffers()}


class _Counting(Mode):  # type: ignore[no-untyped-call]
    """Counts the operations of one function."""

    def __init__(self) -> None:
        super().__init__()
        self.operations, self._running = 0, False

    def inside(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, whose operations count."""

        def counted(*args: Any, **kwargs: Any) -> Any:
            self._running = True
            try:
                return function(*args, **kwargs)
            finally:
                self._running = False

        return counted

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.operations += self._running
        return func(*args, **(kwargs or {}))


def _may_train(target: BuiltTarget) -> bool:
    """Functions may call `backward` themselves; a model that is not trained cannot."""
    return target.training or not isinstance(target.function, torch.nn.Module)


def _differentiable_inputs(inputs: Any) -> dict[int, torch.Tensor]:
    """Floating-point inputs by identity, made leaves that require gradients; not those that share memory."""
    tensors = [tensor for tensor in tensors_of(inputs) if tensor.is_floating_point() or tensor.is_complex()]
    if shares_memory(inputs):
        return {id(tensor): tensor for tensor in tensors if tensor.requires_grad}
    return {id(tensor): tensor.detach().requires_grad_() for tensor in tensors}


def _passed(tensor: torch.Tensor, leaves: dict[int, torch.Tensor]) -> torch.Tensor:
    """What the model is given for an input: a copy of the leaf, so that the model may write to it."""
    leaf = leaves.get(id(tensor))
    return tensor if leaf is None else leaf.clone()


def _backward(outputs: Any) -> None:
    tensors = [tensor for tensor in tensors_of(outputs) if tensor.requires_grad]
    unique = list({id(tensor): tensor for tensor in tensors}.values())
    if unique:
        torch.autograd.backward(unique, [cotangent(tensor, index) for index, tensor in enumerate(unique)])


def _gradients(calls: list[Call], leaves: dict[int, torch.Tensor], module: torch.nn.Module | None) -> list[Leaf]:
    """The gradients that there are; None stands for those that no output depends on."""
    found: list[Leaf] = []
    for index, (args, kwargs) in enumerate(calls):
        for leaf in (*flatten(args, "args"), *flatten(kwargs, "kwargs")):
            if id(leaf.value) in leaves:
                name = of_call(f"grad of {leaf.path}", index, len(calls))
                found += flatten(settled(leaves[id(leaf.value)].grad), name)
    for name, parameter in () if module is None else module.named_parameters():
        if parameter.requires_grad:
            gradient = parameter.grad
            found.append(Leaf(f"grad of {name}", None if gradient is None else gradient.detach()))
    return found
