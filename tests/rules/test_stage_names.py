"""A stage has one name wherever people read of it."""

from __future__ import annotations

import re
from pathlib import Path

from inductor_debug.rules.words.stage_names import stage_name
from inductor_debug_schema import Stage

WORDS = Path(__file__).parents[2] / "vscode-extension" / "src" / "common" / "words.ts"


def test_the_extension_has_the_daemon_s_words() -> None:
    cases = re.findall(r'case "(\w+)":\s*return t\("([^"]+)"\)', WORDS.read_text(encoding="utf-8"))
    assert dict(cases) == {stage.value: stage_name(stage) for stage in Stage}


def test_no_stage_is_called_like_an_accelerator() -> None:
    assert {stage_name(stage) for stage in Stage}.isdisjoint({"mock", "spyre"})
