"""Where compiling went, of targets for which somebody asked; kept until the document is closed or asked for again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inductor_debug_schema import CompileTimeDocument

from inductor_debug.engine.orders.orders import Performed


@dataclass(frozen=True, slots=True)
class TimedCompile:
    """What a compilation of a target took, and the text that was compiled."""

    text: str
    document: CompileTimeDocument


class CompileTimes:
    """The newest compilation of each target of each document."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], TimedCompile] = {}
        self.listeners: list[Callable[[], None]] = []

    def take(self, uri: str, performed: Performed) -> None:
        """Keeps what came of an order for a document, in place of older ones."""
        for document in performed.documents(CompileTimeDocument):
            self._known[uri, document.target] = TimedCompile(performed.text, document)
        for listener in self.listeners:
            listener()

    def of(self, uri: str, target: str) -> TimedCompile | None:
        """The newest compilation of a target."""
        return self._known.get((uri, target))

    def forget(self, uri: str) -> None:
        """The document is closed."""
        for key in [key for key in self._known if key[0] == uri]:
            del self._known[key]
