"""What torch-spyre writes: exact spans of its sidecar, its OpSpecs and its kernel files, in the same documents."""

import json
import os
from pathlib import Path

import pytest
from compiler_samples import RELU, SPYRE_KERNEL, SPYRE_WRAPPER, UP, sidecar, super_dsc, write_debug_folder, write_model
from inductor_debug.compiler_output.importing import NothingFoundError
from inductor_debug_schema import GraphKind
from inductor_debug_schema.kernel_specs import SpecOrigin
from reading import kernel, node, read, text_at


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = write_model(tmp_path / "project")
    os.utime(path, (1, 1))
    return path


@pytest.fixture
def folder(tmp_path: Path, model: Path) -> Path:
    """A folder whose kernels are Spyre's, without mappings of Inductor's."""
    folder = write_debug_folder(tmp_path, model)
    (folder / "output_code.py").write_text(SPYRE_WRAPPER.replace("{path}", str(model)))
    (folder / "inductor_provenance_tracking_node_mappings.json").unlink()
    return folder


def write_json(path: Path, said: object) -> None:
    path.write_text(json.dumps(said))


def test_a_sidecar_ties_kernels_to_exact_spans(tmp_path: Path, model: Path, folder: Path) -> None:
    write_json(tmp_path / "torch_compile_debug" / "spyre_provenance.json", sidecar(model))
    found = read(tmp_path / "torch_compile_debug")
    (document,) = found.documents
    assert found.unread == []
    assert document.accelerator == "spyre"
    assert [text_at(place) for place in kernel(document, SPYRE_KERNEL).places] == [UP, RELU]
    assert node(document, "addmm").kernels == [SPYRE_KERNEL]
    assert text_at(node(document, "relu").place) == RELU
    assert "Compiled by torch-spyre 1.2.0." in document.notes


def test_a_sidecar_alone_is_a_document_of_its_kernels(tmp_path: Path, model: Path) -> None:
    write_json(tmp_path / "mine.json", sidecar(model))
    (document,) = read(tmp_path / "mine.json").documents
    assert (document.path, document.torch) == (str(model), "2.13.0")
    assert text_at(node(document, "1").place) == UP
    step = node(document, SPYRE_KERNEL, GraphKind.IR)
    assert (step.origins, step.kernels) == (["1", "2"], [SPYRE_KERNEL])


def test_comments_and_handles_in_the_wrapper_do_without_a_sidecar(tmp_path: Path, folder: Path) -> None:
    (document,) = read(tmp_path).documents
    assert node(document, "addmm").kernels == [SPYRE_KERNEL]
    assert text_at(kernel(document, SPYRE_KERNEL).places[-1]) == RELU


def test_a_source_that_is_younger_than_the_sidecar_is_told(tmp_path: Path, model: Path) -> None:
    write_json(tmp_path / "spyre_provenance.json", sidecar(model))
    os.utime(tmp_path / "spyre_provenance.json", (1, 1))
    os.utime(model, (5, 5))
    (document,) = read(tmp_path / "spyre_provenance.json").documents
    assert f"{model} was changed after Spyre's compiler had read it; its lines may have moved." in document.notes


@pytest.mark.parametrize(
    ("version", "why"),
    [
        (2, "its schemaVersion is 2, newer than the version 1"),
        (0, "its schemaVersion is 0, not the version 1"),
        (None, "None"),
    ],
)
def test_another_version_of_the_sidecar_is_told(
    tmp_path: Path, model: Path, folder: Path, version: int | None, why: str
) -> None:
    write_json(tmp_path / "torch_compile_debug" / "spyre_provenance.json", {**sidecar(model), "schemaVersion": version})
    found = read(tmp_path / "torch_compile_debug")
    assert [fault.path for fault in found.unread] == ["spyre_provenance.json"]
    assert why in found.unread[0].why


def test_fields_that_are_not_known_and_references_to_nothing_are_told(tmp_path: Path, model: Path) -> None:
    said = sidecar(model)
    said["colour"] = "blue"
    said["handles"]["1"]["weight"] = 3
    said["handles"]["3"]["fused_from"] = ["1", "99"]
    write_json(tmp_path / "spyre_provenance.json", said)
    whys = [fault.why for fault in read(tmp_path).unread]
    assert any("fields that this version does not know were left out: colour" in why for why in whys)
    assert any(why.startswith("handles.1: ") and "weight" in why for why in whys)
    assert any("99" in why for why in whys)


