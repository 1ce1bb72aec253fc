"""Folders of `TORCH_COMPILE_DEBUG=1`: every kernel is tied to the expression of the user's that it computes."""

import json
from pathlib import Path

import pytest
from compiler_samples import ADD, ADDMM, FUSED, LOWERED, MODEL, RELU, SOFTMAX, UP, write_debug_folder, write_model
from inductor_debug_schema import GraphKind, Stage
from reading import graph_of, kernel, node, read, text_at


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_model(tmp_path / "project")


def test_a_kernel_is_tied_to_its_expressions_and_they_to_it(tmp_path: Path, model: Path) -> None:
    write_debug_folder(tmp_path, model)
    found = read(tmp_path / "torch_compile_debug")
    (document,) = found.documents
    assert found.unread == []
    assert (document.stage, document.path, document.torch) == (Stage.INDUCTOR, str(model), "2.13.0+cpu")
    assert {name: text_at(node(document, name).place) for name in ("addmm", "relu", "add", "exp")} == {
        "addmm": UP,
        "relu": RELU,
        "add": ADD,
        "exp": SOFTMAX,
    }
    assert [text_at(place) for place in kernel(document, FUSED).places] == [SOFTMAX, RELU, ADD]
    assert (kernel(document, FUSED).language, kernel(document, ADDMM).language) == ("cpp", "extern")
    assert 'extern "C"' in kernel(document, FUSED).source
    assert node(document, "addmm").kernels == [ADDMM]
    assert node(document, "addmm").shape == [8, 10]
    assert node(document, "addmm", GraphKind.FORWARD).origins == []  # there is no graph before it
    assert node(document, "addmm").inputs == ["arg1_1", "arg2_1", "permute"]


def test_scheduler_nodes_lead_from_kernels_to_nodes(tmp_path: Path, model: Path) -> None:
    write_debug_folder(tmp_path, model)
    (document,) = read(tmp_path).documents
    step = node(document, "op1_op2", GraphKind.IR)
    assert (step.kernels, step.inputs, text_at(step.place)) == ([FUSED], ["op0"], SOFTMAX)
    assert "exp" in step.origins
    assert node(document, "op0", GraphKind.IR).inputs == ["arg0_1", "arg1_1", "arg2_1"]
    assert graph_of(document, GraphKind.IR).made_from == graph_of(document, GraphKind.POST_GRAD).name
    wrapper = next(listing for listing in document.listings if listing.title == "wrapper")
    lines = wrapper.text.split("\n")
    linked = {lines[link.line].strip().partition("(")[0]: text_at(link.place) for link in wrapper.places}
    assert linked[ADDMM] == UP


def test_lines_that_moved_are_found_and_lines_that_changed_are_told(tmp_path: Path, model: Path) -> None:
    write_debug_folder(tmp_path, model)
    model.write_text("# new\n" + MODEL.replace("hidden.softmax(-1)", "hidden.softmax(0)"))
    (document,) = read(tmp_path).documents
    relu = node(document, "relu").place
    assert relu is not None
    assert (relu.range.start.line, text_at(relu)) == (11, RELU)
    assert node(document, "exp").place is None
    assert f"{model} has changed since: 1 line of it could not be found again." in document.notes


def test_a_source_that_is_not_here_is_told(tmp_path: Path, model: Path) -> None:
    write_debug_folder(tmp_path, model)
    model.unlink()
    (document,) = read(tmp_path / "torch_compile_debug").documents
    assert node(document, "relu").place is None
    assert document.notes == [f"{model} is not here, so nothing that comes from it has a place."]


def test_a_source_that_was_compiled_elsewhere_is_found_in_the_users_folders(tmp_path: Path) -> None:
    here = write_model(tmp_path / "mine" / "net")
    write_debug_folder(tmp_path, Path("/somebody/else/net/model.py"))
    (document,) = read(tmp_path / "torch_compile_debug", tmp_path / "mine").documents
    assert document.path == str(here)
    assert text_at(node(document, "relu").place) == RELU
    assert f"{here} was read for /somebody/else/net/model.py, which is not here." in document.notes


