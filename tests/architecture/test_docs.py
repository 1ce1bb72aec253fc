"""What the documentation shows in Python runs, from the first block of a page to the last."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
EXTENSION = ROOT / "vscode-extension"
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
PAGES = [page for page in sorted(DOCS.glob("*.md")) if BLOCK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.torch
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    names: dict[str, object] = {"__name__": "example"}
    for number, block in enumerate(blocks, 1):
        exec(compile(block, f"{page.name}, block {number}", "exec"), names)


def test_every_picture_of_the_editor_is_one_that_a_script_takes() -> None:
    taken = [
        re.compile("[a-z]+".join(map(re.escape, re.split(r"\$\{\w+\}", name))))
        for script in (EXTENSION / "test" / "e2e").glob("*.e2e.ts")
        for name in re.findall(r"[\"`]([\w${}-]+?)(?:\.png)?[\"`]", script.read_text(encoding="utf-8"))
        if "-" in name
    ]
    shown = sorted((EXTENSION / "media").glob("screenshot-*.png"))
    assert len(shown) >= 9
    for picture in shown:
        names = (picture.stem, picture.stem.removeprefix("screenshot-"))
        assert any(pattern.fullmatch(name) for pattern in taken for name in names), picture.name
