"""Bisections and transfers as pages: all that matters is there, places are links, and text never becomes markup."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.html.bisect_page import Climb, bisect_page
from inductor_debug.report.html.transfers_page import transfers_page
from inductor_debug.report.source_characters import ShownTexts

EVIL = "\"><script>alert('x')</script>&amp;"
RANGE = {"start": {"line": 5, "character": 11}, "end": {"line": 5, "character": 16}}
BISECTION: dict[str, Any] = {
    "target": "Net",
    "ladder": [
        {"backend": "eager", "adds": "the model", "state": "ok", "why": "The model runs.", "seconds": 0.01},
        {"backend": "spyre", "state": "wrong", "why": EVIL},
    ],
    "verdict": "back-end",
    "guilty": {
        "backend": "spyre",
        "graph": "0",
        "direction": "forward",
        "pass": None,
        "node": "mul",
        "op": "aten.mul.Tensor",
        "path": "/work/a b/model.py",
        "range": RANGE,
    },
    "commands": ["inductor-debug diff '/work/a b/model.py::Net' --backend dynamo"],
    "notes": ["<no> pass was searched"],
}
TRANSFER: dict[str, Any] = {
    "graph": "0",
    "direction": "to-device",
    "role": "input",
    "name": "x",
    "shape": [2],
    "dtype": "int64",
    "device_dtype": "int32",
    "device_bytes": 128,
    "layout": {"size": [1, 32], "bytes": 128, "padding_bytes": 120},
    "digest": "0123456789abcdef",
    "round_trip": "changed",
    "changed": 1,
    "example": {"index": [1], "before": "1099511627776", "after": "0"},
    "path": "/work/model.py",
    "line": 3,
}
CROSSED: dict[str, Any] = {
    "target": "double",
    "accelerator": "spyre",
    "summary": {"transfers": 2, "host_bytes": 32, "device_bytes": 256, "changed": 1},
    "transfers": [TRANSFER],
    "problem": None,
    "error": None,
}
ABOUT = (FileNames("/work", "/work"), ShownTexts())


def read(page: str) -> str:
    """What one reads of a page."""
    body = page[page.index("<body>") :]
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def test_a_bisection_has_its_verdict_the_ladder_the_guilty_expression_and_the_commands() -> None:
    page = bisect_page([BISECTION], *ABOUT)
    text = read(page)
    assert "The back end goes wrong: what generates and runs code." in text
    assert "eager the model pass The model runs. 10&nbsp;ms" in text
    assert "Operation aten.mul.Tensor" in text
    assert "Pass or lowering" not in text
    assert '<a href="a%20b/model.py#L6" data-range="5:11-5:16">model.py, line 6</a>' in page
    assert '<pre class="command">inductor-debug diff &#x27;a b/model.py::Net&#x27; --backend dynamo</pre>' in page
    assert "&lt;no&gt; pass was searched" in text


def test_a_bisection_that_found_nothing_says_so_and_no_more() -> None:
    page = bisect_page([{**BISECTION, "verdict": "none", "guilty": None, "commands": [], "notes": []}], *ABOUT)
    assert "<p>No layer goes wrong.</p>" in page
    assert "<h2>" not in page


def test_several_targets_are_on_one_page() -> None:
    text = read(bisect_page([BISECTION, {**BISECTION, "target": "Other"}], *ABOUT))
    assert "Bisection of Net" in text
    assert "Bisection of Other" in text


def test_a_ladder_that_is_being_climbed_shows_what_is_done_what_runs_and_what_waits() -> None:
    climb = Climb()
    climb.hear("Net", {"planned": [{"backend": name, "adds": ""} for name in ("eager", "dynamo", "inductor")]})
    text = read(climb.hear("Net", {"ladder": BISECTION["ladder"][:1]}))
    assert "eager the model pass" in text
    assert "dynamo running… not run inductor waiting not run" in text


def test_transfers_have_a_row_each_and_what_does_not_come_back_comes_first() -> None:
    back = {**TRANSFER, "direction": "to-host", "role": "output", "name": "mul", "shape": [], "device_dtype": "int64"}
    kept = {**back, "layout": None, "round_trip": "not-run", "path": None, "line": None}
    page = transfers_page([{**CROSSED, "transfers": [TRANSFER, kept]}], *ABOUT)
    text = read(page)
    assert "2 transfers, 32 B on the host, 256 B on spyre." in text
    assert "x : 1 element of int64 is kept as int32; 1099511627776 at [1] becomes 0 (model.py, line 4)" in text
    assert "to device input x int64[2] as int32 1×32 94% 01234567 changed" in text
    assert "to host output mul int64[] 128 B 01234567 not run" in text
    assert '<a href="model.py#L4" data-range="3:0-3:0"><code>x</code></a>' in page


def test_a_run_that_went_wrong_says_what() -> None:
    said = {"problem": "the model does not fit", "error": "ValueError: no", "transfers": []}
    page = transfers_page([{**CROSSED, **said}], *ABOUT)
    assert "<strong>the model does not fit</strong>" in page
    assert "<strong>ValueError: no</strong>" in page
    assert "<table>" not in page


def test_thousands_of_transfers_are_cut_and_the_page_says_so() -> None:
    page = transfers_page([{**CROSSED, "transfers": [TRANSFER] * 1500}], *ABOUT)
    assert "The log has more: 1,500 transfers." in read(page)


@pytest.mark.parametrize(
    "page",
    [
        bisect_page(
            [{**BISECTION, "target": EVIL, "commands": [shlex.join(["inductor-debug", EVIL])], "notes": [EVIL]}], *ABOUT
        ),
        bisect_page([{**BISECTION, "guilty": {**BISECTION["guilty"], "op": EVIL, "path": f"/{EVIL}"}}], *ABOUT),
        transfers_page([{**CROSSED, "error": EVIL, "transfers": [{**TRANSFER, "name": EVIL, "path": EVIL}]}], *ABOUT),
        Climb().hear(EVIL, {"planned": [{"backend": EVIL, "adds": EVIL}]}),
    ],
)
def test_text_never_becomes_markup(page: str) -> None:
    assert "<script" not in page
    assert "alert('" not in page
