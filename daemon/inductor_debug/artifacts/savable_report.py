"""Reports that scripts hold in their hands: as a document, as JSON text, as a file that they choose."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any


class SavableReport(ABC):
    """Something that is a document of the contract when it is written down."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The document as plain dicts and lists."""

    def to_json(self, indent: int | None = None) -> str:
        """The document as JSON text, in lines that are indented by `indent` spaces, or in one line."""
        return json.dumps(self.to_dict(), indent=indent)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the document to the file `path`, as indented JSON.

        Raises:
            OSError: the file cannot be written.
        """
        Path(path).write_text(self.to_json(indent=1) + "\n", encoding="utf-8")
