"""The log of transfers as people read it."""

from __future__ import annotations

from answers import answer
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Styler
from inductor_debug.report.text.bisect_text import transfers_text
from inductor_debug_schema import TransfersDocument

TRANSFER = {
    "graph": "0",
    "direction": "to-device",
    "role": "input",
    "name": "x",
    "shape": [2],
    "dtype": "int64",
    "device_dtype": "int32",
    "device_bytes": 128,
    "layout": None,
    "digest": "0123456789",
    "round_trip": "changed",
    "changed": 1,
    "example": {"index": [1], "before": "1099511627776", "after": "0"},
    "path": "/work/model.py",
    "line": 3,
}


def test_one_of_something_is_told_as_one() -> None:
    summary = {"transfers": 1, "host_bytes": 16, "device_bytes": 128}
    document = {"target": "Net", "accelerator": "spyre", "summary": summary, "transfers": [TRANSFER]}
    text = transfers_text(answer(TransfersDocument, document), FileNames("/work", "/work"), ShownTexts(), Styler(False))
    lines = text.splitlines()
    assert lines[0] == "Net: 1 transfer, 16 B on the host, 128 B on spyre"
    assert "x: 1 element changed on the way: int64 is kept as int32; 1099511627776 at [1] becomes 0" in lines
    assert "  model.py:4" in lines
