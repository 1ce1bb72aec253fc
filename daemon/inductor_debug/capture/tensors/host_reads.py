"""Notes what the code reads on the CPU by name: `y.cpu()`, `y.to("cpu")`, `y.tolist()`.

Everything runs on the CPU here, where these do nothing that a dispatch mode could see; on a device they copy, and wait.
Methods of `torch.Tensor` are replaced while the code runs, which costs nothing where they are not called. A device that
is no text is not looked at: `x.device` is the CPU here wherever the model will be.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch

from inductor_debug.capture.tensors.recorder import Recorder
from inductor_debug.rules.recording.ops import HostRead


@contextlib.contextmanager
def watched_host_reads(recorder: Recorder) -> Iterator[None]:
    """Has the recording tell of what is read inside."""
    recording, attribution = recorder.recording, recorder.attribution
    recording.host_reads = found = []

    def note(tensor: torch.Tensor) -> None:
        meta = recorder.tensors.meta(tensor)
        found.append(HostRead(len(recording.ops), meta, attribution.frames(), attribution.module()))

    def watching(method: Callable[..., Any], reads: Callable[[tuple[Any, ...], dict[str, Any]], bool]) -> Any:
        @functools.wraps(method)
        def watched(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            if reads(args, kwargs) and not recorder.paused:
                note(tensor)
            return method(tensor, *args, **kwargs)

        return watched

    methods = {"cpu": _always, "tolist": _always, "to": _names_cpu}
    before = {name: getattr(torch.Tensor, name) for name in methods}
    own = {name for name in methods if name in vars(torch.Tensor)}
    for name, reads in methods.items():
        setattr(torch.Tensor, name, watching(before[name], reads))
    try:
        yield
    finally:
        for name, method in before.items():
            if name in own:
                setattr(torch.Tensor, name, method)
            else:
                delattr(torch.Tensor, name)


def _always(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return True


def _names_cpu(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    device = kwargs.get("device", args[0] if args else None)
    return type(device) is str and device.partition(":")[0] == "cpu" and not kwargs.get("non_blocking", False)
