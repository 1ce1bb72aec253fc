"""Bisections and transfers as pages: all that matters is there, places are links, and text never becomes markup."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

import pytest
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.html.accelerator_page import accelerator_page
from inductor_debug.report.html.bisect_page import Climb, bisect_page
from inductor_debug.report.html.transfers_page import transfers_page
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug_schema import (
    AcceleratorColumn,
    AcceleratorComparison,
    BisectDocument,
    BisectGuilty,
    BisectPiece,
    BisectRung,
    BisectStep,
    BisectVerdict,
    Checked,
    Crossing,
    DeviceLayout,
    Direction,
    FileStatus,
    Finding,
    Position,
    Range,
    RoundTrip,
    RuleCount,
    RungState,
    Severity,
    Stage,
    TargetCost,
    TargetReport,
    TransferExample,
    TransferRow,
    TransfersDocument,
    TransferSummary,
)

EVIL = "\"><script>alert('x')</script>&amp;"
GUILTY = BisectGuilty(
    backend="spyre",
    graph="0",
    direction=Direction.FORWARD,
    node="mul",
    op="aten.mul.Tensor",
    path="/work/a b/model.py",
    range=Range(Position(5, 11), Position(5, 16)),
)
BISECTION = BisectDocument(
    schema=1,
    target="Net",
    ladder=[
        BisectRung("eager", "the model", RungState.OK, "The model runs.", 0.01),
        BisectRung("spyre", "", RungState.WRONG, EVIL, 0.0),
    ],
    verdict=BisectVerdict.BACK_END,
    guilty=GUILTY,
    commands=["inductor-debug diff '/work/a b/model.py::Net' --backend dynamo"],
    notes=["<no> pass was searched"],
)
TRANSFER = TransferRow(
    graph="0",
    direction=Crossing.TO_DEVICE,
    role="input",
    name="x",
    shape=[2],
    stride=[1],
    dtype="int64",
    device_dtype="int32",
    host_bytes=16,
    device_bytes=128,
    layout=DeviceLayout([1, 32], [32, 1], 128, 120),
    digest="0123456789abcdef",
    round_trip=RoundTrip.CHANGED,
    changed=1,
    example=TransferExample([1], "1099511627776", "0"),
    path="/work/model.py",
    line=3,
    note="",
)
CROSSED = TransfersDocument(
    schema=1,
    target="double",
    accelerator="spyre",
    transfers=[TRANSFER],
    summary=TransferSummary(2, 32, 256, 1),
    problem=None,
    error=None,
)
HERE = Range(Position(11, 4), Position(11, 20))
FOUND = [Finding("dtype", Severity.WARNING, words, "/work/model.py", HERE, Stage.MOCK) for words in ("a <b> is", "c")]
COST = TargetCost("Net", Stage.MOCK, 200, 5, 1_234_000_000, 2048, 1 << 20, exact=True)
SPYRE = AcceleratorColumn(
    "spyre",
    "spyre",
    "IBM Spyre",
    chosen=False,
    status=FileStatus.FINDINGS,
    device_bytes=128 << 30,
    counts=[RuleCount("dtype", Severity.WARNING, 5)],
    costs=[COST],
    findings=FOUND,
    left_out=3,
)
BOARD = AcceleratorColumn(
    "/work/boards/board.toml",
    "<board>",
    "",
    chosen=True,
    status=FileStatus.CLEAN,
    costs=[replace(COST, unsupported_ops=0, seconds_at_least=0.0032, limited_by="memory")],
)
COMPARED = AcceleratorComparison("/work/model.py", "Net", columns=[SPYRE, BOARD])
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
    page = bisect_page([replace(BISECTION, verdict=BisectVerdict.NONE, guilty=None, commands=[], notes=[])], *ABOUT)
    assert "<p>No layer goes wrong.</p>" in page
    assert "<h2>" not in page


def test_several_targets_are_on_one_page() -> None:
    text = read(bisect_page([BISECTION, replace(BISECTION, target="Other")], *ABOUT))
    assert "Bisection of Net" in text
    assert "Bisection of Other" in text


def test_a_ladder_that_is_being_climbed_shows_what_is_done_what_runs_and_what_waits() -> None:
    climb = Climb()
    planned = [BisectStep(name, "") for name in ("eager", "dynamo", "inductor")]
    climb.hear("Net", BisectPiece(ladder=[], planned=planned))
    text = read(climb.hear("Net", BisectPiece(ladder=BISECTION.ladder[:1])))
    assert "eager the model pass" in text
    assert "dynamo running… not run inductor waiting not run" in text


def test_transfers_have_a_row_each_and_what_does_not_come_back_comes_first() -> None:
    back = replace(TRANSFER, direction=Crossing.TO_HOST, role="output", name="mul", shape=[], device_dtype="int64")
    kept = replace(back, layout=None, round_trip=RoundTrip.NOT_RUN, path=None, line=None)
    page = transfers_page([replace(CROSSED, transfers=[TRANSFER, kept])], *ABOUT)
    text = read(page)
    assert "2 transfers, 32 B on the host, 256 B on spyre." in text
    assert "x : 1 element of int64 is kept as int32; 1099511627776 at [1] becomes 0 (model.py, line 4)" in text
    assert "to device input x int64[2] as int32 1×32 94% 01234567 changed" in text
    assert "to host output mul int64[] 128 B 01234567 not run" in text
    assert '<a href="model.py#L4" data-range="3:0-3:0"><code>x</code></a>' in page


def test_a_run_that_went_wrong_says_what() -> None:
    said = replace(CROSSED, problem="the model does not fit", error="ValueError: no", transfers=[])
    page = transfers_page([said], *ABOUT)
    assert "<strong>the model does not fit</strong>" in page
    assert "<strong>ValueError: no</strong>" in page
    assert "<table>" not in page


def test_thousands_of_transfers_are_cut_and_the_page_says_so() -> None:
    page = transfers_page([replace(CROSSED, transfers=[TRANSFER] * 1500)], *ABOUT)
    assert "The log has more: 1,500 transfers." in read(page)


def test_each_accelerator_has_a_column_and_what_its_profile_does_not_say_stays_empty() -> None:
    page = accelerator_page(COMPARED, *ABOUT)
    assert "<h1>Accelerators for Net</h1>" in page
    assert '<th scope="row">ops without a kernel</th><td>5 of 200 (2.5%)</td><td>0 of 200</td>' in page
    assert '<th scope="row">peak memory, at least</th><td>1 MiB of 128 GiB</td><td>1 MiB</td>' in page
    assert '<th scope="row">operations, at least</th><td>1.234 G</td><td>1.234 G</td>' in page
    assert '<th scope="row">time, at least</th><td></td><td>3.2 ms (memory)</td>' in page


def test_a_head_chooses_its_accelerator_but_for_the_one_that_is_chosen() -> None:
    page = accelerator_page(COMPARED, *ABOUT)
    assert re.findall(r'<span data-accelerator="([^"]*)">([^<]*)</span>', page) == [("spyre", "spyre")]
    assert "&lt;board&gt; <small>(chosen)</small>" in page


def test_a_number_leads_to_its_findings_each_of_which_leads_to_its_expression() -> None:
    page = accelerator_page(COMPARED, *ABOUT)
    assert '<td><a href="#all-0">5</a></td><td>0</td>' in page
    targets = re.findall(r'href="#([^"]+)"', page)
    assert len(targets) == 2
    assert all(f'id="{target}"' in page for target in targets)
    link = '<a href="model.py#L12" data-range="11:4-11:20">model.py, line 12</a>'
    assert f"<li>{link}: a &lt;b&gt; is</li><li>{link}: c</li>" in page
    assert "3 more are not listed here; a check for spyre lists them all." in page


def test_what_was_not_checked_is_said_above_the_table_of_accelerators() -> None:
    partly = TargetReport("Net", 0, [], checked=Checked.PARTLY, why="it ends with the error in line 3")
    text = read(accelerator_page(replace(COMPARED, targets=[partly]), *ABOUT))
    assert text.index("it ends with the error in line 3") < text.index("warning dtype")


@pytest.mark.parametrize(
    "page",
    [
        bisect_page(
            [replace(BISECTION, target=EVIL, commands=[shlex.join(["inductor-debug", EVIL])], notes=[EVIL])], *ABOUT
        ),
        bisect_page([replace(BISECTION, guilty=replace(GUILTY, op=EVIL, path=f"/{EVIL}"))], *ABOUT),
        transfers_page([replace(CROSSED, error=EVIL, transfers=[replace(TRANSFER, name=EVIL, path=EVIL)])], *ABOUT),
        Climb().hear(EVIL, BisectPiece(ladder=[], planned=[BisectStep(EVIL, EVIL)])),
        accelerator_page(replace(COMPARED, target=EVIL, columns=[replace(BOARD, name=EVIL, title=EVIL)]), *ABOUT),
    ],
)
def test_text_never_becomes_markup(page: str) -> None:
    assert "<script" not in page
    assert "alert('" not in page
