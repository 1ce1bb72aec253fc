"""Every rule has a page, is found by its id, and is listed in the same order every time."""

from __future__ import annotations

import pytest
from inductor_debug.rules import registry
from inductor_debug.rules.judging.base import Rule

OF_AN_ACCELERATOR = [
    "dtype", "alignment", "layout", "restickify", "stick-reshape", "unaligned-write", "core-span", "memory",
    "peak-memory", "rank", "cpu-fallback", "infinite-constant", "padding", "unknown-operator",
    "unsupported-op",
]  # fmt: skip
OF_A_GPU = ["channels-last", "host-sync", "host-tensor", "launch-bound", "matrix-padding", "slow-dtype", "tf32"]
CONSTRAINTS = [*OF_AN_ACCELERATOR, "float64", "mixed-dtypes", *OF_A_GPU]
ABOUT_THE_RUN = [
    "capture-error",
    "crash",
    "directive",
    "graph-break",
    "import-error",
    "out-of-memory",
    "recompile",
    "syntax-error",
    "timeout",
    "unused-ignore",
]


def test_the_constraints_come_first_and_then_the_rules_about_the_run_by_name() -> None:
    ids = [rule.id for rule in registry.all_rules()]
    assert [rule.id for rule in registry.constraints()] == ids[: len(CONSTRAINTS)] == CONSTRAINTS
    rest = ids[len(CONSTRAINTS) :]
    assert rest == sorted(rest)
    assert set(ABOUT_THE_RUN) <= set(rest)


def test_a_rule_that_judges_an_accelerator_says_so_on_its_page() -> None:
    assert registry.about_accelerators() == {*OF_AN_ACCELERATOR, *OF_A_GPU}
    said = {rule.id for rule in registry.all_rules() if "only where an accelerator was chosen" in rule.page.text}
    assert said == {*OF_AN_ACCELERATOR, *OF_A_GPU}


@pytest.mark.parametrize("rule", registry.all_rules(), ids=lambda rule: rule.id)
def test_a_page_explains_the_rule(rule: Rule) -> None:
    text = registry.page(rule.id)
    assert text.startswith(f"# {rule.id}\n")
    sections = ["What it means", "Why it matters", "Example", "How to fix it", "How to silence it"]
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == sections
    assert text.count("```") % 2 == 0
    assert rule.page.summary in text
    assert max(map(len, text.splitlines())) <= 120
    assert len(text.split()) > 100, "a page is prose, not a stub"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("dtpe", "dtype"), ("unsupported_op", "unsupported-op"), ("zzz", "there are accelerator-adapter, alignment")],
)
def test_an_unknown_rule_suggests_the_nearest(typed: str, meant: str) -> None:
    with pytest.raises(registry.UnknownRuleError, match=meant):
        registry.find(typed)
