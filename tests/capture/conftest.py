from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def fresh_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """As a script of the user's finds the world: an empty folder, nothing compiled, nothing warned of."""
    import torch
    from inductor_debug.capture.script_backends import script_judgement

    for name in ("MOCK_STRICT", "MOCK_ALIGNMENT", "MOCK_MAX_MEMORY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    script_judgement._warned.clear()
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()
