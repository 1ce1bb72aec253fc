"""Words for transfers, for every form that they are shown in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inductor_debug_schema import RoundTrip, TransferRow, TransfersDocument

from inductor_debug.rules.amounts import counted

DIFFERS = "differs"
_LEFT_OUT = "…"


def kind_of(transfer: TransferRow) -> str:
    """What a tensor is, and what it is kept as: "float16 as sen169_fp16 3x64"."""
    shape = "x".join(map(str, transfer.shape)) or "scalar"
    kept = "" if transfer.dtype == transfer.device_dtype else f" as {transfer.device_dtype}"
    return f"{transfer.dtype}{kept} {shape}"


def rounded_told(document: TransfersDocument) -> list[str]:
    """A sentence on what comes back as the nearest number that the accelerator has; none where nothing does."""
    rounded = [transfer for transfer in document.transfers if transfer.round_trip is RoundTrip.ROUNDED]
    if not rounded:
        return []
    formats = ", ".join(sorted({transfer.device_dtype for transfer in rounded}))
    come = "comes" if len(rounded) == 1 else "come"
    return [
        f"{counted(len(rounded), 'tensor')} {come} back rounded to the nearest numbers of {document.accelerator} "
        f"({formats}), which is no fault."
    ]


def values_told(transfer: TransferRow) -> Iterator[tuple[str, str, str, str]]:
    """The values that were asked for: index, host, device, and whether they differ; "…" where some are left out."""
    before = -1
    for value in transfer.values:
        position = _position(value.index, transfer.shape)
        if position != before + 1:
            yield _LEFT_OUT, "", "", ""
        before = position
        yield str(value.index), value.before, value.after, "" if value.before == value.after else DIFFERS


def _position(index: Sequence[int], shape: Sequence[int]) -> int:
    position = 0
    for place, size in zip(index, shape, strict=True):
        position = position * size + place
    return position
