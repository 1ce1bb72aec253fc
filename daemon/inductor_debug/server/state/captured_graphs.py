"""The graphs that an order captured last: whoever has their kernels compiled waits for no second capture."""

from __future__ import annotations

from dataclasses import dataclass

from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class _Captured:
    uri: str
    order: Order
    settings: Settings
    performed: Performed


class CapturedGraphs:
    """What came of the last order for graphs of an open document; of one alone, because graphs may be large."""

    def __init__(self) -> None:
        self._last: _Captured | None = None

    def take(self, uri: str, order: Order, settings: Settings, performed: Performed) -> None:
        """Keeps what came of an order, in place of the one before."""
        self._last = None if performed.broken else _Captured(uri, order, settings, performed)

    def of(self, uri: str, order: Order, settings: Settings, text: str) -> Performed | None:
        """What came of the same order for this text with these settings, if it is the last one."""
        last = self._last
        if last is None or (last.uri, last.order, last.settings) != (uri, order, settings):
            return None
        return last.performed if last.performed.text == text else None

    def forget(self, uri: str) -> None:
        """The document is closed."""
        if self._last is not None and self._last.uri == uri:
            self._last = None

    def doubt(self, paths: set[str]) -> None:
        """Files have changed on disk, which what was captured may have imported."""
        self._last = None
