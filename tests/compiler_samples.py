"""Small files as compilers write them, of one small model; what is about places names the file that it is written for.

Shapes, names and comments are those of a real run of torch 2.13, and of the formats that torch-spyre documents.
"""

import json
from pathlib import Path
from typing import Any

MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(64, 10)

    def forward(self, x):
        hidden = torch.relu(self.up(x)) + 1
        return hidden.softmax(-1)
"""
UP, RELU, ADD, SOFTMAX = "self.up(x)", "torch.relu(self.up(x))", "torch.relu(self.up(x)) + 1", "hidden.softmax(-1)"

CAPTURED = """\
class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[8, 64][64, 1]cpu", L_weight_: "f32[10, 64][64, 1]cpu", L_bias_: "f32[10][1]cpu"):
        l_x_ = L_x_

        # File: {path}:11 in forward, code: hidden = torch.relu(self.up(x)) + 1
        linear: "f32[8, 10][10, 1]cpu" = torch._C._nn.linear(l_x_, L_weight_, L_bias_);  l_x_ = L_weight_ = None
        relu: "f32[8, 10][10, 1]cpu" = torch.relu(linear);  linear = None
        hidden: "f32[8, 10][10, 1]cpu" = relu + 1;  relu = None

        # File: {path}:12 in forward, code: return hidden.softmax(-1)
        softmax: "f32[8, 10][10, 1]cpu" = hidden.softmax(-1);  hidden = None
        return (softmax,)
"""
LOWERED = """\
class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[10, 64]", arg1_1: "f32[10]", arg2_1: "f32[8, 64]"):
        # File: {path}:11 in forward, code: hidden = torch.relu(self.up(x)) + 1
        permute: "f32[64, 10]" = torch.ops.aten.permute.default(arg0_1, [1, 0]);  arg0_1 = None
        addmm: "f32[8, 10]" = torch.ops.aten.addmm.default(arg1_1, arg2_1, permute);  arg1_1 = arg2_1 = permute = None
        relu: "f32[8, 10]" = torch.ops.aten.relu.default(addmm);  addmm = None
        add: "f32[8, 10]" = torch.ops.aten.add.Tensor(relu, 1);  relu = None

        # File: {path}:12 in forward, code: return hidden.softmax(-1)
        amax: "f32[8, 1]" = torch.ops.aten.amax.default(add, [-1], True)
        sub: "f32[8, 10]" = torch.ops.aten.sub.Tensor(add, amax);  add = amax = None
        exp: "f32[8, 10]" = torch.ops.aten.exp.default(sub);  sub = None
        sum_1: "f32[8, 1]" = torch.ops.aten.sum.dim_IntList(exp, [-1], True)
        div: "f32[8, 10]" = torch.ops.aten.div.Tensor(exp, sum_1);  exp = sum_1 = None
        return (div,)
"""
IR = """\
op0: ExternKernelSchedulerNode(ExternKernelOut)
op0.writes = [StarDep(name='buf0', mode=None)]
op0.unmet_dependencies = []
op0.met_dependencies =
    [   StarDep(name='arg0_1', mode=None),
        StarDep(name='arg1_1', mode=None),
        StarDep(name='arg2_1', mode=None)]
op0.outputs = [
    buf0: ExternKernelOut
    buf0.layout = FixedLayout('cpu', torch.float32, size=[8, 10], stride=[10, 1])
]
op0.node.kernel = extern_kernels.addmm


op1_op2: OuterLoopFusedSchedulerNode(SchedulerNode,SchedulerNode)
op1_op2.writes = [MemoryDep('buf1', c0, {c0: 8}), MemoryDep('buf2', c0, {c0: 80})]
op1_op2.unmet_dependencies = [MemoryDep('buf0', c0, {c0: 80})]
op1_op2.met_dependencies = []
op1_op2.outputs = [
    buf1: ComputedBuffer
    buf1.layout = FixedLayout('cpu', torch.float32, size=[8, 1], stride=[1, 8])
    buf2: ComputedBuffer
    buf2.layout = FixedLayout('cpu', torch.float32, size=[8, 10], stride=[10, 1])
]
op1_op2.snodes[0] =
op1: SchedulerNode(ComputedBuffer)
op1.writes = [MemoryDep('buf1', c0, {c0: 8})]


