"""Every architecture of the installed transformers, as the source of a small file that builds it with two layers.

Run with a regular expression (of the names of its classes; empty for all) and how many at most (0 for all); prints one
JSON object, `{"architectures": [{"name", "text", "deeper", "error", "forward"}]}`. `text` has all layers where it
cannot be built with two; `deeper` are files with more, the last one with all. `error` says why none can be built, which
is learned by building it: on the meta device, and where that refuses, really, in a process of bounded memory and time.
`forward` is whether it has one: without, no input is right.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import warnings
from typing import Any

from inductor_debug.worker.library_architectures import (
    shrunk_configurations,
    transformers_pairs,
    transformers_source,
)

_COUNT = 2
_MORE = (4, 8)
"""How many layers are tried next where two leave a part out, before all of them."""
_MEMORY = 10 * 2**30
"""Bytes that really building may take."""
_PROCESSOR_SECONDS = 20
"""What really building may take; a constructor that refuses does so before its weights are drawn."""


def architectures(wanted: str, limit: int) -> list[dict[str, Any]]:
    """One row for each class that transformers makes of a configuration, in the order of their names."""
    import transformers

    pairs = transformers_pairs()
    names = [name for name in sorted(pairs) if re.search(wanted, name)]
    return [_architecture(transformers, name, pairs[name]) for name in names[: limit or None]]


def _architecture(transformers: Any, name: str, config: str) -> dict[str, Any]:
    from torch.nn import Module

    row = {"name": name, "text": "", "deeper": [], "error": "", "forward": True}
    try:
        kind = getattr(transformers, name)
        row["forward"] = kind.forward is not Module.forward
        known = getattr(transformers, config)()
    except Exception as error:  # whatever a library raises is the answer
        return row | {"error": _words(error)}
    first = ""
    for written in dict.fromkeys(shrunk_configurations(known, _COUNT)):
        row["text"] = text = transformers_source(name, config, written)
        refusal = _refusal(text)
        if not refusal:
            more = [next(shrunk_configurations(known, count)) for count in _MORE]
            deeper = [transformers_source(name, config, item) for item in dict.fromkeys((*more, "")) if item != written]
            return row | {"deeper": deeper}
        first = first or refusal
    return row | {"error": first}


def _refusal(text: str) -> str:
    """Why the class of a file cannot be built, empty where it can."""
    import torch

    scope: dict[str, Any] = {"__name__": "small"}
    try:
        exec(text, scope)
        with torch.device("meta"):
            scope["Model"]()
    except Exception as error:  # whatever a library raises is the answer
        return _words(error) if _really_refused(scope) else ""
    return ""


def _really_refused(scope: dict[str, Any]) -> bool:
    """Whether building fails with real tensors, too, in a process of bounds. Ended by them, it is not refused."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (_PROCESSOR_SECONDS, _PROCESSOR_SECONDS + 1))
            scope["Model"]()
            code = 0
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    return not os.WIFSIGNALED(status) and status != 0


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def main() -> None:
    """Prints all rows."""
    import logging

    warnings.simplefilter("ignore")
    logging.disable()
    rows = architectures(sys.argv[1], int(sys.argv[2]))
    print(json.dumps({"architectures": rows}))


if __name__ == "__main__":
    main()
