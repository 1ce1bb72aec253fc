"""The log of transfers as people read it."""

from __future__ import annotations

from answers import answer
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.html.transfers_page import transfers_page
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Styler
from inductor_debug.report.text.transfers_text import transfers_text
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


def test_values_stand_beside_each_other_with_a_gap_where_some_are_left_out() -> None:
    values = [
        {"index": [0], "before": "1", "after": "1"},
        {"index": [1], "before": "1.001", "after": "1.002"},
        {"index": [9], "before": "nan", "after": "nan"},
    ]
    half = {"dtype": "float16", "device_dtype": "sen169_fp16", "shape": [10], "round_trip": "rounded", "changed": 0}
    row = {**TRANSFER, **half, "rounded": 1, "values": values, "example": values[1]}
    document = {"target": "Net", "accelerator": "spyre", "summary": {"transfers": 1}, "transfers": [row], "values": 2}
    said = answer(TransfersDocument, document)
    text = transfers_text(said, FileNames("/work", "/work"), ShownTexts(), Styler(False))
    assert "1 tensor comes back rounded to the nearest numbers of spyre (sen169_fp16), which is no fault." in text
    shown = text[text.index("input x, float16 as sen169_fp16 10:") :].splitlines()[1:]
    assert [line.split() for line in shown] == [
        ["host", "device"],
        ["[0]", "1", "1"],
        ["[1]", "1.001", "1.002", "differs"],
        ["…"],
        ["[9]", "nan", "nan"],
    ]
    page = transfers_page([said], FileNames("/work", "/work"), ShownTexts())
    assert '<span data-values="2">' in page
    cells = "<td>1.001</td><td>1.002</td><td>differs</td>"
    assert f"<td>[1]</td>{cells}" in page