def test_op_specs_are_told_by_the_compiler_with_work_division_and_scratchpad(tmp_path: Path, folder: Path) -> None:
    (document,) = read(tmp_path).documents
    assert document.specs is not None
    assert (document.specs.origin, document.specs.accelerator) == (SpecOrigin.COMPILER, "spyre")
    product, activation = document.specs.specs
    assert (product.op, product.reduction, product.kernel) == ("batchmatmul", True, SPYRE_KERNEL)
    assert [(loop.name, loop.extent, loop.cores) for loop in product.loops] == [
        ("c0", 8, 2),
        ("c1", 10, 1),
        ("c2", 64, 1),
    ]
    assert [(each.name, each.output, each.allocation) for each in product.arguments] == [
        ("arg2_1", False, "hbm 0"),
        ("scratch", True, "lx 8192"),
    ]
    assert [loop.name for loop in product.loops if loop.reduced] == ["c2"]
    result = product.arguments[1]
    assert (result.stick_loop, result.device_dtype) == ("c1", "SEN169_FP16")
    assert result.layout is not None
    assert (result.layout.size, result.layout.bytes, result.layout.padding_bytes) == ([1, 8, 64], 1024, 864)
    assert product.nodes == ["addmm"]
    assert (activation.op, text_at(activation.place)) == ("relufwd", RELU)


@pytest.mark.parametrize("bundle", ["", f"{SPYRE_KERNEL}_ab12cd34"])
def test_kernel_files_add_padded_sizes_where_they_fit_in_one_way(folder: Path, tmp_path: Path, bundle: str) -> None:
    """In the folder of the graph, or in a folder of the kernel's own. Two dimensions of one size fit in two ways."""
    (folder / bundle).mkdir(exist_ok=True)
    write_json(folder / bundle / "sdsc_0.json", super_dsc("batchmatmul", {"mb": 8, "out": 64, "in": 64}, {"mb": 2}))
    write_json(folder / bundle / "sdsc_1.json", super_dsc("relufwd", {"mb": 8, "out": 64}, {}))
    (document,) = read(tmp_path).documents
    assert document.specs is not None
    product, activation = document.specs.specs
    assert product.file.endswith("sdsc_0.json")
    assert product.loops[0].padded is None
    assert any("mb 8, out 64, in 64" in remark for remark in product.remarks)
    assert activation.file.endswith("sdsc_1.json")
    assert {loop.name: loop.padded for loop in activation.loops} == {"c0": 8, "c1": 64}


def test_kernel_files_alone_are_told_as_they_are(tmp_path: Path) -> None:
    bundle = tmp_path / f"{SPYRE_KERNEL}_ab12cd34"
    bundle.mkdir()
    write_json(bundle / "sdsc_0.json", super_dsc("relufwd", {"mb": 8, "out": 64}, {"mb": 2}))
    (document,) = read(tmp_path).documents
    assert document.specs is not None
    (spec,) = document.specs.specs
    assert (spec.kernel, spec.op) == (SPYRE_KERNEL, "relufwd")
    assert [(loop.name, loop.padded, loop.cores) for loop in spec.loops] == [("mb", 8, 2), ("out", 64, None)]
    assert [(each.name, each.output, each.allocation, each.stick_loop) for each in spec.arguments] == [
        ("Tensor0", True, "lx 8192", "out")
    ]
    assert "It runs on 2 cores." in spec.remarks


def test_a_sidecar_of_other_kernels_is_not_joined(tmp_path: Path, model: Path, folder: Path) -> None:
    write_json(tmp_path / "torch_compile_debug" / "spyre_provenance.json", sidecar(model, "sdsc_fused_other_0"))
    targets = [document.target for document in read(tmp_path / "torch_compile_debug").documents]
    assert targets == ["model__0", "spyre_provenance 0"]


def test_a_provenance_file_of_something_else_is_named(tmp_path: Path) -> None:
    write_json(tmp_path / "spyre_provenance.json", {"hello": 1})
    with pytest.raises(NothingFoundError, match=r"spyre_provenance\.json: it is no provenance sidecar"):
        read(tmp_path)
