"""What methods and functions of torch do to a tracked value's shape, as steps that can be undone."""

from __future__ import annotations

import ast

from inductor_debug.capture.inference.specs.specs import TensorSpec
from inductor_debug.capture.inference.usage import expression_kinds as read
from inductor_debug.capture.inference.usage.local_names import FunctionScope
from inductor_debug.capture.inference.usage.shape_steps import ShapeStep, undone
from inductor_debug.capture.inference.usage.torch_operators import CASTS, METHODS_OF_RANK, SAME_SHAPE
from inductor_debug.capture.inference.usage.usage import Tracked


class ShapeChanges(FunctionScope):
    """The part of `values.Values` that knows what becomes of shapes; it evaluates no expression."""

    def rank(self, tracked: Tracked, rank: int, *, exact: bool, names: list[str] | None = None) -> None:
        """Takes down how many dimensions a value has, as far as its steps can be undone."""
        spec = TensorSpec(tuple(f"?{index}" for index in range(rank)))
        for earlier in undone(spec, tracked.steps)[:1]:
            usage = tracked.usage
            usage.role("tensor")
            if exact:
                usage.ranks.append(len(earlier.dims))
                if names and not tracked.steps:
                    usage.names = dict(enumerate(names))
            usage.minimum = max(usage.minimum, len(earlier.dims))

    def joined(self, parts: list[Tracked | None], node: ast.Call) -> Tracked | None:
        """What `cat` gives: the first argument in it, the others being its peers."""
        found = [part for part in parts if part is not None]
        if not found:
            return None
        numbers = read.dimensions("cat", node.args[1:], node.keywords)
        step = ShapeStep("share", (len(parts), numbers[0] if len(numbers) == 1 else 0))
        first, *others = [part.after(step) for part in found]
        return Tracked(first.usage, first.steps, (*first.peers, *others))

    def shape_change(
        self, tracked: Tracked, name: str, arguments: list[ast.expr], keywords: list[ast.keyword]
    ) -> Tracked | None:
        """What a function or method of torch's does to a tensor's shape."""
        numbers = read.dimensions(name, arguments, keywords)
        if name in METHODS_OF_RANK and numbers:
            self.rank(tracked, max(number + 1 if number >= 0 else -number for number in numbers), exact=False)
        tracked.usage.cast = tracked.usage.cast or name in CASTS
        if name in SAME_SHAPE:
            return tracked
        if name == "pad":
            return tracked.after(ShapeStep("mapped"))
        if name in ("transpose", "swapaxes") and len(numbers) == 2:
            return tracked.after(ShapeStep("swap", tuple(numbers)))
        if name == "t":
            return tracked.after(ShapeStep("swap", (0, 1)))
        if name == "permute" and len(numbers) > 1:
            self.rank(tracked, len(numbers), exact=True)
            return tracked.after(ShapeStep("permute", tuple(numbers)))
        if name == "unsqueeze" and len(numbers) == 1:
            return tracked.after(ShapeStep("insert", tuple(numbers)))
        if name == "squeeze" and len(numbers) == 1:
            return tracked.after(ShapeStep("squeeze", tuple(numbers)))
        if name in ("expand", "repeat") and len(arguments) > 1 and read.integer(arguments[0]) in (-1, 1):
            self.rank(tracked, len(arguments), exact=True)
            return None
        if name == "flatten" and (not numbers or numbers == [1]) and numbers:
            return tracked.after(ShapeStep("flatten", (1,)))
        if name in ("view", "reshape"):
            if read.is_flattening(arguments):
                return tracked.after(ShapeStep("flatten", (1,)))
            if read.is_folding(arguments):
                return tracked.after(ShapeStep("fold"))
            if len(arguments) == 4 and not {step.kind for step in tracked.steps} - {"mapped"}:
                tracked.usage.likely.append(3)
            return None
        if name in ("mean", "sum", "amax", "amin", "max", "min", "norm", "std", "var") and numbers:
            keeps = any(item.arg == "keepdim" for item in keywords)
            steps = (
                [ShapeStep("cut", (number,)) for number in numbers] if keeps else [ShapeStep("remove", tuple(numbers))]
            )
            return tracked.after(*steps)
        return None
