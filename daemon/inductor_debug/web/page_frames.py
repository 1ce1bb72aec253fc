"""Pages of the editor for a browser: as they are packaged, with a host around them in place of VS Code.

A page asks `acquireVsCodeApi` for whoever shows it. In an editor VS Code answers; here the script `frame.js` does,
which hands messages on to the page around it. It stands before the page's own script, under the same policy: nothing
but these two may run, and nothing may be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from types import MappingProxyType

from inductor_debug.report.data_pages import PAGES, PLACEHOLDER, PageError

SHELL = "browser"
"""The page around all others."""
FRAMED = ("charts", "graph", "kerneldiff", "order")
"""Pages that are shown in it."""
_POLICY = re.compile(r'content="(default-src [^"]*)"')
_HOST = MappingProxyType({"script": "frame.js", "style": "frame.css"})


@cache
def framed_page(name: str) -> tuple[str, str]:
    """A page with its host, and its policy.

    Raises:
        PageError: this installation has no such page.
    """
    if name not in FRAMED:
        raise PageError(f"there is no page {name}")
    page, parts = _text(f"{name}.html"), {tag: _text(file) for tag, file in _HOST.items()}
    for tag, text in parts.items():
        policy = f"{tag}-src {_hash(text)} "
        page = page.replace(f"{tag}-src ", policy, 1)
    head = f"<style>{parts['style']}</style>\n<script>{parts['script']}</script>\n</head>"
    page = page.replace("</head>", head, 1).replace(PLACEHOLDER, "")
    return page, f"{policy_of(page)}; frame-ancestors 'self'"


@cache
def shell_page() -> tuple[str, str]:
    """The page around all others, and its policy.

    Raises:
        PageError: this installation has none.
    """
    page = _text(f"{SHELL}.html").replace(PLACEHOLDER, "")
    return page, f"{policy_of(page)}; frame-ancestors 'none'"


def policy_of(page: str) -> str:
    """What a page says of what may run in it."""
    found = _POLICY.search(page)
    if found is None:
        raise PageError("a page of this installation has no policy")
    return found[1]


def _text(name: str) -> str:
    try:
        return (PAGES / name).read_text(encoding="utf-8")
    except OSError:
        raise PageError(f"this installation has no {name}; it is built with the editor's extension") from None


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
