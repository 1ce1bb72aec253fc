"""Times work on one built target, asked for line by line: what the `bare_…` scripts of the benchmarks have in common.

For every line on its standard input, which names some work, a script answers with the seconds that it took, so that
several things can take turns on a machine whose speed changes. Each run happens in a fork of one process that is as
warm as a worker and set up as a worker is.
"""

from __future__ import annotations

import ast
import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from inductor_debug.worker.job import isolate
from inductor_debug.worker.warm_up import warm_up
from inductor_debug_schema import JobRequest, Stage

_MEMORY_BOUND = 1 << 30

Answer = TypeVar("Answer")

Work = dict[str, Callable[[], float]]
"""What can be asked for, by name; each returns the seconds that it took."""


def answer(path: str, stage: Stage, prepare: Callable[[Any, Any], Work]) -> None:
    """Answers until the standard input ends.

    Args:
        path: the file whose first target is worked on.
        stage: what the process is set up for.
        prepare: given the built target and the sources, makes the work; what it warms, every run finds warm.
    """
    warm_up()
    from inductor_debug.capture.expressions.spans import SourceMap
    from inductor_debug.capture.targets.target_builder import TargetBuilder

    text = Path(path).read_text(encoding="utf-8")
    root = str(Path(path).parent)
    sources = SourceMap(root, {path: text})
    with TargetBuilder(JobRequest(0, path, text, root, [stage], {}), sources, _MEMORY_BOUND).open() as builder:
        load = builder.load()
        work = prepare(builder.build(load.discovered.candidates[0], load), sources)
        take_orders(work)


def take_orders(work: Work) -> None:
    """Does what each line of the standard input names, in a fork of this process as it is now."""
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        print(in_a_fork(work[line.strip()]), flush=True)


def in_a_fork(work: Callable[[], Answer]) -> Answer:
    """What some work gives that is done in a child set up as a worker is; numbers, texts and lists of them."""
    read_end, write_end = os.pipe()
    if os.fork() == 0:
        isolate()
        os.write(write_end, repr(work()).encode())
        os._exit(0)
    os.close(write_end)
    with open(read_end, encoding="utf-8") as stream:
        text = stream.read()
    os.wait()
    answer: Answer = ast.literal_eval(text)
    return answer
