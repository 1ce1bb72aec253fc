"""Structured traces: a document for each frame that was compiled, of the attempt that was kept, on each rank."""

import json
from pathlib import Path

import pytest
from compiler_samples import (
    ADDMM,
    FUSED,
    LOWERED,
    MAPPINGS,
    RELU,
    UP,
    WRAPPER,
    artifact,
    compile_entries,
    trace_entry,
    write_model,
    write_trace,
)
from inductor_debug.compiler_output.importing import NothingFoundError
from inductor_debug_schema import GraphKind
from reading import graph_of, kernel, node, read, text_at


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_model(tmp_path / "project")


def test_a_trace_leads_from_the_captured_graph_to_kernels(tmp_path: Path, model: Path) -> None:
    write_trace(tmp_path / "trace", compile_entries(model))
    found = read(tmp_path / "trace")
    (document,) = found.documents
    assert (document.target, found.unread) == ("0/0", [])
    assert text_at(node(document, "linear", GraphKind.FX).place) == UP
    assert [text_at(place) for place in kernel(document, ADDMM).places] == [UP]
    assert node(document, "relu").kernels == [FUSED]
    assert node(document, "addmm", GraphKind.FORWARD).origins == ["linear"]
    assert graph_of(document, GraphKind.FX).nodes[-2].op == "softmax"


def test_functions_of_a_captured_graph_are_found_however_often_they_run(tmp_path: Path) -> None:
    """A layer that runs twice has each call twice; what is unpacked is no module's work."""
    model = tmp_path / "model.py"
    code = "q, k = self.attend(x).split(4, dim=2)"
    model.write_text(f"{code}\n")
    calls = "".join(
        f"""        # File: {model}:1 in forward, code: {code}
        linear{at}: "f32[8, 8]" = torch._C._nn.linear(l_x_, L_w_)
        split{at} = linear{at}.split(4, dim = 2)
        q{at}: "f32[8, 4]" = split{at}[0]
"""
        for at in ("", "_1")
    )
    text = f"""class GraphModule(torch.nn.Module):
    def forward(self, l_x_: "f32[8, 8]", L_w_: "f32[8, 8]"):
{calls}        return (q, q_1)
"""
    write_trace(tmp_path / "trace", trace_entry({"dynamo_output_graph": {}}, text))
    (document,) = read(tmp_path / "trace").documents
    assert {name: text_at(node(document, name, GraphKind.FX).place) for name in ("linear_1", "split_1", "q")} == {
        "linear_1": "self.attend(x)",
        "split_1": "self.attend(x).split(4, dim=2)",
        "q": code,
    }


def test_the_last_attempt_counts_and_frames_and_ranks_are_documents_of_their_own(tmp_path: Path, model: Path) -> None:
    given_up = trace_entry(
        {"dynamo_output_graph": {}},
        "class G(M):\n  def forward(self, a):\n    return a",
        frame_id=0,
        frame_compile_id=0,
        attempt=0,
    )
    content = given_up + "".join(
        compile_entries(model, frame_id=frame, frame_compile_id=again, attempt=1, rank=rank)
        for rank in (0, 1)
        for frame, again in ((0, 0), (0, 1), (1, 0))
    )
    write_trace(tmp_path, content)
    names = [document.target for document in read(tmp_path).documents]
    assert names == ["0/0", *(f"rank {rank}: {name}" for rank in (0, 1) for name in ("0/0", "0/1", "1/0"))]
    kept = trace_entry(
        {"dynamo_output_graph": {}}, "class G(M):\n  def forward(self, a):\n    return a"
    ) + compile_entries(model, frame_id=0, frame_compile_id=0, attempt=1)
    write_trace(tmp_path / "again", kept)
    (document,) = read(tmp_path / "again").documents
    assert "linear" in {each.name for each in graph_of(document, GraphKind.FX).nodes}


def test_logs_of_several_processes_are_told_apart(tmp_path: Path, model: Path) -> None:
    for process in ("one", "two"):
        write_trace(tmp_path, compile_entries(model), process)
    assert [document.target for document in read(tmp_path).documents] == [
        f"dedicated_log_torch_trace_{process}.log: 0/0" for process in ("one", "two")
    ]


