"""However many rules look at how tensors lie and where ops run, a judgement works that out once, or never."""

from __future__ import annotations

from collections import Counter

import pytest
from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug.rules.captures.costs import costs_of
from inductor_debug.rules.judging import judged_run

from tests.rules.recordings import Tape


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts the passes over recordings by their names."""
    found: Counter[str] = Counter()

    def counted(name: str) -> None:
        kind = getattr(judged_run, name)

        def made(*given: object) -> object:
            found[name] += 1
            return kind(*given)

        monkeypatch.setattr(judged_run, name, made)

    counted("StickFlow")
    counted("OpExecution")
    return found


def transposed() -> Tape:
    tape = Tape()
    x = tape.input("x", 64, 128, dtype="float16")
    turned = tape.view("t.default", x, 128, 64, stride=(1, 128))
    tape.op("add.Tensor", [turned, tape.input("y", 128, 64, dtype="float16")], tape.tensor(128, 64, dtype="float16"))
    return tape


def test_all_rules_of_a_judgement_share_its_passes(passes: Counter[str]) -> None:
    found = {finding.rule for finding in transposed().judge("spyre")}

    assert "restickify" in found
    assert passes == {"StickFlow": 1, "OpExecution": 1}


def test_where_no_accelerator_was_chosen_no_pass_is_made(passes: Counter[str]) -> None:
    transposed().judge("none")

    assert not passes


def test_costs_share_their_passes(passes: Counter[str]) -> None:
    costs = costs_of(transposed().recording, read_profile(load_document("spyre")))

    assert costs.ops == 2
    assert passes == {"StickFlow": 1, "OpExecution": 1}
