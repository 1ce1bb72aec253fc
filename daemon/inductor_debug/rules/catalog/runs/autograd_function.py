"""The page of `autograd-function`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class AutogradFunctionRule(RunRule):
    """A custom autograd function whose backward does not fit its forward."""

    id = "autograd-function"
    summary = "The backward of a custom autograd function is not the derivative of its forward."
    what = """
        `check --stages preview,gradients` looks at each `torch.autograd.Function` of the project that a target calls.
        It is called again on small random tensors in float64, and what its `backward` gives for each argument is held
        against a central difference of its `forward` along random directions, as `torch.autograd.gradcheck` does. The
        finding stands at the expression that is returned for the argument, and says whether the gradient is missing,
        a multiple of the derivative (and which), or something else.

        It is a note where `forward` is piecewise constant (`round`, `sign`) and `backward` gives a gradient all the
        same, and where the context keeps a tensor as an attribute, which every check sees. Functions of libraries are
        not looked at, nor those that do not run in float64, which the stage's notes name."""
    why = """
        Nothing raises when a gradient is wrong: the model trains, to something worse. Tensors that hang on the context
        outlive their graph, and nothing notices when they are changed in place before the backward pass."""
    example = """
        ```python
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                return grad * 4 * x      # twice the derivative
        ```"""
    fix = """
        Return the derivative, one value for each argument of `forward`. Keep tensors that are given or returned with
        `ctx.save_for_backward(x)` and read `ctx.saved_tensors`. Where the gradient is meant to be another one
        (gradient reversal, straight-through), say so: `# inductor-debug: ignore[autograd-function]`."""
