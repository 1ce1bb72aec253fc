"""Whatever the tool can tell a user has a reproducer, or a reason why there can be none."""

from __future__ import annotations

from pathlib import Path

import pytest
from inductor_debug.accelerators.profile import load_document
from inductor_debug.engine.orders.reproducing import NOT_CUT_OUT, order_for, refused
from inductor_debug.repro.kinds import failure_kinds
from inductor_debug.repro.kinds.failure_kinds import ANYTHING, KINDS
from inductor_debug.rules.registry import all_rules, constraints
from repro_jobs import reproduce
from test_constraint_repros import CASES

pytestmark = pytest.mark.torch

SHOWN = {
    "dtype": "return x.double()",
    "peak-memory": "return x.sin() + x.cos()",
    "capture-error": "return x.view(7, 7)",
    "graph-break": "print(x)\n    return x.sin()",
    "recompile": "return x.sin()",
    "eager-fallback": "return untouched(x)",
    "numerics": "return torch.relu(x)",
}
"""Functions that have the failure: one for each kind that is not another rule's."""


def test_every_rule_has_a_script_or_a_reason() -> None:
    known = set(KINDS) - {ANYTHING}
    assert known.isdisjoint(NOT_CUT_OUT)
    assert known | set(NOT_CUT_OUT) == {rule.id for rule in all_rules()}


def test_every_kind_is_tried_by_a_test() -> None:
    assert {KINDS[rule] for rule in SHOWN} == {KINDS[rule] for rule in KINDS if rule != ANYTHING}


@pytest.mark.parametrize("rule", SHOWN)
def test_a_failure_is_shown_by_the_kind_of_its_rule_alone(
    rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = f"""
@torch.compiler.disable
def untouched(x):
    return x.sin() + x.cos()


# inductor-debug: inputs=[(torch.randn(4),), (torch.randn(4).half(),)]
def f(x):
    {SHOWN[rule]}
"""
    backend = "relu_accuracy_error_TESTING_ONLY" if rule == "numerics" else ""
    kind = KINDS[rule]
    small = load_document("mock")
    small["memory"] = {**small["memory"], "device_bytes": 8}
    accelerator = small if rule == "peak-memory" else "mock"
    monkeypatch.setattr(failure_kinds, "KINDS", {rule: kind})
    assert reproduce(tmp_path, source, accelerator=accelerator, rule=rule, backend=backend).status() == 0
    monkeypatch.setattr(failure_kinds, "KINDS", {"another": kind})
    assert "does not reproduce" in reproduce(tmp_path, source, rule=rule, backend=backend).why


def test_every_constraint_is_tried_by_a_test() -> None:
    known = {rule.id for rule in constraints()} - set(NOT_CUT_OUT)
    assert {case.rule for case in CASES.values()} | {"peak-memory"} == known


@pytest.mark.parametrize("rule", NOT_CUT_OUT)
def test_what_no_script_can_show_is_refused_with_the_reason(rule: str) -> None:
    refusal = refused(order_for(rule=rule))
    assert refusal is not None
    assert refusal.script is None
    assert NOT_CUT_OUT[rule] in refusal.document.why
    assert refused(order_for(rule=rule, backend="inductor")) is None
