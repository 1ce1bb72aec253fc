"""The few things worth a message to the user, each told once.

A pop-up is for problems that keep the tool from working and that the user can mend: a setting, a configuration file, an
interpreter. Everything about a model is a diagnostic, everything about us goes to the log.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from lsprotocol import types

_LONGEST = 2000

logger = logging.getLogger(__name__)


class Notices:
    """Tells each problem once, and again only when it was gone in between.

    Args:
        send: Delivers `window/showMessage`.
    """

    def __init__(self, send: Callable[[types.ShowMessageParams], None]) -> None:
        self._send = send
        self._told: dict[str, str] = {}

    def tell(self, subject: str, text: str) -> None:
        """Shows `text` unless it is what was last said about `subject`."""
        if self._told.get(subject) == text:
            return
        self._told[subject] = text
        logger.warning("%s", text)
        if len(text) > _LONGEST:
            text = text[:_LONGEST] + "…"
        self._send(types.ShowMessageParams(type=types.MessageType.Error, message=f"inductor-debug: {text}"))

    def mended(self, subject: str) -> None:
        """The problem is gone; should it come back, it is told again."""
        self._told.pop(subject, None)
