"""What is wrong with a custom autograd function, in one plain sentence, from the facts. Needs no torch."""

from __future__ import annotations

from inductor_debug_schema import FunctionGradient, GradientFault


def sentence_of(facts: FunctionGradient) -> str:
    """The finding's sentence."""
    backward, name = f"`{facts.autograd_function}.backward`", f"`{facts.argument}`"
    match facts.gradient_fault:
        case GradientFault.MISSING:
            return f"{backward} gives no gradient for {name}, on which `forward` depends."
        case GradientFault.MULTIPLE:
            factor = f"{facts.factor:.4g}" if facts.factor is not None else "several"
            return f"{backward} gives {factor} times the derivative of `forward` for {name}."
        case GradientFault.WRONG:
            return f"What {backward} gives for {name} is not the derivative of `forward`."
        case GradientFault.STRAIGHT_THROUGH:
            return (
                f"{backward} gives a gradient for {name}, of which the result of `forward` does not depend smoothly: "
                "right for a straight-through estimator, and for nothing else."
            )
        case GradientFault.KEPT:
            return (
                f"`{facts.autograd_function}` keeps a tensor that it is given or gives as `{facts.argument}` of its "
                "context: it belongs into `save_for_backward`, which sees changes in place and frees its memory."
            )
