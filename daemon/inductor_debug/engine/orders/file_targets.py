"""`FILE[::TARGET]`, by which people name what an order is about."""

from __future__ import annotations

import os
from dataclasses import dataclass


class FileTargetError(ValueError):
    """What was named is no file; the message says so."""


@dataclass(frozen=True, slots=True)
class FileTarget:
    """A file, as the user named it and as an absolute path, and the target in it that is meant; "" for all."""

    shown: str
    path: str
    target: str = ""


def file_target(words: str) -> FileTarget:
    """Reads `FILE[::TARGET]`; a file whose name has `::` in it is found as well.

    Raises:
        FileTargetError: there is no such file.
    """
    file, separator, target = (words, "", "") if os.path.isfile(words) else words.rpartition("::")
    if not separator:
        file, target = words, ""
    if separator and not target:
        raise FileTargetError(f"{words}: no target named after '::'")
    if not file:
        raise FileTargetError("an empty path")
    if os.path.isdir(file):
        raise FileTargetError(f"{file} is a folder; name one file")
    if not os.path.isfile(file):
        raise FileTargetError(f"{file} does not exist")
    return FileTarget(file, os.path.abspath(file), target)
