"""What each kind of graph break of torch's registry is to a user, by the registry's ids.

The ids stay when torch rewords a kind, and versions add some: what is not here is judged by what was called, and else
told in torch's words. The registry is a file of torch's (`_dynamo/graph_break_registry.json`, torch 2.11 to 2.13);
without it no kind has an id.
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

RECOMPILE_LIMIT = "GB0039"
"""A function was compiled again too often."""
_PAGES = "https://meta-pytorch.github.io/compile-graph-break-site/gb/"
_IDS: Mapping[BreakCause, str] = MappingProxyType(
    {
        BreakCause.LOGGING: "0291",
        BreakCause.BRANCH: "0034 0035 0170 0171 0360",
        BreakCause.VALUE: "0033 0048 0070 0109 0124 0213 0218 0569 7596",
        BreakCause.SIZE: "0036 0037 0038 0246",
        BreakCause.NUMPY: "0105 0106 0157 0158 0159 0185 0231 0232 0250 0290 0293 0294 0300",
        BreakCause.RANDOM: "0107 0297 0298 7650",
        BreakCause.INSPECTION: "0151 9625",
        BreakCause.METHOD: "0117 0156 0255 0261 6270",
        BreakCause.DISABLED: "0098 0099",
        BreakCause.REQUESTED: "0025 0030 0269 0275 0284 4297 4636",
        BreakCause.CONTEXT_MANAGER: "0066 0142 0209 0212 0221 0262 0263 0274 0279 0370 2533",
        BreakCause.GENERATOR: "0003 0024 0094 0120 0253 2549 8335",
        BreakCause.EXCEPTION: "0028 0050 0051 0057 0088 0089 0095 0111 0135 0273",
        BreakCause.AUTOGRAD: (
            "0045 0046 0104 0108 0123 0125 0181 0206 0371 0372 0373 0442 1042 1140 1381 1724 4927 5748 6663 7054 7299 "
            "7324 8985 9186"
        ),
        BreakCause.AUTOGRAD_FUNCTION: "0019 0085 0138 0139 0140 0144 0145 0346 0347 0348 0352 2019 2464 4372 6297",
        BreakCause.HOOK: "0013 0029 0083 0100 0101 7444",
        BreakCause.MUTATION: (
            "0056 0058 0072 0097 0126 0127 0128 0129 0131 0189 0198 0220 0271 0358 1177 3241 3697 4271"
        ),
        BreakCause.CONTROL_FLOW: (
            "0040 0041 0042 0067 0073 0074 0301 0302 0303 0304 0305 0306 0307 0308 0309 0310 0311 0312 0313 0314 0315 "
            "0316 0317 0318 0319 0320 0321 0322 0323 0324 0325 0326 0339 0340 0341 0342 0343 0350 0351 4413"
        ),
        BreakCause.TORCHSCRIPT: "0265 0266 0267 0357 2977 4695",
        BreakCause.SPECIAL_TENSOR: "0001 0015 0016 0044 0103 0163 0164 0233 0245 0277 0374 1501",
        BreakCause.RECURRENT: "0014",
        BreakCause.OTHER: "0064 0087 0090 0179 4198",
    }
)
_CAUSES = {f"GB{number}": cause for cause, numbers in _IDS.items() for number in numbers.split()}
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


def page_of(registry_id: str) -> str | None:
    """The address of torch's page on a kind of break."""
    return f"{_PAGES}{registry_id.lower()}.html" if registry_id else None


def cause_of(kind: str, callee: Callee | None) -> BreakCause:
    """What a break is to the user.

    Args:
        kind: torch's name for the kind.
        callee: what was being called, where something was.
    """
    cause = _CAUSES.get(id_of(kind)) or _USER_ERRORS.get(kind)
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
