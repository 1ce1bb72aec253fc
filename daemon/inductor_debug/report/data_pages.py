"""Pages of the editor as one file that opens anywhere, without a server and without the network.

They are built by `vscode-extension/scripts/pages.mjs` and packaged in `report/pages`. Here only the data is put in, as
base64 of a JSON text, so that nothing in a model's names can end up as markup. Files are named as a person would name
them, because a page is for passing on: it never says where somebody's home is.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from inductor_debug.source.notebooks.reading import cell_areas

PAGES = Path(__file__).parent / "pages"
PLACEHOLDER = "@@INDUCTOR_DEBUG_DATA@@"


class PageError(Exception):
    """The page is not part of this installation; the message says so."""


def page_with(name: str, data: dict[str, Any]) -> str:
    """The page called `name` with `data` in it, a JSON document.

    Raises:
        PageError: this installation has no such page, or one that takes no data.
    """
    path = PAGES / f"{name}.html"
    try:
        page = path.read_text(encoding="utf-8")
    except OSError:
        raise PageError(f"this installation has no {name} page; it is built with the editor's extension") from None
    if page.count(PLACEHOLDER) != 1:
        raise PageError(f"{path} is no page that takes data")
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return page.replace(PLACEHOLDER, base64.b64encode(text).decode("ascii"))


def cells_in(paths: Iterable[str], shown: Callable[[str], str]) -> list[dict[str, Any]]:
    """The cells of those files that are notebooks: a page tells of lines in them (`webview/shared/cells.ts`)."""
    return [{"path": shown(path), **area} for path in dict.fromkeys(paths) for area in cell_areas(path)]


def with_names(said: Any, shown: Callable[[str], str]) -> Any:
    """A JSON document in which each `path` is what the file is called."""
    if isinstance(said, list):
        return [with_names(one, shown) for one in said]
    if not isinstance(said, dict):
        return said
    return {
        key: shown(value) if key == "path" and isinstance(value, str) else with_names(value, shown)
        for key, value in said.items()
    }
