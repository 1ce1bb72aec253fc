"""Proves that no call of a model runs with its default configuration (`refused_defaults`), with nothing of ours.

On the meta device, which needs no memory for weights and refuses shapes as any device does, and where values are asked
for, on the CPU. Attention and experts are told to be the plain ones, which ask for no values: which kernel is used
changes neither what is computed nor its shapes.
"""

from __future__ import annotations

from typing import Any

from inductor_debug_benchmarks.processes.undrawn_weights import UndrawnWeights
from inductor_debug_benchmarks.refused_defaults import RefusedDefault


def doubt(refused: RefusedDefault, texts: list[str], mended: str) -> str:
    """What speaks against that a default configuration is to blame; empty where it is proven.

    Args:
        refused: what is said of it.
        texts: files that build it by its default configuration, with two layers and with all.
        mended: a file that builds it by the mended one, which is to take the call.
    """
    for text in texts[:1] if refused.real else texts:
        said = _ending(text, refused)
        if not said:
            return "the call runs"
        if not said.startswith(refused.error):
            return f"the call ends otherwise: {said}"
    said = _ending(mended, refused)
    return f"the call does not run with {refused.mended}: {said}" if said else ""


def _ending(text: str, refused: RefusedDefault) -> str:
    """How building the model of a file and calling it ends: the error, empty where it runs."""
    import torch

    scope: dict[str, Any] = {"__name__": "small"}
    try:
        with torch.device("cpu" if refused.real else "meta"), torch.no_grad():
            exec(text, scope)
            with UndrawnWeights():  # type: ignore[no-untyped-call]
                model = scope["Model"]().eval()
            model.set_attn_implementation("eager")
            model.set_experts_implementation("batched_mm")
            eval(f"model({refused.call})", {"model": model, "torch": torch})
    except Exception as error:  # whatever the library raises is the answer
        return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return ""