def test_each_document_tells_of_its_own_sources_alone(tmp_path: Path, model: Path) -> None:
    write_debug_folder(tmp_path, model)
    gone = tmp_path / "gone.py"
    _add(tmp_path, gone, "model__1_inference_1.1")
    here, missing = read(tmp_path).documents
    assert here.notes == []
    assert missing.notes == [f"{gone} is not here, so nothing that comes from it has a place."]


def test_forward_and_backward_are_one_document_and_models_are_several(tmp_path: Path, model: Path) -> None:
    for graph in ("model__0_forward_1.0", "model__0_backward_2.1", "model__1_inference_3.2"):
        write_debug_folder(tmp_path, model, graph) if graph.endswith("0") else _add(tmp_path, model, graph)
    found = read(tmp_path)
    assert [document.target for document in found.documents] == ["model__0", "model__1"]
    assert [
        graph.kind for graph in found.documents[0].graphs if graph.kind in (GraphKind.FORWARD, GraphKind.BACKWARD)
    ] == [
        GraphKind.FORWARD,
        GraphKind.BACKWARD,
    ]


def _add(root: Path, model: Path, graph: str) -> None:
    other = write_debug_folder(root / "other" / graph, model, graph)
    other.rename(next(root.glob("torch_compile_debug/*/torchinductor")) / graph)


def test_names_of_backward_nodes_are_no_names_of_expressions(tmp_path: Path, model: Path) -> None:
    folder = write_debug_folder(tmp_path, model, "model__0_backward_0.0")
    (folder / "inductor_provenance_tracking_node_mappings.json").unlink()
    (document,) = read(tmp_path).documents
    assert text_at(node(document, "relu").place) == "hidden = torch.relu(self.up(x)) + 1"


def test_an_operator_is_no_expression_where_others_of_its_name_are_on_the_line(tmp_path: Path) -> None:
    """Without provenance a division of `softmax` is not taken for one that the user wrote."""
    model = tmp_path / "model.py"
    model.write_text("def f(x):\n    return x.softmax(-1) / self.scale(x) / 2\n")
    folder = write_debug_folder(tmp_path, model)
    text = LOWERED.format(path=model).replace(
        ":12 in forward, code: return hidden.softmax(-1)", ":2 in f, code: return x.softmax(-1) / self.scale(x) / 2"
    )
    (folder / "fx_graph_transformed.py").write_text(text)
    (folder / "inductor_provenance_tracking_node_mappings.json").unlink()
    (document,) = read(tmp_path).documents
    assert text_at(node(document, "div").place) != "x.softmax(-1) / self.scale(x) / 2"


def test_mappings_of_another_version_are_told(tmp_path: Path, model: Path) -> None:
    folder = write_debug_folder(tmp_path, model)
    (folder / "inductor_provenance_tracking_node_mappings.json").write_text(
        json.dumps({"version": 3.0, "preToPost": {}})
    )
    found = read(tmp_path)
    assert [fault.why for fault in found.unread] == ["it is of version 3.0; version 2 can be read"]
    assert kernel(found.documents[0], ADDMM).nodes == ["addmm"]  # from what flows between kernels


def test_lines_that_are_no_python_cost_those_lines_alone(tmp_path: Path, model: Path) -> None:
    folder = write_debug_folder(tmp_path, model)
    path = folder / "fx_graph_transformed.py"
    path.write_text(
        path.read_text().replace('exp: "f32[8, 10]" = torch.ops.aten.exp.default(sub)', "exp = <function exp at 0x7f>")
    )
    (document,) = read(tmp_path).documents
    assert {"relu", "div"} <= {each.name for each in graph_of(document, GraphKind.POST_GRAD).nodes}
    assert any("could not be read as Python (line 12)" in note for note in document.notes)


def test_bodies_of_higher_order_ops_are_rows_before_their_call(tmp_path: Path, model: Path) -> None:
    folder = write_debug_folder(tmp_path, model)
    (folder / "fx_graph_transformed.py").write_text(
        "class GraphModule(torch.nn.Module):\n"
        '    def forward(self, arg0_1: "f32[8]", arg1_1: "b8[]"):\n'
        "        true_graph_0 = self.true_graph_0\n"
        "        cond = torch.ops.higher_order.cond(arg1_1, true_graph_0, [arg0_1])\n"
        "        return (cond,)\n"
        "    class true_graph_0(torch.nn.Module):\n"
        '        def forward(self, x: "f32[8]"):\n'
        '            neg: "f32[8]" = torch.ops.aten.neg.default(x)\n'
        "            return (neg,)\n"
    )
    (document,) = read(tmp_path).documents
    names = [each.name for each in graph_of(document, GraphKind.POST_GRAD).nodes]
    assert names.index("true_graph_0.neg") < names.index("cond")
    assert node(document, "cond").inputs == ["arg1_1", "true_graph_0", "arg0_1"]


