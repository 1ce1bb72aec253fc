"""Whether code that Dynamo traces changes Python objects which were there before: the next call may not fit its graph.

Dynamo keeps a list of what it has to change after a graph has run: attributes, items, globals, variables of functions.
Private names, read against torch 2.11 to 2.14: `InstructionTranslator.current_tx`, `OutputGraph.side_effects`,
`SideEffects.id_to_variable`, `is_modified`, `store_attr_mutations`, and the classes of `mutation_type`, whose names end
in `Existing` for what was there before. Where one is gone, nothing is said to be changed.
"""

from __future__ import annotations

from typing import Any


def changes_what_was_there() -> bool:
    """Whether the code that is being compiled now leaves an object changed that it has not made itself.

    What it does to values of tensors does not count, nor an attribute that becomes a tensor: guards of tensors are
    about sizes and dtypes.
    """
    from torch._dynamo import symbolic_convert
    from torch._dynamo.variables import TensorVariable

    try:
        effects: Any = symbolic_convert.InstructionTranslator.current_tx().output.side_effects
        there = [found for found in effects.id_to_variable.values() if _was_there(found)]
        stored = [effects.store_attr_mutations.get(found) for found in there if effects.is_modified(found)]
    except (AttributeError, AssertionError, TypeError):
        return False
    return any(not values or not all(isinstance(v, TensorVariable) for v in values.values()) for values in stored)


def _was_there(variable: Any) -> bool:
    return type(variable.mutation_type).__name__.endswith("Existing")
