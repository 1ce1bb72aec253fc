"""Whether code that Dynamo traces changes Python objects which were there before: the next call may not fit its graph.

Dynamo keeps a list of what it has to change after a graph has run: attributes, items, globals, variables of functions.
Private names, read against torch 2.11 to 2.14: `InstructionTranslator.current_tx`, `OutputGraph.side_effects`,
`SideEffects.id_to_variable`, `is_modified`, `store_attr_mutations`, and the classes of `mutation_type`, whose names end
in `Existing` for what was there before. Where one is gone, nothing is said to be changed.
"""

from __future__ import annotations

from typing import Any

_PLAIN = (int, float, complex, str, bytes, type(None))


def changes_what_was_there() -> bool:
    """Whether the code that is being compiled now leaves an object changed that it has not made itself.

    What it does to values of tensors does not count, nor an attribute that becomes a tensor: guards of tensors are
    about sizes and dtypes. An attribute that has in the end the plain value that it had is not changed.
    """
    from torch._dynamo import symbolic_convert
    from torch._dynamo.variables import TensorVariable

    try:
        effects: Any = symbolic_convert.InstructionTranslator.current_tx().output.side_effects
        there = [found for found in effects.id_to_variable.values() if _was_there(found)]
        stored = [(found, effects.store_attr_mutations.get(found)) for found in there if effects.is_modified(found)]
    except (AttributeError, AssertionError, TypeError):
        return False
    return any(
        not values
        or not all(
            isinstance(value, TensorVariable) or _is_as_before(of, name, value) for name, value in values.items()
        )
        for of, values in stored
    )


def _is_as_before(variable: Any, name: str, value: Any) -> bool:
    """Whether an attribute of an object has been given the plain value that it has."""
    from torch._dynamo.variables import ConstantVariable

    attributes = getattr(getattr(variable, "value", None), "__dict__", None)
    if type(value) is not ConstantVariable or type(attributes) is not dict or name not in attributes:
        return False
    before, after = attributes[name], value.value
    return type(before) is type(after) and isinstance(after, _PLAIN) and bool(before == after)


def _was_there(variable: Any) -> bool:
    return type(variable.mutation_type).__name__.endswith("Existing")