"""
FUSED = "cpp_fused__softmax_add_relu_0"
ADDMM = "extern_kernels.addmm"
WRAPPER = f"""\
# AOT ID: ['0_inference']
import torch
async_compile = AsyncCompile()
{FUSED} = async_compile.cpp_pybinding(['const float*', 'float*', 'float*'], r'''
extern "C"  void  kernel(const float* in_ptr0, float* out_ptr0, float* out_ptr1)
{{
}}
''')
async_compile.wait(globals())


class Runner:
    def call(self, args):
        arg0_1, arg1_1, arg2_1 = args
        buf0 = empty_strided_cpu((8, 10), (10, 1), torch.float32)
        # Topologically Sorted Source Nodes: [linear], Original ATen: [aten.t, aten.addmm]
        # [Provenance debug handles] {ADDMM}:1
        {ADDMM}(arg1_1, arg2_1, reinterpret_tensor(arg0_1, (64, 10), (1, 64), 0), out=buf0)
        buf1 = empty_strided_cpu((8, 1), (1, 8), torch.float32)
        buf2 = empty_strided_cpu((8, 10), (10, 1), torch.float32)
        # [Provenance debug handles] {FUSED}:2
        {FUSED}(buf0, buf1, buf2)
        return (buf2, )
"""
_SOFTMAX = ["amax", "sub", "exp", "sum_1", "div"]
_FUSED_NODES = ["relu", "add", *_SOFTMAX]
MAPPINGS: dict[str, Any] = {
    "preToPost": {
        "linear": ["permute", "addmm"],
        "relu": ["relu"],
        "hidden": ["add"],
        "softmax": _SOFTMAX,
    },
    "postToPre": {
        "permute": ["linear"],
        "addmm": ["linear"],
        "relu": ["relu"],
        "add": ["hidden"],
        **{name: ["softmax"] for name in _SOFTMAX},
    },
    "cppCodeToPost": {f"{ADDMM}:1": ["addmm"], f"{FUSED}:2": _FUSED_NODES},
    "postToCppCode": {"addmm": [f"{ADDMM}:1"], **{name: [f"{FUSED}:2"] for name in _FUSED_NODES}},
}


def write_model(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "model.py"
    path.write_text(MODEL)
    return path


def folder_files(model: Path) -> dict[str, str]:
    """The files of one graph's folder."""
    return {
        "fx_graph_readable.py": LOWERED.format(path=model),
        "fx_graph_transformed.py": LOWERED.format(path=model),
        "fx_graph_runnable.py": "# torch version: 2.13.0+cpu\n",
        "ir_pre_fusion.txt": IR,
        "ir_post_fusion.txt": IR,
        "output_code.py": WRAPPER,
        "inductor_provenance_tracking_node_mappings.json": json.dumps(MAPPINGS),
    }


def write_debug_folder(root: Path, model: Path, graph: str = "model__0_inference_0.0") -> Path:
    """A folder of `TORCH_COMPILE_DEBUG=1`; returns that of its one graph."""
    folder = root / "torch_compile_debug" / "run_2026_01_02_03_04_05_678901-pid_77" / "torchinductor" / graph
    folder.mkdir(parents=True)
    for name, text in folder_files(model).items():
        (folder / name).write_text(text)
    return folder


