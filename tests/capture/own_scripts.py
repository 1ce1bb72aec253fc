"""Scripts of the user's own, which compile with our backends and are warned."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from inductor_debug.capture.script_backends.script_judgement import MockBackendWarning


def load(folder: Path, source: str) -> Any:
    """Runs a script, which must define `model`."""
    path = folder / "script.py"
    path.write_text(textwrap.dedent(source))
    namespace: dict[str, Any] = {"torch": torch, "nn": torch.nn}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    return namespace["model"]


def told(run: Callable[[], Any]) -> list[str]:
    """What `run` warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return [str(item.message) for item in caught if item.category is MockBackendWarning]
