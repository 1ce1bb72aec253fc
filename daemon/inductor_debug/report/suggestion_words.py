"""Words for ways to run a model otherwise, for every form that they are shown in: what they are, how, and the price."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from inductor_debug_schema import RunFigures, RunWay, SuggestionsDocument, TriedWay
from inductor_debug_schema.answers.suggestions_document import RemovedBreak

from inductor_debug.rules.amounts import in_bytes, in_seconds
from inductor_debug.source.notebooks.reading import place_in_words

BOUND = "Seconds are lower bounds of a run, no predictions, and memory is what it needs at least."


def title_of(tried: TriedWay) -> str:
    """What the ways are called: "bfloat16 autocast, channels-last"."""
    sizes = ", ".join(f"{size.odd_size} padded to {size.next_size}" for size in tried.padded)
    breaks = _breaks(tried.breaks)
    return ", ".join(_NAMES[way].format(dtype=tried.dtype, sizes=sizes, breaks=breaks) for way in tried.ways)


def _breaks(breaks: Sequence[RemovedBreak]) -> str:
    """`the graph break at model.py:23`."""
    places = [place_in_words(os.path.basename(each.path), each.path, each.range.start.line) for each in breaks]
    places[_MOST_PLACES:] = [f"{len(places) - _MOST_PLACES} more"] if len(places) > _MOST_PLACES else []
    return f"the graph break{'s' if len(breaks) > 1 else ''} at {', '.join(places)}"


_NAMES = {
    RunWay.AUTOCAST: "{dtype} autocast",
    RunWay.CONVERTED: "all of it in {dtype}",
    RunWay.TF32: "TF32",
    RunWay.CHANNELS_LAST: "channels-last",
    RunWay.CUDA_GRAPHS: "CUDA graphs",
    RunWay.RECOMPUTE: "activation checkpointing",
    RunWay.PADDED: "{sizes}",
    RunWay.JOINED: "without {breaks}",
}
_MOST_PLACES = 4


def needs(figures: RunFigures) -> str:
    """`80.1 ms, 15.2 GiB of memory`, with the copies that torch.compile makes on top."""
    copies = f" and {in_seconds(figures.copied_seconds)} of copies" if figures.copied_seconds else ""
    return f"{in_seconds(figures.seconds)}{copies}, {in_bytes(figures.peak_bytes)} of memory"


def gain(before: RunFigures, after: RunFigures) -> str:
    """`-50 % time, -20 % memory`: what changes by half a per cent or more."""
    changes = (
        ("time", before.seconds + before.copied_seconds, after.seconds + after.copied_seconds),
        ("memory", before.peak_bytes, after.peak_bytes),
    )
    told = [(name, 100 * (new / old - 1)) for name, old, new in changes if old]
    return ", ".join(f"{change:+.0f} % {name}" for name, change in told if abs(change) >= 0.5) or "no change"


def fits(document: SuggestionsDocument, figures: RunFigures) -> str | None:
    """Whether a run fits into the accelerator's memory, where it is known how much that is and somebody might ask."""
    memory = document.device_bytes
    if memory is None:
        return None
    if figures.peak_bytes > memory:
        return f"does not fit into {in_bytes(memory)}"
    before = document.before
    return f"fits into {in_bytes(memory)}" if before is not None and before.peak_bytes > memory else None


def code_of(document: SuggestionsDocument, tried: TriedWay) -> list[str]:
    """The lines of Python that do it."""
    return [line for way in tried.ways for line in _code(document, tried, way)]


def _code(document: SuggestionsDocument, tried: TriedWay, way: RunWay) -> Sequence[str]:
    device = document.device_type or "cuda"
    if way is RunWay.AUTOCAST:
        scaled = tried.dtype == "float16" and document.training
        scaler = [f'scaler = torch.amp.GradScaler("{device}")  # float16 gradients are small: scale the loss'] * scaled
        return [*scaler, f'with torch.autocast("{device}", dtype=torch.{tried.dtype}):', "    output = model(*inputs)"]
    if way is RunWay.RECOMPUTE:
        return [
            "# in forward, for each block of the stack:",
            "x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)",
        ]
    if way is RunWay.JOINED:
        return [f"# out of the compiled code: {' '.join(each.text.split())}" for each in tried.breaks]
    if way is RunWay.PADDED:
        return [f"# where the size is declared: {size.next_size} in place of {size.odd_size}" for size in tried.padded]
    return {
        RunWay.CONVERTED: [f"model = model.to(torch.{tried.dtype})  # floating-point inputs as well"],
        RunWay.TF32: ['torch.set_float32_matmul_precision("high")'],
        RunWay.CHANNELS_LAST: ["model = model.to(memory_format=torch.channels_last)  # images as well"],
        RunWay.CUDA_GRAPHS: ['model = torch.compile(model, mode="reduce-overhead")'],
    }[way]


def cautions(tried: TriedWay) -> Iterator[str]:
    """What else changes with the ways."""
    yield from dict.fromkeys(each.message for each in tried.breaks)
    for way in tried.ways:
        caution = _CAUTIONS.get(way)
        if caution is not None:
            yield caution.format(dtype=tried.dtype)


_CAUTIONS = {
    RunWay.AUTOCAST: (
        "Products are computed in {dtype}, so numbers change. Which other operations stay in float32 differs a little "
        "between devices; tried as the CPU's autocast has it."
    ),
    RunWay.CONVERTED: "All numbers are of {dtype}, sums and norms as well: compare the outputs with those of float32.",
    RunWay.TF32: "Factors of products keep ten bits of their fraction.",
    RunWay.PADDED: (
        "No label names the outputs that were added: training learns to avoid them, sampling leaves them out, and "
        "checkpoints need the same padding."
    ),
    RunWay.CUDA_GRAPHS: "Inputs must keep their sizes; another size is recorded anew.",
    RunWay.JOINED: (
        "Counted with the operations that were captured on both sides in one graph; what the code at a break does "
        "besides (reading a value, printing) is not counted."
    ),
    RunWay.RECOMPUTE: "Results stay the same; the forward pass of each block runs once more in the backward pass.",
}


def not_offered(tried: TriedWay) -> str:
    """Why a way that was tried is not offered."""
    return f"{title_of(tried)}: {tried.problem or 'no gain'}"
