"""Where compiling went, of targets for which somebody asked; kept until the document is closed or asked for again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inductor_debug_schema import CompileTimeDocument

from inductor_debug.engine.orders.orders import Performed

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server


@dataclass(frozen=True, slots=True)
class TimedCompile:
    """What a compilation of a target took, and the text that was compiled."""

    text: str
    document: CompileTimeDocument


class CompileTimes:
    """The newest compilation of each target of each file."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], TimedCompile] = {}
        self.listeners: list[Callable[[], None]] = []

    def take(self, performed: Performed) -> None:
        """Keeps what came of an order, in place of older ones."""
        for document in performed.documents(CompileTimeDocument):
            self._known[performed.report.path, document.target] = TimedCompile(performed.text, document)
        for listener in self.listeners:
            listener()

    def of(self, path: str, target: str) -> TimedCompile | None:
        """The newest compilation of a target."""
        return self._known.get((path, target))

    def forget(self, path: str) -> None:
        """The document is closed."""
        for key in [key for key in self._known if key[0] == path]:
            del self._known[key]


def register(server: Server) -> None:
    """Forgets what is known of a closed document."""

    def closed(uri: str) -> None:
        from inductor_debug.server.state.synchronisation import path_of

        if path := path_of(uri):
            server.compile_times.forget(path)

    server.closed_listeners.append(closed)
