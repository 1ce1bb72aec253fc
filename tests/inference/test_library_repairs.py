"""What a library's own model refuses of the usual call, and takes of another that its users may make."""

from __future__ import annotations

import importlib
import itertools
import operator
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from inductor_debug.capture.failures.failed_statement import last_frame
from inductor_debug.capture.inference.guessing.input_candidates import plan_for
from inductor_debug.capture.inference.search.dynamic_dims import Found
from inductor_debug.capture.inference.search.input_search import NotFound, search
from inductor_debug.capture.inference.search.trial import Trials
from inductor_debug.capture.inference.specs.rendering import signature_of
from inductor_debug.capture.inference.specs.specs import TensorSpec
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

pytestmark = pytest.mark.torch

MODELS = '''
import torch
from torch import nn


class Cache:
    def __init__(self, lengths):
        self.lengths = lengths

    def length(self):
        if not self.lengths:
            raise ValueError("only layers with attention have a length")
        return self.lengths[0]


class Recurrent(nn.Module):
    """Makes a cache by default, which it then cannot ask for its length: it has no attention."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 8)

    def forward(self, input_ids: torch.LongTensor, use_cache: bool | None = None):
        use_cache = True if use_cache is None else use_cache
        cache = None
        if use_cache and cache is None:
            cache = Cache([])
        given = {"cache": cache}
        return self.embed(input_ids) + self.offset(**given)

    def offset(self, cache):
        return cache.length() if cache is not None else 0


class Prompted(nn.Module):
    """Repeats for a batch what it has for one video."""

    def __init__(self):
        super().__init__()
        self.prompt = nn.Parameter(torch.zeros(7, 8))
        self.layer = nn.Linear(8, 8)

    def forward(self, x: torch.FloatTensor):
        return self.layer(x) + self.prompt.view(x.shape[0], 1, 7, 8).sum()
'''
CALLS = {
    "Recurrent": "input_ids i64[2, 16], use_cache = False",
    "Prompted": "x f32[1, ",
}
_numbers = itertools.count()


def found_in(folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> Found | NotFound:
    """What the search for a call of a model in a module of a folder finds."""
    name = f"models_of_{next(_numbers)}"
    folder.mkdir(parents=True)
    (folder / f"{name}.py").write_text(MODELS)
    monkeypatch.syspath_prepend(folder)
    trials = Trials(getattr(importlib.import_module(name), kind))
    plan = plan_for(trials.subject)
    return search(trials, lambda: plan, [plan.first()], set(), lambda _: False, seconds=60, runs=60)


@pytest.mark.parametrize("kind", CALLS)
def test_a_library_is_called_as_its_users_may_call_it(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = found_in(tmp_path / "site-packages", kind, monkeypatch)
    assert isinstance(found, Found), found
    assert signature_of(found.guess, {}).startswith(CALLS[kind]), signature_of(found.guess, {})


def test_nothing_is_avoided_that_the_users_own_code_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = found_in(tmp_path / "project", "Prompted", monkeypatch)
    assert isinstance(found, NotFound), found


class Ranked(nn.Module):
    """Takes one rank, and looks at the values of any other."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x: Any) -> Any:
        if x.dim() != 2 and x.sum().item() > 0:
            raise ValueError("not so many")
        batch, _, width = self.layer(x).shape
        return batch + width


def test_what_fake_tensors_cannot_tell_does_not_lose_how_far_other_calls_came() -> None:
    with FakeTensorMode():
        trials = Trials(Ranked)
        plan = plan_for(trials.subject)
        start = plan.first().with_spec("x", TensorSpec(("B", 8)))
        found = search(trials, lambda: plan, [start], set(), lambda _: False, seconds=60, runs=60)
    assert isinstance(found, NotFound)
    assert type(found.error).__name__ == "DataDependentOutputException"
    assert found.best is not None
    assert type(found.best.error) is ValueError, found.best


class Items(Sequence[int]):
    """A sequence of which Python itself asks for what is behind its end."""

    __getitem__ = staticmethod(operator.getitem)  # type: ignore[assignment]

    def __len__(self) -> int:
        return 1


def test_pythons_own_code_is_not_the_users() -> None:
    with pytest.raises(TypeError) as raised:
        list(reversed(Items()))
    frame, _ = last_frame(raised.value)
    assert frame is not None
    assert frame.f_code.co_filename == __file__
