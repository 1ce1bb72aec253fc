"""What the targets of open documents cost with the text that git has at HEAD, for lenses that say what edits changed.

That text is run once, as a trial that makes way for every analysis, and only where a bound is known of the text as it
is now.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from inductor_debug_schema import RunCost

from inductor_debug.engine.text.source_files import LARGEST_FILE, decode
from inductor_debug.server.state.editor_texts import EditorDocument
from inductor_debug.system.committed import committed_content

Costs = dict[str, RunCost]
Try = Callable[[str, str], Awaitable["Costs | None"]]
"""What the targets of the open document at a URI cost with another text."""


class CommittedCosts:
    """Known by path, for one text at HEAD and one accelerator."""

    def __init__(self, tried: Try) -> None:
        self._tried = tried
        self._known: dict[str, tuple[tuple[str, str], Costs]] = {}

    def of(self, path: str) -> Costs:
        """By the names of targets; empty where nothing is known."""
        known = self._known.get(path)
        return known[1] if known is not None else {}

    async def seek(self, document: EditorDocument) -> bool:
        """Finds out what is not known yet of a document whose text has just been analysed; whether that is news."""
        text, costs = document.costs
        accelerator = next((cost.accelerator for cost in costs.values() if cost.total.seconds), "")
        if not accelerator or not document.path.endswith(".py"):
            return False
        content = await committed_content(document.path, LARGEST_FILE)
        committed = decode(document.path, content) if content is not None else None
        if not isinstance(committed, str):
            return self._known.pop(document.path, None) is not None
        key = (committed, accelerator)
        known = self._known.get(document.path)
        if known is not None and known[0] == key:
            return False
        found = costs if committed == text else await self._tried(document.uri, committed)
        if found is None:
            return False
        self._known[document.path] = (key, found)
        return found is not costs