BACKWARD = """\
class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "f32[10, 64]", relu: "f32[8, 10]", tangents_1: "f32[8, 10]"):
        # File: {path}:11 in forward, code: hidden = torch.relu(self.up(x)) + 1
        le: "b8[8, 10]" = torch.ops.aten.le.Scalar(relu, 0)
        where: "f32[8, 10]" = torch.ops.aten.where.self(le, relu, tangents_1);  le = relu = tangents_1 = None
        mm: "f32[8, 64]" = torch.ops.aten.mm.default(where, primals_1)
        sum_1: "f32[1, 10]" = torch.ops.aten.sum.dim_IntList(where, [0], True);  where = None
        view: "f32[10]" = torch.ops.aten.reshape.default(sum_1, [10]);  sum_1 = None
        return (mm, view, None)
"""
BACKWARD_WRAPPER = """\
# AOT ID: ['0_backward']
cpp_fused_relu_0 = async_compile.cpp_pybinding([], r'''
kernel
''')
cpp_fused_sum_1 = async_compile.cpp_pybinding([], r'''
kernel
''')


class Runner:
    def call(self, args):
        primals_1, relu, tangents_1 = args
        buf0 = tangents_1; del tangents_1  # reuse
        cpp_fused_relu_0(buf0, relu)
        buf1 = empty_strided_cpu((8, 64), (64, 1), torch.float32)
        extern_kernels.mm(buf0, primals_1, out=buf1)
        buf2 = empty_strided_cpu((1, 10), (10, 1), torch.float32)
        cpp_fused_sum_1(buf0, buf2)
        return (buf1, reinterpret_tensor(buf2, (10, ), (1, ), 0), None, )
"""


def write_backward(root: Path, model: Path, text: str, wrapper: str) -> None:
    folder = write_debug_folder(root, model, "model__0_backward_0.0")
    for name in ("inductor_provenance_tracking_node_mappings.json", "ir_pre_fusion.txt", "ir_post_fusion.txt"):
        (folder / name).unlink()
    (folder / "fx_graph_transformed.py").write_text(text.format(path=model))
    (folder / "output_code.py").write_text(wrapper)


def test_kernels_of_a_backward_are_tied_by_what_flows_between_them(tmp_path: Path, model: Path) -> None:
    """Inductor writes no mapping for them: what is returned and what external kernels are given says it."""
    write_backward(tmp_path, model, BACKWARD, BACKWARD_WRAPPER)
    (document,) = read(tmp_path).documents
    assert {each.name: each.nodes for each in document.kernels} == {
        "cpp_fused_relu_0": ["le", "where"],
        "extern_kernels.mm": ["mm"],
        "cpp_fused_sum_1": ["sum_1"],
    }
    assert text_at(kernel(document, "cpp_fused_relu_0").places[0]) == "hidden = torch.relu(self.up(x)) + 1"
    assert not any("cannot be tied" in note for note in document.notes)


def test_a_value_that_nobody_names_ties_no_more_than_what_is_known(tmp_path: Path, model: Path) -> None:
    """The second kernel reads what no external kernel is given: its own result is all that is sure."""
    text = BACKWARD.replace("return (mm, view, None)", "return (view, None)")
    wrapper = BACKWARD_WRAPPER.replace("return (buf1, ", "return (")
    wrapper = wrapper.replace("        extern_kernels.mm(buf0, primals_1, out=buf1)\n", "")
    write_backward(tmp_path, model, text.replace("aten.mm.default", "aten.sub.Tensor"), wrapper)
    (document,) = read(tmp_path).documents
    assert kernel(document, "cpp_fused_sum_1").nodes == ["sum_1"]
    assert kernel(document, "cpp_fused_relu_0").nodes == []
    assert any("1 kernel of 0.backward cannot be tied" in note for note in document.notes)
