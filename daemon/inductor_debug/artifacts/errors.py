"""The one error of this room."""

from __future__ import annotations


class ArtifactError(Exception):
    """A file is no artifact of ours, is damaged, or was written by a newer version; the message says which."""
