"""Finds rules: every class of `rules.catalog`, one file each, without a list to keep.

The registry never runs a rule.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from types import GenericAlias

from inductor_debug.accelerators.suggestions import unknown
from inductor_debug.rules import catalog
from inductor_debug.rules.judging.base import Constraint, Page, Rule

__all__ = ["Page", "UnknownRuleError", "about_accelerators", "all_rules", "constraints", "find", "known_page", "page"]


class UnknownRuleError(LookupError):
    """There is no rule of that id; the message suggests the nearest one."""


@lru_cache(maxsize=1)
def all_rules() -> tuple[Rule, ...]:
    """One instance of every rule: constraints first, then the rules about the run."""
    modules = pkgutil.walk_packages(catalog.__path__, f"{catalog.__name__}.")
    found = [_rule_in(module.name) for module in modules if not module.ispkg]
    return tuple(sorted(found, key=lambda rule: (rule.order, rule.id)))


def constraints() -> tuple[Constraint, ...]:
    """The rules that judge ops."""
    return tuple(rule for rule in all_rules() if isinstance(rule, Constraint))


@lru_cache(maxsize=1)
def about_accelerators() -> frozenset[str]:
    """The ids of the rules that speak only where an accelerator was chosen."""
    return frozenset(rule.id for rule in constraints() if rule.judges_accelerator)


def find(rule_id: str) -> Rule:
    """The rule of that id.

    Raises:
        UnknownRuleError: no rule has it.
    """
    by_id = {rule.id: rule for rule in all_rules()}
    if rule_id in by_id:
        return by_id[rule_id]
    raise UnknownRuleError(unknown(rule_id, by_id, "rule"))


def page(rule_id: str) -> str:
    """The page of a rule as Markdown.

    Raises:
        UnknownRuleError: no rule has that id.
    """
    return find(rule_id).page.text


def known_page(rule_id: str) -> Page | None:
    """The page of a rule; None for a rule that is not ours."""
    try:
        return find(rule_id).page
    except UnknownRuleError:
        return None


def _rule_in(name: str) -> Rule:
    module = importlib.import_module(name)
    classes = [
        value
        for value in vars(module).values()
        # On Python 3.10 an alias such as tuple[int, ...] passes for a type, and issubclass refuses it.
        if isinstance(value, type) and not isinstance(value, GenericAlias)
        if issubclass(value, Rule) and value.__module__ == module.__name__
    ]
    if len(classes) != 1:
        raise TypeError(f"{module.__name__} must define exactly one rule, not {len(classes)}")
    return classes[0]()
