"""Which nodes of a graph each line of a Triton kernel was written for, seen while Inductor writes it.

A kernel is written one operation after the other, into buffers of lines that only grow meanwhile: what is new in them
is that operation's. What Inductor writes around the operations (the loops, the indices) is nobody's. Read in torch
2.11 to 2.13: `SchedulerNode.codegen`, `TritonScheduling.define_kernel`, `V.kernel`, `IndentedBuffer._lines`, `.line`
of what is written later. Where one of them is gone no line is tied, and kernels are tied as wholes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from inductor_debug.capture.gpu_kernels.replaced_names import replaced
from inductor_debug.capture.inductor.inductor_ir import nodes_of

KernelLines = dict[str, dict[str, list[str]]]
"""For each kernel its lines, without what they are indented by, and the FX nodes of the operations that wrote them."""


@contextmanager
def watched_lines() -> Iterator[KernelLines]:
    """The lines of the kernels that are generated meanwhile."""
    found: KernelLines = {}
    try:
        from torch._inductor.codegen.triton import TritonScheduling
        from torch._inductor.scheduler import SchedulerNode
        from torch._inductor.virtualized import V

        classes: tuple[Any, Any] = (SchedulerNode, TritonScheduling)
        write, define = classes[0].codegen, classes[1].define_kernel
    except (ImportError, AttributeError):
        yield found
        return
    written: list[tuple[Any, str, list[str]]] = []

    def codegen(self: Any, *given: Any) -> Any:
        kernel = V.kernel
        before = _lines_in(kernel)
        result = write(self, *given)
        nodes = nodes_of(self)
        for name, lines in _lines_in(kernel).items():
            known = len(before.get(name, ()))
            written.extend((kernel, line, nodes) for line in (lines[known:] if len(lines) >= known else lines))
        return result

    def define_kernel(self: Any, source: Any, schedule: Any, kernel: Any) -> Any:
        name = define(self, source, schedule, kernel)
        lines = found.setdefault(str(name), {})
        for _, line, nodes in (entry for entry in written if entry[0] is kernel):
            lines.setdefault(line, []).extend(nodes)
        return name

    with replaced([(SchedulerNode, "codegen", codegen), (TritonScheduling, "define_kernel", define_kernel)]):
        yield found


def _lines_in(kernel: Any) -> dict[str, list[str]]:
    """What has been written so far, by the buffer that has it."""
    found: dict[str, list[str]] = {}
    for name, buffer in list(getattr(kernel, "__dict__", {}).items()):
        entries = getattr(buffer, "_lines", None)
        if isinstance(entries, list):
            texts = (entry if isinstance(entry, str) else getattr(entry, "line", "") for entry in entries)
            found[name] = [line.strip() for text in texts if isinstance(text, str) for line in text.split("\n")]
    return found
