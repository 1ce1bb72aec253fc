"""Every architecture of the installed transformers, as the source of a small file that builds it with two layers.

Run with a regular expression (of the names of its classes; empty for all) and how many at most (0 for all); prints one
JSON object, `{"architectures": [{"name", "text", "deeper", "error", "forward", "refused", "doubt"}]}`. `text` has all
layers where it cannot be built with two; `deeper` are files with more, the last one with all. `error` says why none can
be built, which is learned by building it: on the meta device, and where that refuses, really, but for the numbers in
its weights, in a process of bounded memory and time. `forward` is whether it has one: without, no input is right.
`refused` says why no call of it runs, where that is known and could be proven (`default_faults`), and `doubt` what
speaks against what is said to be known.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import warnings
from collections.abc import Callable
from typing import Any

from inductor_debug.worker.library_architectures import (
    shrunk_configurations,
    transformers_pairs,
    transformers_source,
)

from inductor_debug_benchmarks.processes.default_faults import doubt
from inductor_debug_benchmarks.processes.undrawn_weights import UndrawnWeights
from inductor_debug_benchmarks.refused_defaults import REFUSED_DEFAULTS

_COUNT = 2
_MORE = (4, 8)
"""How many layers are tried next where two leave a part out, before all of them."""
_MEMORY = 400 * 2**30
"""Bytes that really building may ask for; what is not written to is not taken."""
_PROCESSOR_SECONDS = 20
"""What really building may take, without its weights."""


def architectures(wanted: str, limit: int) -> list[dict[str, Any]]:
    """One row for each class that transformers makes of a configuration, in the order of their names."""
    import transformers

    pairs = transformers_pairs()
    names = [name for name in sorted(pairs) if re.search(wanted, name)]
    return [_architecture(transformers, name, pairs[name]) for name in names[: limit or None]]


def _architecture(transformers: Any, name: str, config: str) -> dict[str, Any]:
    from torch.nn import Module

    row = {"name": name, "text": "", "deeper": [], "error": "", "forward": True, "refused": "", "doubt": ""}
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
            return row | {"deeper": deeper} | _judged(name, config, written)
        first = first or refusal
    return row | {"error": first}


def _judged(name: str, config: str, written: str) -> dict[str, str]:
    """Why no call of an architecture runs by its default configuration, where that is known, once it is proven."""
    known = REFUSED_DEFAULTS.get(name)
    if known is None:
        return {}
    mended = f"**{{**dict({written}), **dict({known.mended})}}"
    texts = [transformers_source(name, config, arguments) for arguments in (written, "", mended)]
    found = doubt(known, texts[:2], texts[2])
    return {"doubt": found} if found else {"refused": known.why}


def _refusal(text: str) -> str:
    """Why the class of a file cannot be built, empty where it can."""
    import torch

    scope: dict[str, Any] = {"__name__": "small"}
    try:
        exec(text, scope)
        with torch.device("meta"):
            scope["Model"]()
    except Exception as error:  # whatever a library raises is the answer
        said = _words(error)
        return said if "Model" not in scope or _refused_really(scope["Model"]) == said else ""
    return ""


def _refused_really(model: Callable[[], Any]) -> str:
    """What refuses to build it with real tensors, too, in a process of bounds; empty where these end it, or nothing."""
    told, telling = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(told)
        try:
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (_PROCESSOR_SECONDS, _PROCESSOR_SECONDS + 1))
            with UndrawnWeights():  # type: ignore[no-untyped-call]
                model()
        except Exception as error:  # whatever a library raises is the answer
            os.write(telling, _words(error).encode())
        finally:
            os._exit(0)
    os.close(telling)
    with os.fdopen(told, encoding="utf-8") as stream:
        said = stream.read()
    os.waitpid(child, 0)
    return said


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def main() -> None:
    """Prints all rows."""
    import logging

    import torch

    torch.set_num_threads(1)  # a fork of a process whose kernels have threads waits for them forever
    warnings.simplefilter("ignore")
    logging.disable()
    rows = architectures(sys.argv[1], int(sys.argv[2]))
    print(json.dumps({"architectures": rows}))


if __name__ == "__main__":
    main()
