"""Where this package lies on disk, so that its own frames and files are told from the user's. Knows no single file."""

from __future__ import annotations

import os

OWN_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
"""The folder of `inductor_debug`, with a separator at its end."""
STAND_INS = (
    os.path.join(OWN_PACKAGE, "capture", "entry") + os.sep,
    os.path.join(OWN_PACKAGE, "capture", "tensors", "written_nowhere.py"),
)
"""What user code calls in place of Python's own functions there: it is still the user's code that does it."""
_trusted: list[str] = []


def trust(package: str) -> None:
    """Lets code of an accelerator's package do what compilers do: start processes, write caches.

    Args:
        package: its folder, or the file of a package that is one module.
    """
    if package not in _trusted:
        _trusted.append(package if package.endswith(".py") else os.path.join(package, ""))


def is_trusted(file: str) -> bool:
    """Whether a file belongs to a package that was trusted: the user has chosen its accelerator."""
    return file.startswith(tuple(_trusted))
