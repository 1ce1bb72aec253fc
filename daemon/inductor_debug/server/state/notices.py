"""The few things worth a message to the user, each told once.

A pop-up is for problems that keep the tool from working and that the user can mend: a setting, a configuration file, an
interpreter. Everything about a model is a diagnostic, everything about us goes to the log.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from lsprotocol import types

from inductor_debug.engine.results.analysis import AnalysisState, AnalysisUpdate
from inductor_debug.system import tried_versions

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

START_UP_RULE = "environment"
"""The engine's rule for "no worker could be started", which no edit of the model can mend."""
CHOOSE_INTERPRETER = "inductorDebug.chooseInterpreter"
"""The command of clients that tell of such problems themselves."""
_LONGEST = 2000

logger = logging.getLogger(__name__)


class Notices:
    """Tells each problem once, and again only when it was gone in between.

    Args:
        send: Delivers `window/showMessage`.
    """

    def __init__(self, send: Callable[[types.ShowMessageParams], None]) -> None:
        self._send = send
        self._told: dict[str, set[str]] = {}
        self._remarks: set[str] = set()

    def tell(self, subject: str, text: str) -> None:
        """Shows `text`, a problem with `subject`, unless it was said before, of this subject or another."""
        known = any(text in told for told in self._told.values())
        self._told.setdefault(subject, set()).add(text)
        if known:
            return
        logger.warning("%s", text)
        if len(text) > _LONGEST:
            text = text[:_LONGEST] + "…"
        self._send(types.ShowMessageParams(type=types.MessageType.Error, message=f"inductor-debug: {text}"))

    def remark(self, text: str) -> None:
        """Writes into the log, once, what is no problem: nobody is interrupted for it."""
        if text not in self._remarks:
            self._remarks.add(text)
            logger.warning("%s", text)

    def mended(self, subject: str) -> None:
        """Nothing is wrong with `subject` any more; should anything be again, it is told again."""
        self._told.pop(subject, None)


def register(server: Server) -> None:
    """Tells when no worker can be started (the same finding stands in every document), and remarks on odd versions.

    An editor that lets its user choose an interpreter tells it itself, with that choice beside it.
    """

    def hear(update: AnalysisUpdate) -> None:
        if update.state is AnalysisState.DONE:
            versions = server.engine.versions
            remark = tried_versions.remark_on(versions.torch, versions.python)
            if remark is not None:
                server.notices.remark(remark)
        if not update.state.settled or CHOOSE_INTERPRETER in server.client.commands:
            return
        failures = [finding.message for finding in update.report.findings if finding.rule == START_UP_RULE]
        if failures and update.state is AnalysisState.FAILED:
            server.notices.tell("start-up", failures[0])
        elif update.state is AnalysisState.DONE:
            server.notices.mended("start-up")

    server.listeners.append(hear)
