"""An interpreter that is there or gone, as an environment is while somebody makes it anew."""

from __future__ import annotations

import sys
from pathlib import Path


class LostInterpreter:
    """Stands for the Python that runs this, in a folder of its own; a full disk of who starts it is not its."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "bin" / "python"
        self.path.parent.mkdir(parents=True)
        self.come_back()

    def vanish(self) -> None:
        """It is gone, whoever runs in it."""
        self.path.unlink(missing_ok=True)

    def come_back(self) -> None:
        """It is there again."""
        beside = self.path.with_suffix(".new")
        beside.write_text(f'#!/bin/sh\nulimit -f unlimited\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
        beside.chmod(0o755)
        beside.replace(self.path)
