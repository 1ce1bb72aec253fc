"""Whatever the tool can tell a user has a reproducer, or a reason why there can be none."""

from __future__ import annotations

import pytest
from inductor_debug.engine.orders.reproducing import NOT_CUT_OUT, order_for, refused
from inductor_debug.repro.kinds.failure_search import PYTHON
from inductor_debug.rules.registry import all_rules, constraints
from test_constraint_repros import CASES

pytestmark = pytest.mark.torch

SHOWN_OTHERWISE = {
    "capture-error",  # by the operation or the statement that raises
    "numerics",  # with the backend that is named
}


def test_every_rule_has_a_script_or_a_reason() -> None:
    known = {rule.id for rule in constraints()} | set(PYTHON) | SHOWN_OTHERWISE
    assert known.isdisjoint(NOT_CUT_OUT)
    assert known | set(NOT_CUT_OUT) == {rule.id for rule in all_rules()}


def test_every_constraint_is_tried_by_a_test() -> None:
    assert {case.rule for case in CASES.values()} | {"peak-memory"} == {rule.id for rule in constraints()}


@pytest.mark.parametrize("rule", NOT_CUT_OUT)
def test_what_no_script_can_show_is_refused_with_the_reason(rule: str) -> None:
    refusal = refused(order_for(rule=rule))
    assert refusal is not None
    assert refusal.script is None
    assert NOT_CUT_OUT[rule] in refusal.document.why
    assert refused(order_for(rule=rule, backend="inductor")) is None
