"""The Python that Inductor writes for a graph, taken at the place where torch loads it, and loaded from another file.

Private names, read against torch 2.11 to 2.14: `torch._inductor.codecache.PyCodeCache.load_by_key_path`, which every
generated module passes through, on a hit of a cache as well; and in `torch._inductor.debug`
`create_kernel_information_json`, which says while a module is made, and only then, from which lines each kernel comes.
Where the first is gone nothing is taken, and the compiled code runs from where torch put it; where the second is,
nobody knows where a kernel comes from.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inductor_debug.system.torch_names import with_settings

Take = Callable[["Generated"], "str | None"]
"""Is given each module; returns the path of the file that is to be loaded in its place, or None."""
_CALLS = re.compile(r"^call = runner\.call$|^def call\(args\)", re.MULTILINE)
"""What wrappers of graphs have, and single kernels (which pass there, too) have not."""
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in ')
_HANDLE = re.compile(r"# \[Provenance debug handles\] (.+)")
_NUMBER = re.compile(r"# AOT ID: \['(\d+)_(\w+)'\]")


@dataclass(frozen=True)
class KernelStop:
    """The line (from zero) before which a kernel has run, and the stacks of frames of what it computes."""

    line: int
    stacks: list[list[tuple[str, int]]]


@dataclass(frozen=True)
class Generated:
    """One module: its text, and where its kernels have run. A forward and a backward pass share a `number`."""

    text: str
    kernels: list[KernelStop]

    @property
    def number(self) -> str:
        """Torch's number of the graph; empty where it says none."""
        found = _NUMBER.match(self.text)
        return found.group(1) if found else ""

    @property
    def backward(self) -> bool:
        """Whether it is a backward pass."""
        found = _NUMBER.match(self.text)
        return found is not None and found.group(2) == "backward"


def without_number(text: str) -> str:
    """The text without torch's number of the graph, which counts what else a process has compiled."""
    return text.partition("\n")[2] if _NUMBER.match(text) else text


@contextlib.contextmanager
def modules_taken(take: Take) -> Iterator[None]:
    """While it is entered, every module that torch loads for a graph is given to `take`; kernels say where they are."""
    from torch._inductor import config
    from torch._inductor.codecache import PyCodeCache

    codes: Any = PyCodeCache
    held = vars(codes).get("load_by_key_path")
    if not isinstance(held, classmethod):
        yield
        return
    load: Any = held.__func__

    def loading(cls: Any, key: str, path: str, *args: Any, **kwargs: Any) -> Any:
        text = Path(path).read_text(encoding="utf-8")
        if _CALLS.search(text):
            path = take(Generated(text, _kernels(text))) or path
        return load(cls, key, path, *args, **kwargs)

    codes.load_by_key_path = classmethod(loading)
    try:
        with with_settings(config, **{"trace.provenance_tracking_level": 1}):
            yield
    finally:
        codes.load_by_key_path = held


def _kernels(text: str) -> list[KernelStop]:
    from torch._inductor import debug

    tell = getattr(debug, "create_kernel_information_json", None)
    known: dict[str, Any] = tell() if tell is not None else {}
    lines, found = text.splitlines(), []
    for number, line in enumerate(lines):
        handles = _HANDLE.search(line)
        # Behind the comment is the call, and behind that the line at which its results are there.
        after = next((at for at in range(number + 2, len(lines)) if not lines[at].lstrip().startswith("#")), None)
        if handles is None or after is None:
            continue
        told = [known.get(handle.strip(), {}) for handle in handles.group(1).split(",")]
        traces = [trace for one in told for trace in one.get("stack_traces", [])]
        found.append(KernelStop(after, [[(path, int(at)) for path, at in _FRAME.findall(trace)] for trace in traces]))
    return found
