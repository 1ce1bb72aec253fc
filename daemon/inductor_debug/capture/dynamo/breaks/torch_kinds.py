"""What a graph break is to a user: by its kind in torch's registry, or by what was called.

The registry is a file of torch's (`_dynamo/graph_break_registry.json`, torch 2.11 to 2.13); without it no kind has an
id. `rules.words.break_kinds` says what the ids mean.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import torch
from inductor_debug_schema import BreakCause

from inductor_debug.capture.dynamo.breaks.callees import Callee
from inductor_debug.rules.words.break_kinds import CAUSES

RECOMPILE_LIMIT = "GB0039"
"""A function was compiled again too often."""
_USER_ERRORS: Mapping[str, BreakCause] = MappingProxyType({"DYNAMIC_CONTROL_FLOW": BreakCause.BRANCH})
"""Types of `torch._dynamo.exc.UserError`, which are in no registry."""

_MODULES: Mapping[BreakCause, tuple[str, ...]] = MappingProxyType(
    {
        BreakCause.LOGGING: ("logging", "loguru"),
        BreakCause.WARNING: ("warnings", "_warnings"),
        BreakCause.CLOCK: ("time", "datetime", "_datetime", "timeit"),
        BreakCause.RANDOM: ("random", "_random", "secrets", "uuid", "torch.random", "numpy.random"),
        BreakCause.DEBUGGER: ("pdb", "bdb", "ipdb", "pudb"),
        BreakCause.INSPECTION: ("inspect", "traceback", "sys", "gc", "dis"),
        BreakCause.FILE: (
            "io", "_io", "os", "posix", "nt", "posixpath", "ntpath", "pathlib", "shutil", "tempfile", "pickle",
            "_pickle", "torch.serialization",
        ),
        BreakCause.NUMPY: ("numpy",),
        BreakCause.TORCHSCRIPT: ("torch.jit",),
        BreakCause.AUTOGRAD: ("torch.autograd",),
        BreakCause.RECURRENT: ("torch.nn.modules.rnn",),
    }
)  # fmt: skip
"""Modules whose functions have one reason why they cannot be traced."""
_BUILTINS: Mapping[BreakCause, tuple[str, ...]] = MappingProxyType(
    {
        BreakCause.PRINT: ("print",),
        BreakCause.DEBUGGER: ("breakpoint",),
        BreakCause.FILE: ("open", "input"),
        BreakCause.INSPECTION: ("eval", "exec", "compile", "dir", "globals", "locals", "vars"),
        BreakCause.VALUE: ("float", "int", "complex", "bool", "str", "repr", "format", "round", "str.format"),
    }
)
_TENSOR_METHODS: Mapping[BreakCause, tuple[str, ...]] = MappingProxyType(
    {
        BreakCause.VALUE: ("item", "tolist", "__float__", "__int__", "__bool__", "__index__", "__format__"),
        BreakCause.NUMPY: ("numpy", "__array__"),
        BreakCause.AUTOGRAD: ("backward", "requires_grad_", "retain_grad"),
        BreakCause.HOOK: ("register_hook", "register_post_accumulate_grad_hook"),
    }
)
_TENSORS = ("torch", "torch._tensor", "torch._C")
_OF_ANY_CALL = frozenset({BreakCause.METHOD, BreakCause.VALUE, None})
"""Causes that say less than a look at what was called."""


def id_of(kind: str) -> str:
    """The registry's id of a kind by torch's name for it (`GB0124`); empty where it has none."""
    return _registry().get(kind, "")


def cause_of(kind: str, callee: Callee | None) -> BreakCause:
    """What a break is to the user.

    Args:
        kind: torch's name for the kind.
        callee: what was being called, where something was.
    """
    cause = CAUSES.get(id_of(kind)) or _USER_ERRORS.get(kind)
    if cause not in _OF_ANY_CALL:
        return cause or BreakCause.OTHER
    called = _cause_of_callee(callee) if callee is not None else None
    if called is not None:
        return called
    if cause is not None or callee is None or not callee.name:
        return cause or BreakCause.OTHER
    return BreakCause.SKIPPED if callee.python else BreakCause.COMPILED_CODE


def cause_of_module(name: str) -> BreakCause | None:
    """Why functions of a module cannot be traced, where all of them have one reason."""
    for cause, modules in _MODULES.items():
        if any(name == module or name.startswith(f"{module}.") for module in modules):
            return cause
    return None


def _cause_of_callee(callee: Callee) -> BreakCause | None:
    if callee.module == "builtins":
        return _named(callee.name, _BUILTINS)
    owner, _, method = callee.name.rpartition(".")
    if callee.module in _TENSORS and owner.endswith(("Tensor", "TensorBase", "Parameter")):
        return _named(method, _TENSOR_METHODS)
    return cause_of_module(callee.module)


def _named(name: str, table: Mapping[BreakCause, tuple[str, ...]]) -> BreakCause | None:
    return next((cause for cause, names in table.items() if name in names), None)


@lru_cache(maxsize=1)
def _registry() -> dict[str, str]:
    """Ids by every name that a kind has had."""
    try:
        text = (Path(torch.__file__).parent / "_dynamo" / "graph_break_registry.json").read_text(encoding="utf-8")
        return {version["Gb_type"]: number for number, versions in json.loads(text).items() for version in versions}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
