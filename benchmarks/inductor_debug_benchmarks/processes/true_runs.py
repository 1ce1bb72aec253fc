"""Runs a class as its author would, on real tensors, and mutants of it, to learn which of these really break.

The original runs once and stays in memory; each mutant runs in a forked child with the original's weights wherever
shapes agree. Nothing here knows the tool's opinion, and nothing is inferred: how to build and call a class is given.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch
from inductor_debug.capture.runtime.absent_libraries import AbsentImports
from inductor_debug.capture.runtime.loading import overlay, place_of, search_path
from inductor_debug.repro.minimiser.attempts import AttemptEnding, attempt
from torch.nn.parameter import is_lazy

_DTYPES = {"f32": torch.float32, "f64": torch.float64, "i64": torch.int64, "b8": torch.bool}
_GIVEN = "arguments_of_the_call"
"""What stands for the model where the arguments of its call are evaluated."""
_SECONDS = 20
_MEMORY = 8 << 30
"""Bytes that a run may add to the process."""
_RELATIVE, _ABSOLUTE = 1e-3, 1e-5
"""Errors within which results of the same arithmetic in another order are equal."""


@dataclass(frozen=True, slots=True)
class AuthorsCall:
    """How a class is built and called: expressions in the namespace of its file.

    `tensors` are written as in `f32[2, 64]`, and `t` in `call`; `setup` is code that the expressions need.
    """

    build: str
    call: str
    tensors: list[str]
    setup: str = ""


@dataclass(frozen=True, slots=True)
class TrueRun:
    """A model, the call that it was given, and what came of it."""

    model: torch.nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any


Fill = Callable[..., torch.Tensor]
"""Makes a tensor of whole numbers of a shape and a dtype."""


def judged(
    path: str, text: str, call: AuthorsCall, edits: list[dict[str, Any]], wanted: dict[str, int]
) -> dict[str, Any]:
    """Runs the original and then mutants until enough of each verdict were found.

    Call it in a child of its own: it leaves the original's module and threads behind.

    Args:
        path: the file; it need not exist.
        text: its unmutated text.
        call: how the class is built and called.
        edits: `start`, `end` and `new` of each mutant, and the one-based first and last of its `lines`.
        wanted: how many mutants of each verdict are enough.

    Returns:
        `problem`, empty where the original ran, and `mutants`: for each that was judged its `index`, `verdict`
        (`breaks`, `changes` or `equal`), `error` in one line, and `lines`, the one-based first and last of
        the innermost expression of the file that raised.
    """
    executed: set[int] = set()
    try:
        with _Watching(path, executed):
            original, fill = run_original(path, text, call)
    except BaseException as error:
        return {"problem": _line(error), "mutants": []}
    left, rows = dict(wanted), []
    for index, edit in enumerate(edits):
        if not any(left.values()):
            break
        first, last = edit["lines"]
        if executed.isdisjoint(range(first, last + 1)):
            continue
        mutant = text[: edit["start"]] + edit["new"] + text[edit["end"] :]
        row = _judged(path, mutant, call, fill, original)
        if left.get(row["verdict"], 0):
            left[row["verdict"]] -= 1
            rows.append({"index": index, **row})
    return {"problem": "", "mutants": rows}


def run_original(path: str, text: str, call: AuthorsCall) -> tuple[TrueRun, Fill]:
    """Runs a class as its author would, in a process bounded for it, and says what its whole numbers are.

    Raises:
        BaseException: whatever the class raised, as it cannot be run as told.
    """
    torch.set_num_threads(1)
    _bound_memory()
    try:
        return run(path, text, call, _mixed), _mixed
    except BaseException:
        return run(path, text, call, torch.zeros), torch.zeros


def run(path: str, text: str, call: AuthorsCall, fill: Fill, like: torch.nn.Module | None = None) -> TrueRun:
    """Loads a text, builds its class, with the weights of `like` wherever shapes agree, and calls it."""
    with built(path, text, call) as (model, names):
        if like is not None:
            _take_weights(model, like)
        torch.manual_seed(0)
        given = {**names, "t": [_tensor(item, fill) for item in call.tensors], _GIVEN: lambda *args, **kw: (args, kw)}
        args, kwargs = eval(f"{_GIVEN}({call.call})", given)
        return TrueRun(model, args, kwargs, model(*args, **kwargs))


@contextlib.contextmanager
def built(path: str, text: str, call: AuthorsCall) -> Iterator[tuple[torch.nn.Module, dict[str, Any]]]:
    """The class of a text as it is built, and the namespace of its file, which is the loaded one meanwhile."""
    place = place_of(path)
    with search_path(place, place.root), overlay(place, text, place.root, AbsentImports()) as module:
        module.execute()
        names = dict(vars(module.module))
        exec(call.setup, names)
        torch.manual_seed(0)
        model = eval(call.build, names)
        model.eval()
        yield model, names


def _judged(path: str, text: str, call: AuthorsCall, fill: Fill, original: TrueRun) -> dict[str, Any]:
    def work() -> dict[str, Any]:
        try:
            mutant = run(path, text, call, fill, original.model)
        except SyntaxError as error:
            return {"verdict": "equal", "error": _line(error), "lines": None}
        except BaseException as error:
            return {"verdict": "breaks", "error": _line(error), "lines": _raised(error, path)}
        same = _same(original.result, mutant.result)
        return {"verdict": "equal" if same else "changes", "error": "", "lines": None}

    ending = attempt(work, timeout=_SECONDS)
    if ending.ending is AttemptEnding.DONE:
        return ending.answer
    return {"verdict": "breaks", "error": ending.detail, "lines": None}


def _take_weights(model: torch.nn.Module, like: torch.nn.Module) -> None:
    known = like.state_dict()
    with torch.no_grad():
        for name, value in model.state_dict().items():
            other = known.get(name)
            if other is None or is_lazy(value) or is_lazy(other):
                continue
            if value.shape == other.shape:
                value.copy_(other)


def _tensor(text: str, fill: Fill) -> torch.Tensor:
    """A tensor as in `f32[2, 64]`; whole numbers are 0 or 1, which number something in every table."""
    dtype, _, dims = text.partition("[")
    shape = [int(dim) for dim in dims.rstrip("]").split(",") if dim.strip()]
    if _DTYPES[dtype].is_floating_point:
        return torch.randn(shape, dtype=_DTYPES[dtype])
    return torch.ones(shape, dtype=torch.bool) if dtype == "b8" else fill(shape, dtype=_DTYPES[dtype])


def _mixed(shape: list[int], dtype: torch.dtype) -> torch.Tensor:
    return torch.randint(0, 2, shape, dtype=dtype)


class _Watching:
    """Notes the lines of a file that run meanwhile."""

    def __init__(self, path: str, executed: set[int]) -> None:
        self._path, self._executed = path, executed

    def __enter__(self) -> None:
        sys.settrace(self._enter)

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != self._path:
            return None
        return self._note(frame, event, argument)

    def _note(self, frame: FrameType, event: str, argument: Any) -> Any:
        self._executed.add(frame.f_lineno)
        return self._note


def _raised(error: BaseException, path: str) -> list[int] | None:
    """The one-based first and last line of the innermost expression of the file on the way to the error."""
    frames = [item for item in traceback.extract_tb(error.__traceback__) if item.filename == path]
    if not frames or frames[-1].lineno is None:
        return None
    first = frames[-1].lineno
    return [first, getattr(frames[-1], "end_lineno", None) or first]  # Python 3.10 knows no ends


def _line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def _same(one: Any, other: Any) -> bool:
    ours, theirs = list(leaves(one)), list(leaves(other))
    return len(ours) == len(theirs) and all(map(_equal, ours, theirs))


def leaves(value: Any) -> Iterator[Any]:
    """The values inside containers and plain objects."""
    if isinstance(value, torch.Tensor | str | bytes):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from leaves(item)
    elif dataclasses.is_dataclass(value):
        for item in vars(value).values():
            yield from leaves(item)
    else:
        yield value


def _equal(one: Any, other: Any) -> bool:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return type(one) is type(other)
    if (one.shape, one.dtype, one.device) != (other.shape, other.dtype, other.device):
        return False
    return torch.allclose(one, other, rtol=_RELATIVE, atol=_ABSOLUTE, equal_nan=True)


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
