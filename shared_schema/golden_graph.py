"""The graph document of the golden file `GraphColumns.graph`, which Python and TypeScript must read alike.

It has one of everything that the columns can hold: symbolic sizes, text beyond ASCII, markup in names, nodes with and
without places, lists that are empty and lists that are not, kernels and listings.
"""

from __future__ import annotations

import json

from inductor_debug.artifacts.graph_columns import encode
from inductor_debug_schema import (
    CompiledText,
    DeviceLayout,
    DeviceSpecs,
    Graph,
    GraphDocument,
    GraphKind,
    GraphNode,
    InsertedKind,
    Kernel,
    KernelArgument,
    KernelBuild,
    KernelInsertion,
    KernelLoop,
    KernelSpec,
    LinePlace,
    Listing,
    Location,
    Mark,
    MemoryAccess,
    NodeRole,
    Occupancy,
    OccupancyLimit,
    OperationKind,
    Position,
    Range,
    SpecOrigin,
    Stage,
    to_wire,
)

_PATH = "/project/modèle.py"
_CALL = Location(_PATH, Range(Position(11, 15), Position(11, 37)))
_DECLARED = Location(_PATH, Range(Position(4, 20), Position(4, 37)))


def files() -> dict[str, bytes]:
    """The golden file and the same document as JSON, by name."""
    document = _document()
    text = json.dumps(to_wire(document), indent=1, ensure_ascii=False) + "\n"
    return {"GraphColumns.graph": encode(document), "GraphColumns.json": text.encode()}


def _build() -> KernelBuild:
    return KernelBuild(
        architecture="sm_90",
        kernel="triton_poi_0",
        graph="0.forward",
        configuration="XBLOCK=512, 4 warps",
        configurations=2,
        warps=4,
        registers=40,
        spilled_bytes=0,
        shared_bytes=1024,
        occupancy=Occupancy(48, 64, 12, [OccupancyLimit.REGISTERS]),
        accesses=[MemoryAccess(False, "global", 128, 2), MemoryAccess(True, "shared", 32, 1)],
        matrix_instructions=["wgmma"],
        texts=[CompiledText("PTX", ".version 8.7\n"), CompiledText("SASS", "MOV R1, c[0x0][0x28] ;\n")],
    )


def _document() -> GraphDocument:
    return GraphDocument(
        target="Model",
        stage=Stage.INDUCTOR,
        path=_PATH,
        digest="0123abcd",
        accelerator="mock",
        torch="2.13.0",
        graphs=[_fx(), _forward(), Graph("1", GraphKind.FX, [])],
        kernels=[
            Kernel("cpp_fused_relu_0", "cpp", "void kernel() {}\n", "0.forward", ["relu"], [_CALL, _DECLARED]),
            Kernel("extern_kernels.mm", "extern", "", "0.forward", ["mm"]),
            Kernel("triton_poi_0", "triton", "import triton\n", "0.forward", ["relu"], [_CALL], _build()),
        ],
        listings=[Listing("IR after fusion", "text", "op0: mm\nop1: relu\n", "0.forward", [LinePlace(1, _CALL)])],
        modules={"": "Model", "layer.0": "Linear"},
        notes=["Nothing here needs a gradient."],
        marks=[Mark("dtype", _DECLARED, "0", ["<b>y</b>"]), Mark("layout", _CALL, "0.forward", ["mm", "relu"])],
        specs=DeviceSpecs("mock", SpecOrigin.DERIVED, _specs(), ["how work is divided over cores"], ["a note"]),
    )


def _specs() -> list[KernelSpec]:
    layout = DeviceLayout([2, 50, 64], [64, 65, 1], 12800, 6300, 1)
    weight = KernelArgument("<b>w</b>", False, [65, "s0"], "float16", "sen169_fp16", None, "d1", ["d1//64"], "hbm")
    return [
        KernelSpec(
            "extern_kernels.mm",
            "aten.mm.default",
            "0.forward",
            ["mm"],
            True,
            [KernelLoop("d0", 50, 50), KernelLoop("d1", "s0", "64*ceil(s0/64)"), KernelLoop("d2", 65, None, True, 4)],
            [weight, KernelArgument("mm", True, [50, 65], "float16", "sen169_fp16", layout, "d1")],
            [KernelInsertion(InsertedKind.RESTICKIFY, 0, 1, layout), KernelInsertion(InsertedKind.PADDING, 0)],
            _CALL,
        ),
        KernelSpec("", "é", "0.forward", [], remarks=["nobody knows"], step="op0", file="sdsc_0.json"),
    ]


def _fx() -> Graph:
    nodes = [
        GraphNode("l_x_", "placeholder", NodeRole.INPUT, shape=["s0", 64], dtype="float32", detail="x"),
        GraphNode(
            "weight",
            "placeholder",
            NodeRole.PARAMETER,
            shape=[64, 63],
            dtype="float32",
            bytes=16128,
            detail="layer.0.weight",
            place=_DECLARED,
            module="layer.0",
        ),
        GraphNode(
            "<b>y</b>",
            "torch.relu",
            inputs=["l_x_", "weight", "l_x_"],
            place=_CALL,
            module="layer.0",
            seq_nr=0,
            flops=0,
            kind=OperationKind.ELEMENTWISE,
        ),
        GraphNode("output", "output", NodeRole.OUTPUT, ["<b>y</b>"], detail="(é, '\U0001f642')"),
    ]
    return Graph("0", GraphKind.FX, nodes)


def _forward() -> Graph:
    nodes = [
        GraphNode(
            "mm",
            "aten.mm.default",
            shape=["2*s0 + 1", 63],
            dtype="float32",
            origins=["<b>y</b>"],
            seq_nr=7,
            flops=5 << 40,
            written=4 << 40,
            seconds=1.5e-6,
            kind=OperationKind.PRODUCT,
        ),
        GraphNode(
            "relu",
            "aten.relu.default",
            inputs=["mm"],
            shape=[],
            dtype="complex64",
            bytes=3 << 40,
            place=_CALL,
            origins=["<b>y</b>"],
            forward=["mm", "relu"],
            kernels=["cpp_fused_relu_0"],
        ),
    ]
    return Graph("0.forward", GraphKind.FORWARD, nodes, made_from="0")