def test_a_single_log_can_be_named(tmp_path: Path, model: Path) -> None:
    log = write_trace(tmp_path, compile_entries(model))
    assert [document.target for document in read(log).documents] == ["0/0"]


def test_what_came_from_a_cache_has_its_wrapper_alone(tmp_path: Path, model: Path) -> None:
    write_trace(tmp_path, trace_entry({"inductor_output_code": {"filename": "/tmp/c.py"}}, WRAPPER))
    (document,) = read(tmp_path).documents
    assert {each.name for each in document.kernels} == {ADDMM, FUSED}
    assert [listing.title for listing in document.listings] == ["wrapper"]


def test_carets_of_a_traceback_tell_expressions_that_no_name_does(tmp_path: Path) -> None:
    """Of two modules called on a line, the traceback of the kernel says which."""
    model = tmp_path / "model.py"
    code = "hidden = self.act(self.up(x)) + 1"
    model.write_text("\n" * 10 + f"{code}\n")
    stack = f'  File "{model}", line 11, in forward\n    {code}\n    {" " * 18}^^^^^^^^^^^^^^^\n'
    text = LOWERED.format(path=model).replace("hidden = torch.relu(self.up(x)) + 1", code)
    content = (
        trace_entry(artifact("inductor_post_grad_graph"), text)
        + trace_entry({"inductor_output_code": {}}, WRAPPER)
        + trace_entry(artifact("inductor_provenance_tracking_node_mappings"), json.dumps(MAPPINGS))
        + trace_entry(artifact("inductor_provenance_tracking_kernel_stack_traces"), json.dumps({f"{ADDMM}:1": [stack]}))
    )
    write_trace(tmp_path / "trace", content)
    (document,) = read(tmp_path / "trace").documents
    assert text_at(node(document, "addmm").place) == UP
    assert text_at(node(document, "relu").place) != RELU


def test_what_a_library_does_is_at_the_call_of_the_user(tmp_path: Path) -> None:
    """The text of a graph knows the innermost line alone, which may be torch's own."""
    model, library = tmp_path / "model.py", tmp_path / "site-packages" / "functional.py"
    model.write_text("y = F.pad(x, [1]) + 1\n")
    library.parent.mkdir()
    library.write_text("return pad(input)\n")
    before = "{path}:11 in forward, code: hidden = torch.relu(self.up(x)) + 1"
    text = LOWERED.replace(before, f"{library}:1 in pad, code: return pad(input)")
    frames = ((model, "forward", "y = F.pad(x, [1]) + 1"), (library, "pad", "return pad(input)"))
    stack = "".join(f'  File "{path}", line 1, in {name}\n    {code}\n' for path, name, code in frames)
    content = (
        trace_entry(artifact("inductor_post_grad_graph"), text.format(path=model))
        + trace_entry({"inductor_output_code": {}}, WRAPPER)
        + trace_entry(artifact("inductor_provenance_tracking_node_mappings"), json.dumps(MAPPINGS))
        + trace_entry(artifact("inductor_provenance_tracking_kernel_stack_traces"), json.dumps({f"{ADDMM}:1": [stack]}))
    )
    write_trace(tmp_path / "trace", content)
    (document,) = read(tmp_path / "trace").documents
    assert text_at(node(document, "addmm").place) == "y = F.pad(x, [1]) + 1"
    assert node(document, "relu").place is None


def test_damaged_entries_are_counted_and_the_others_read(tmp_path: Path, model: Path) -> None:
    broken = 'V0102 03:04:05.678901 77 torch/a.py:1] {"artifact": \nnoise\n'
    bad = trace_entry(
        artifact("inductor_provenance_tracking_node_mappings"), '{"preToPost": 1}', frame_id=5, frame_compile_id=0
    )
    write_trace(tmp_path, broken + bad + compile_entries(model))
    found = read(tmp_path)
    assert "0/0" in [document.target for document in found.documents]
    assert any("2 of its entries are damaged" in fault.why for fault in found.unread)
    assert any("`preToPost` is no object" in fault.why for fault in found.unread)


def test_a_log_of_something_else_is_said_to_be_none(tmp_path: Path) -> None:
    write_trace(tmp_path, "hello\n")
    with pytest.raises(NothingFoundError, match="no entry of a structured trace"):
        read(tmp_path)
