"""Which part of a compiler is suspected: what rungs have in common, and what one that is right takes off the list."""

from __future__ import annotations

from types import ModuleType

import pytest
from inductor_debug.accelerators.capabilities import CompilerStack
from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug.repro.bisect.bisection_result import TriedRung
from inductor_debug.repro.bisect.known_backends import known_backends
from inductor_debug.repro.bisect.ladder import Backends, Layer, State, ladder
from inductor_debug.repro.bisect.suspects import suspicion

SPYRE = Backends(read_profile(load_document("spyre")).backends)
LOOP = Backends({"a": CompilerStack(("f",), ("x",)), "b": CompilerStack(("f",), ("y",))})
MISSING = "unknown backend 'sendnn'"


def judged(known: Backends, ended: str) -> tuple[str, Layer, list[str]]:
    """The suspected part, its layer, and what would tell it from others, of a climb told as "dynamo:ok spyre:wrong"."""
    tried = []
    for said in ended.split():
        name, _, how = said.partition(":")
        state, why = (State.FAILED, MISSING) if how == "missing" else (State(how), "")
        tried.append(TriedRung(known.rung(name, None), state, why, 0.0))
    guilty = next(each for each in tried if each.state is not State.OK and not each.is_missing)
    found = suspicion(guilty, tried)
    return found.part.name, found.part.layer, known.apart(found.alike, None)


@pytest.mark.parametrize(
    ("known", "ended", "part", "layer"),
    [
        (SPYRE, "sendnn:ok spyre:wrong", "torch_spyre", Layer.FRONT_END),
        (SPYRE, "spyre:wrong sendnn:ok", "torch_spyre", Layer.FRONT_END),
        (SPYRE, "spyre:failed sendnn:ok", "torch_spyre", Layer.FRONT_END),
        (SPYRE, "spyre:ok sendnn:wrong", "torch_sendnn", Layer.FRONT_END),
        (SPYRE, "dynamo:ok sendnn:wrong spyre:wrong", "deeptools", Layer.BACK_END),
        (SPYRE, "sendnn:wrong spyre:wrong", "deeptools", Layer.BACK_END),
        (SPYRE, "dynamo:wrong sendnn:wrong spyre:wrong", "Dynamo", Layer.FRONT_END),
        (SPYRE, "dynamo:ok sendnn:missing spyre:wrong", "deeptools", Layer.BACK_END),
        (SPYRE, "dynamo:ok inductor:wrong sendnn:ok spyre:ok", "Inductor", Layer.BACK_END),
        (SPYRE, "dynamo:ok aot_eager:wrong inductor:wrong", "AOTAutograd", Layer.FRONT_END),
        (LOOP, "a:wrong b:ok", "x", Layer.BACK_END),
        (LOOP, "dynamo:ok a:wrong b:wrong", "f", Layer.FRONT_END),
        (Backends(), "other:wrong", "other", Layer.BACK_END),
        (Backends(), "dynamo:wrong aot_eager:ok", "Dynamo", Layer.FRONT_END),
    ],
)
def test_what_is_shared_by_the_wrong_and_by_none_that_is_right(
    known: Backends, ended: str, part: str, layer: Layer
) -> None:
    assert judged(known, ended)[:2] == (part, layer)


def test_what_would_tell_the_rest_apart_is_named() -> None:
    assert judged(SPYRE, "dynamo:ok spyre:wrong")[2] == ["sendnn"]
    assert judged(SPYRE, "dynamo:ok sendnn:ok spyre:wrong")[2] == []
    assert judged(Backends(), "other:wrong")[2] == ["dynamo"]


def test_the_usual_ladder_ends_with_the_other_backends_of_the_accelerator_that_are_there() -> None:
    documents = {"spyre": load_document("spyre")}
    alone = known_backends((), "spyre", documents, None)
    assert [rung.backend for rung in ladder("spyre", known=alone)][-2:] == ["transfers", "spyre"]
    here = ModuleType("models")
    here.sendnn = lambda graph, inputs: graph.forward  # type: ignore[attr-defined]
    both = known_backends((), "spyre", documents, here)
    assert [rung.backend for rung in ladder("spyre", known=both)][-2:] == ["spyre", "sendnn"]


def test_an_emulated_accelerator_says_nothing_of_its_compiler() -> None:
    known = known_backends(["spyre"], "spyre", {"spyre": load_document("spyre")}, None)
    assert known.rung("spyre", "spyre").parts[-1].name == "emulated arithmetic of spyre"
