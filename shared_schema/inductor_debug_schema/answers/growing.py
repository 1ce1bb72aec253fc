"""How a comparison grows from the pieces that come while it is made: the one rule, for the daemon and for its editors.

Editors read `ROWS` generated, so that they do not know the tables by name either.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Union

from inductor_debug_schema.answers.diff_document import DiffDocument, DiffPiece

ROWS: dict[str, str] = {"outputs": "name", "gradients": "name", "nodes": "", "segments": ""}
"""The tables that grow, with the field that tells their rows apart: of several runs, a worse one's row is told again,
in place of the one before. Where it is "", every row is another one."""


def grown(document: Union[DiffDocument, None], piece: DiffPiece) -> Union[DiffDocument, None]:
    """The document with what a piece adds to it; None where no piece has begun one."""
    before = document if piece.begun is None else piece.begun
    if before is None:
        return None
    said = {part.name: getattr(piece, part.name) for part in dataclasses.fields(piece) if part.name != "begun"}
    changed: dict[str, Any] = {
        name: _with_rows(getattr(before, name), value, ROWS[name]) if name in ROWS else value
        for name, value in said.items()
        if value is not None
    }
    return dataclasses.replace(before, **changed)


def _with_rows(rows: list[Any], more: list[Any], key: str) -> list[Any]:
    if not key:
        return [*rows, *more]
    return list({getattr(row, key): row for row in (*rows, *more)}.values())
