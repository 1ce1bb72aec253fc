"""Colour for terminals: the few roles that text plays in a report, and their escape sequences.

Whether to colour at all is the caller's decision (`cli.support.console`); without colour every role is plain text.
"""

from __future__ import annotations

from enum import Enum

from inductor_debug_schema import Severity


class Role(Enum):
    """What a piece of text is for; the value is its SGR parameters."""

    ERROR = "1;31"
    """The word "error" and the carets under it."""
    WARNING = "1;33"
    """The word "warning" and the carets under it."""
    INFORMATION = "1;36"
    """The words "information" and "hint" and the carets under them."""
    PLACE = "1"
    """A path, line and column."""
    FRAME = "34"
    """Line numbers and the bar beside an excerpt."""
    FAINT = "2"
    """What may be skipped on first reading."""
    GOOD = "32"
    """All is well."""
    HEADING = "1;4"
    """A heading on a rule's page."""
    CODE = "36"
    """Code inside prose."""


class Styler:
    """Paints text, or leaves it as it is when `enabled` is false.

    `width` is how many columns the terminal has; None where the text goes elsewhere, and nothing has to be cut.
    """

    def __init__(self, enabled: bool, width: int | None = None) -> None:
        self.enabled = enabled
        self.width = width

    def paint(self, text: str, role: Role) -> str:
        """`text` in the colour of `role`."""
        if not self.enabled or not text:
            return text
        return f"\x1b[{role.value}m{text}\x1b[0m"


def role_of(severity: Severity) -> Role:
    """The colour that a severity is shown in."""
    if severity is Severity.ERROR:
        return Role.ERROR
    if severity is Severity.WARNING:
        return Role.WARNING
    return Role.INFORMATION
