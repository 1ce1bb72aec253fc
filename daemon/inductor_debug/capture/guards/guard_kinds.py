"""Which guards say something about the user's code, and which only keep torch's own books.

A compiled model of a few layers has dozens of guards; three quarters of them hold unless somebody exchanges a module,
registers a hook or changes a global setting of torch. Kinds are the names of `GuardBuilder`'s methods in torch 2.11 to
2.13; one that is not known here counts as the user's.
"""

from __future__ import annotations

import re

_BOOKKEEPING_KINDS = frozenset(
    {
        "AUTOGRAD_SAVED_TENSORS_HOOKS",
        "BUILTIN_MATCH",
        "CLASS_MATCH",
        "CLOSURE_MATCH",
        "DEFAULT_DEVICE",
        "DETERMINISTIC_ALGORITHMS",
        "DICT_VERSION",
        "DISPATCH_KEY_SET_MATCH",
        "EMPTY_NN_MODULE_HOOKS_DICT",
        "FSDP_TRAINING_STATE",
        "FUNCTION_MATCH",
        "FUNCTORCH_STACK_MATCH",
        "GLOBAL_STATE",
        "GRAD_MODE",
        "MODULE_MATCH",
        "NN_MODULE",
        "NOT_PRESENT_IN_GENERIC_DICT",
        "OBJECT_ALIASING",
        "SHAPE_ENV",
        "TORCH_FUNCTION_STATE",
        "TYPE_MATCH",
        "WEAKREF_ALIVE",
    }
)
_INNER = re.compile(
    r"\._(?:parameters|buffers|modules|(?:forward|backward|state_dict|load_state_dict)\w*hooks\w*)\b"
    r"|\b__(?:dict|class|code|closure|defaults|kwdefaults|globals|builtins|func|self)__"
    r"|^G\['__(?:import|builtins)_"
    r"|^G\['torch'\]"
)
"""Sources inside modules, functions and torch, which users do not mean to change between calls."""


def is_bookkeeping(kind: str, source: str) -> bool:
    """Whether a guard of `kind` on `source` (as torch writes it) is torch's own affair."""
    return kind in _BOOKKEEPING_KINDS or (_INNER.search(source) is not None and not source.endswith(".training"))