def trace_entry(what: dict[str, Any], payload: str = "", **identity: Any) -> str:
    """An entry of a structured trace."""
    identity = identity or {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    envelope = {**what, **identity, **({"has_payload": "0" * 32} if payload else {})}
    lines = [f"V0102 03:04:05.678901 77 torch/_inductor/compile_fx.py:1624] {json.dumps(envelope)}"]
    return "".join(f"{line}\n" for line in [*lines, *(f"\t{line}" for line in payload.split("\n") if payload)])


def artifact(name: str) -> dict[str, Any]:
    return {"artifact": {"name": name, "encoding": "string"}}


def compile_entries(model: Path, **identity: Any) -> str:
    """What one compile leaves in a trace."""
    code = "hidden = torch.relu(self.up(x)) + 1"
    stack = f'  File "{model}", line 11, in forward\n    {code}\n{" " * 24}^^^^^^^^^^^^^^^\n'
    entries = [
        ({"dynamo_output_graph": {"sizes": {}}}, CAPTURED.format(path=model)),
        (artifact("after_pre_grad_graph"), CAPTURED.format(path=model) + "\n # graph id: 1402"),
        ({"aot_inference_graph": {}}, LOWERED.format(path=model)),
        (artifact("inductor_post_grad_graph"), LOWERED.format(path=model)),
        ({"inductor_output_code": {"filename": "/tmp/c.py"}}, WRAPPER),
        (artifact("inductor_provenance_tracking_node_mappings"), json.dumps({**MAPPINGS, "version": 2.0})),
        (artifact("inductor_provenance_tracking_kernel_stack_traces"), json.dumps({f"{ADDMM}:1": [stack]})),
    ]
    return "".join(trace_entry(what, payload, **identity) for what, payload in entries)


def write_trace(root: Path, content: str, process: str = "abc") -> Path:
    root.mkdir(parents=True, exist_ok=True)
    path = root / f"dedicated_log_torch_trace_{process}.log"
    path.write_text(content)
    return path


SPYRE_KERNEL = "sdsc_fused_addmm_relu_0"
SPYRE_WRAPPER = f"""\
# AOT ID: ['0_inference']
async_compile = AsyncCompile()
# Topologically Sorted Source Nodes: [linear, relu], Original ATen: [aten.t, aten.addmm, aten.relu]
# Source node to ATen node mapping:
#   linear => addmm, permute
#   relu => relu
# Graph fragment:
#   return %relu
{SPYRE_KERNEL} = async_compile.sdsc('{SPYRE_KERNEL}',
    [
        OpSpec(
            op='batchmatmul',
            is_reduction=True,
            iteration_space={{
                sympify('c0'): (sympify('8'), 2), sympify('c1'): (sympify('10'), 1),
                sympify('c2'): (sympify('64'), 1)
            }},
            op_info={{}},
            debug_handle=DebugHandle(id=101, source=SourceLoc(file='{{path}}', start_line=11, start_col=0,
                    end_line=None, end_col=None),
                aten_op='aten.linear.default', ir_chain=('linear', 'addmm', 'buf0'),
                fused_from=(), transform_history=()),
            args=[
                TensorArg(
                    is_input=True, arg_index=0, device_dtype=DataFormats.SEN169_FP16,
                    device_size=[1, 8, 64],
                    device_coordinates=[sympify('floor(c2/64)'), sympify('c0'), sympify('Mod(c2, 64)')],
                    allocation={{'hbm': 0}},
                ),
                TensorArg(
                    is_input=False, arg_index=-1, device_dtype=DataFormats.SEN169_FP16,
                    device_size=[1, 8, 64],
                    device_coordinates=[sympify('floor(c1/64)'), sympify('c0'), sympify('Mod(c1, 64)')],
                    allocation={{'lx': 8192}},
                ),
            ]
        ),
        LoopSpec(count=sympify('2'), body=[
            OpSpec(
                op='relufwd',
                is_reduction=False,
                iteration_space={{sympify('c0'): (sympify('8'), 1), sympify('c1'): (sympify('10'), 1)}},
                op_info={{}},
                debug_handle=DebugHandle(id=102, source=SourceLoc(file='{{path}}', start_line=11, start_col=0,
                    end_line=None, end_col=None),
                aten_op='aten.relu.default', ir_chain=('relu', 'buf1'), fused_from=(), transform_history=()),
                args=[]
            ),
        ]),
    ]
)


class Runner:
    def call(self, args):
        {SPYRE_KERNEL}.run(arg2_1, arg0_1, buf1)
        return (buf1, )
"""


def super_dsc(op: str, sizes: dict[str, int], slices: dict[str, int]) -> dict[str, Any]:
    """A kernel file of one operation."""
    inner = {
        "N_": {"name_": "n", **{f"{name}_": size for name, size in sizes.items()}},
        "primaryDsInfo_": {"OUTPUT": {"layoutDimOrder_": list(sizes), "stickDimOrder_": ["out"], "stickSize_": [64]}},
        "scheduleTree_": [
            {
                "nodeType_": "allocate",
                "ldsIdx_": 0,
                "component_": "lx",
                "startAddressCoreCorelet_": {"data_": {"[0, 0, 0]": "8192"}},
            }
        ],
        "labeledDs_": [
            {
                "ldsIdx_": 0,
                "dsName_": "Tensor0",
                "dsType_": "OUTPUT",
                "scale_": [1] * len(sizes),
                "dataFormat_": "SEN169_FP16",
            }
        ],
        "computeOp_": [{"exUnit": "sfp", "opFuncName": op, "inputLabeledDs": [], "outputLabeledDs": ["Tensor0-idx0"]}],
    }
    return {f"0_{op}": {"numCoresUsed_": 2, "numWkSlicesPerDim_": slices, "dscs_": [{op: inner}]}}


def sidecar(model: Path, kernel: str = SPYRE_KERNEL) -> dict[str, Any]:
    """A provenance sidecar with one kernel of two fused handles, whose spans are exact."""

    def handle(name: str, op: str, chain: list[str], columns: tuple[int, int]) -> dict[str, Any]:
        source = {"file": str(model), "start_line": 11, "start_col": columns[0], "end_line": 11, "end_col": columns[1]}
        return {
            "id": name,
            "source": source,
            "aten_op": op,
            "ir_chain": chain,
            "fused_from": [],
            "transform_history": [],
        }

    identity, compiled = "abcdefghijklmnop", "c" * 64
    return {
        "schemaVersion": 1,
        "eventKey": {
            "version": 1,
            "algorithm": "sha256-prefix-80-base32-lower",
            "width": 16,
            "stepAttribution": "bundle",
        },
        "mergeGeneration": 1,
        "status": "complete",
        "diagnostics": {},
        "handles": {
            "1": handle("1", "aten.linear.default", ["linear", "addmm"], (28, 38)),
            "2": handle("2", "aten.relu.default", ["relu"], (17, 39)),
            "3": {
                "id": "3",
                "source": None,
                "aten_op": None,
                "ir_chain": ["buf1"],
                "fused_from": ["1", "2"],
                "transform_history": [{"kind": "fusion", "pass_name": "fuse", "reason": None}],
            },
        },
        "kernelIdentities": {
            identity: {
                "directHandleIds": ["3"],
                "specHandleBindings": [{"specPath": [0], "handleId": "3"}],
                "atenOps": ["aten.linear.default", "aten.relu.default"],
                "eventNameBase": f"spyre_kernel_v1_fused_{identity}",
            }
        },
        "kernelOccurrences": {
            "d" * 64: {
                "identityKey": identity,
                "compileId": compiled,
                "compilerKernelName": kernel,
                "registrations": [],
            }
        },
        "upstreamProjections": {
            compiled: {
                "source": "inductor_provenance_tracking_node_mappings",
                "version": 2.0,
                "producer": {"torchSpyreVersion": "1.2.0", "torchVersion": "2.13.0"},
                "settings": {"provenanceTrackingLevel": 1, "structuredTracing": True},
                "kernels": [{"compilerKernelName": kernel, "identityKey": identity}],
                "uncollectedKernels": [],
                "upstreamProjectionFailed": False,
                "upstreamJoin": "ok",
                "preToPost": {"linear": ["permute", "addmm"], "relu": ["relu"]},
                "postToPre": {"permute": ["linear"], "addmm": ["linear"], "relu": ["relu"]},
                "cppCodeToPost": {f"{kernel}:1": ["permute", "addmm", "relu"]},
                "postToCppCode": {name: [f"{kernel}:1"] for name in ("permute", "addmm", "relu")},
                "kernelStackTraces": {},
            }
        },
    }
