"""Tests that cannot be relied on: each stands in `.ci/quarantine.json` with the reason.

The failure of one of them is told and does not fail the run.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

LIST = Path(__file__).parents[1] / ".ci" / "quarantine.json"


def listed(path: Path = LIST) -> dict[str, str]:
    """The reason of each test in the list, by its node id (`tests/…::…`)."""
    return {entry["test"]: entry["reason"] for entry in json.loads(path.read_text(encoding="utf-8"))}


def mark(items: Iterable[pytest.Item], reasons: Mapping[str, str]) -> None:
    """Has pytest expect a failure of the tests that have a reason; that they pass is fine, too."""
    for item in items:
        if item.nodeid in reasons:
            item.add_marker(pytest.mark.xfail(reason=reasons[item.nodeid], strict=False))
