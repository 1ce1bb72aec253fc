"""The inductor stage for a GPU that is not there: which kernels a reader sees, and where they come from."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import torch
from forked import Job, analyze, excerpt, in_child
from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug.artifacts.graph_columns import decode
from inductor_debug.capture.gpu_kernels.absent_gpu import absent_gpu_of, why_no_kernels
from inductor_debug.capture.gpu_kernels.gpu_attention import AttentionKernel, attention_kernel
from inductor_debug.capture.gpu_kernels.triton_compiling import READY
from inductor_debug_schema import ArtifactMade, GraphDocument, Kernel, Stage

pytestmark = pytest.mark.torch

BLOCK = """
import torch
from torch import nn
from torch.nn import functional as F

# inductor-debug: inputs=(torch.randn(2, 64, 64, dtype=torch.bfloat16),), train
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(64, dtype=torch.bfloat16)
        self.qkv = nn.Linear(64, 192, dtype=torch.bfloat16)
        self.out = nn.Linear(64, 64, dtype=torch.bfloat16)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).view(2, 64, 3, 4, 16).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=0.1)
        y = self.out(y.transpose(1, 2).reshape(2, 64, 64))
        return (x + F.gelu(y)).softmax(-1)
"""
CONVOLUTION = """
import torch
from torch import nn

# inductor-debug: inputs=(torch.randn(2, 3, 32, 32),), train
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16)
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.conv(x))).mean((2, 3)))
"""


def kernels_of(folder: Path, text: str) -> tuple[Job, GraphDocument]:
    job = analyze(folder / "model.py", dedent(text), stages=(Stage.INDUCTOR,), accelerator="h100", keep_graphs=True)
    made = [event for event in job.events if isinstance(event, ArtifactMade) and event.suffix == ".graph"]
    assert made, job.output
    return job, decode(made[0].content)


@pytest.fixture(scope="module")
def block(tmp_path_factory: pytest.TempPathFactory) -> tuple[Job, GraphDocument]:
    return kernels_of(tmp_path_factory.mktemp("block"), BLOCK)


def named(document: GraphDocument, word: str, direction: str) -> Kernel:
    graph = f"0.{direction}.post_grad"
    return next(kernel for kernel in document.kernels if word in kernel.name and kernel.graph == graph)


def test_lines_of_a_kernel_lead_to_the_expressions_that_they_were_written_for(block: tuple[Job, GraphDocument]) -> None:
    job, document = block
    kernel = named(document, "softmax", "forward")
    told: dict[str, set[str]] = {}
    for known in kernel.lines:
        line = kernel.source.split("\n")[known.line].strip()
        told.setdefault(line, set()).add(excerpt(job.text, known.place))
    products = {words for line, words in told.items() for words in words if "libdevice.erf" in line}
    assert "F.gelu(y)" in products
    assert "self.norm(x)" not in set().union(*told.values())
    assert not [line for line in told if line.startswith(("import", "xoffset", "@triton"))]


def test_forward_and_backward_are_triton_kernels_for_the_gpu(block: tuple[Job, GraphDocument]) -> None:
    _, document = block
    for direction in ("forward", "backward"):
        generated = [
            kernel
            for kernel in document.kernels
            if kernel.language != "extern" and kernel.graph == f"0.{direction}.post_grad"
        ]
        assert generated
        for kernel in generated:
            assert kernel.language == "triton"
            assert "tl.load(" in kernel.source
            assert "cc=90" in kernel.source
            assert "multi_processor_count=132" in kernel.source


def test_a_kernel_names_the_expressions_that_it_fuses(block: tuple[Job, GraphDocument]) -> None:
    job, document = block
    fused = named(document, "softmax", "forward")
    assert {excerpt(job.text, place) for place in fused.places} >= {"F.gelu(y)", "x + F.gelu(y)"}
    product = named(document, "extern_kernels", "backward")
    assert "self.out(y.transpose(1, 2).reshape(2, 64, 64))" in {excerpt(job.text, place) for place in product.places}


def test_attention_is_the_gpus(block: tuple[Job, GraphDocument]) -> None:
    """With dropout the CPU would write it out."""
    job, document = block
    for direction in ("forward", "backward"):
        attention = named(document, "_scaled_dot_product_flash_attention", direction)
        assert attention.language == "extern"
        assert "F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=0.1)" in {
            excerpt(job.text, place) for place in attention.places
        }


def test_kernels_of_libraries_name_dtypes_shapes_and_layouts(block: tuple[Job, GraphDocument]) -> None:
    _, document = block
    first, call, *_ = named(document, "extern_kernels.addmm", "forward").source.splitlines()
    assert first == "# bfloat16[192], bfloat16[128, 64], bfloat16[64, 192] strided [1, 64] -> bfloat16[128, 192]"
    assert call.startswith("extern_kernels.addmm(")
    attention = named(document, "_scaled_dot_product_flash_attention", "forward").source
    assert attention.count("bfloat16[2, 4, 64, 16] strided") >= 3


def test_it_is_said_what_only_the_gpu_could_decide(block: tuple[Job, GraphDocument]) -> None:
    _, document = block
    assert any("NVIDIA H100" in note and "measuring" in note for note in document.notes)


def test_a_bias_is_added_where_a_gpu_adds_it(tmp_path: Path) -> None:
    """A pass that asks whether the tensors are on a GPU takes it out of the product in front of pointwise work."""
    _, document = kernels_of(
        tmp_path,
        """
        import torch
        from torch import nn

        # inductor-debug: inputs=(torch.randn(64, 64),)
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.Linear(64, 64)

            def forward(self, x):
                return self.inner(x).relu()
        """,
    )
    names = {kernel.name for kernel in document.kernels if kernel.graph == "0.forward.post_grad"}
    assert "extern_kernels.mm" in names
    assert "extern_kernels.addmm" not in names


def test_convolutions_are_the_librarys(tmp_path: Path) -> None:
    _, document = kernels_of(tmp_path, CONVOLUTION)
    assert named(document, "convolution", "forward").language in ("extern", "triton")
    extern = {kernel.name for kernel in document.kernels if kernel.language == "extern"}
    assert {"extern_kernels.convolution", "torch.ops.aten.convolution_backward.default"} <= extern
    assert not any(kernel.language == "cpp" for kernel in document.kernels)


def test_nothing_of_torch_stays_changed() -> None:
    """After the GPU was looked at, torch knows as little of one as before."""

    def work() -> tuple[Any, Any]:
        from torch._dynamo.device_interface import CudaInterface
        from torch._inductor import scheduler
        from torch._inductor.fx_passes import post_grad

        operator = torch.ops.aten.scaled_dot_product_attention.default

        def state() -> list[Any]:
            return [
                {name: id(value) for name, value in vars(torch.cuda).items()},
                {name: id(value) for name, value in vars(CudaInterface).items()},
                id(post_grad.prepare_softmax_extra_check.__code__),
                id(post_grad.is_gpu),
                id(scheduler.has_triton),
                list(operator.py_kernels),
                torch.version.cuda,
                torch.version.hip,
            ]

        gpu = absent_gpu_of(read_profile(load_document("h100")))
        assert gpu is not None

        before = state()
        with gpu.tracing(), gpu.passes(), gpu.lowering():
            assert state() != before
            assert torch.cuda.get_device_properties(0).multi_processor_count == 132
        return before, state()

    (before, after), _ = in_child(work)
    assert before == after


@pytest.mark.parametrize(
    ("name", "words"), [("cuda", "Choose a card."), ("mps", "Kernels are not made for"), ("mock", ""), ("h100", "")]
)
def test_where_there_are_no_kernels_of_the_gpu_it_is_said(name: str, words: str) -> None:
    profile = read_profile(load_document(name))
    assert (absent_gpu_of(profile) is None) == (name != "h100")
    assert words in why_no_kernels(profile)
    assert bool(words) == bool(why_no_kernels(profile))


def tensor(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.empty(shape, dtype=dtype, device="meta")


@pytest.mark.parametrize(
    ("query", "mask", "capability", "expected"),
    [
        (tensor(2, 4, 64, 64), None, (8, 9), AttentionKernel.FLASH),
        (tensor(2, 4, 64, 64), None, (12, 0), AttentionKernel.FLASH),
        (tensor(2, 4, 64, 64), None, (9, 0), AttentionKernel.CUDNN),
        (tensor(2, 4, 64, 64), tensor(64, 64, dtype=torch.bool), (10, 0), AttentionKernel.CUDNN),
        (tensor(2, 4, 1, 64), None, (9, 0), AttentionKernel.FLASH),
        (tensor(2, 4, 64, 256), None, (9, 0), AttentionKernel.FLASH),
        (tensor(2, 4, 64, 20), None, (9, 0), AttentionKernel.FLASH),
        (tensor(2, 4, 64, 64), None, (9, 4), AttentionKernel.FLASH),
        (tensor(2, 4, 64, 64), None, (7, 5), AttentionKernel.WRITTEN_OUT),
        (tensor(2, 4, 64, 64, dtype=torch.float16), None, (7, 5), AttentionKernel.EFFICIENT),
        (tensor(2, 4, 64, 64), tensor(64, 64), (8, 0), AttentionKernel.EFFICIENT),
        (tensor(2, 4, 64, 64, dtype=torch.float32), None, (9, 0), AttentionKernel.EFFICIENT),
        (tensor(2, 4, 64, 30, dtype=torch.float32), None, (9, 0), AttentionKernel.WRITTEN_OUT),
        (tensor(2, 4, 64, 30, dtype=torch.float32), None, (7, 5), AttentionKernel.EFFICIENT),
        (tensor(2, 4, 64, 512), None, (9, 0), AttentionKernel.EFFICIENT),
        (tensor(2, 4, 64, 64, dtype=torch.float64), None, (9, 0), AttentionKernel.WRITTEN_OUT),
    ],
)
def test_which_kernel_computes_attention(
    query: torch.Tensor, mask: torch.Tensor | None, capability: tuple[int, int], expected: AttentionKernel
) -> None:
    chosen = attention_kernel(query, query, query, mask, causal=False, grouped=False, capability=capability)
    assert chosen is expected


@pytest.mark.parametrize(("dropout", "expected"), [(0.1, AttentionKernel.FLASH), (0.125, AttentionKernel.CUDNN)])
def test_cudnn_drops_sixteenths(dropout: float, expected: AttentionKernel) -> None:
    query = tensor(2, 4, 64, 64)
    said = {"causal": True, "grouped": False, "capability": (9, 0), "dropout": dropout}
    assert attention_kernel(query, query, query, None, **said) is expected  # type: ignore[arg-type]
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
        assert attention_kernel(query, query, query, None, **said) is AttentionKernel.FLASH  # type: ignore[arg-type]


@pytest.mark.parametrize("mask", ["None", "torch.ones(64, 64, dtype=torch.bool, device=q.device).tril()"])
def test_on_hopper_attention_is_cudnns_forward_and_backward(tmp_path: Path, mask: str) -> None:
    sound = BLOCK.replace("(q, k, v, is_causal=True, dropout_p=0.1)", f"(q, k, v, {mask})")
    _, document = kernels_of(tmp_path, sound)
    for direction in ("forward", "backward"):
        attention = named(document, "_scaled_dot_product_cudnn_attention", direction)
        assert attention.language == "extern"
        assert "bfloat16[2, 4, 64, 16] strided" in attention.source


def test_constants_and_conditions_are_the_gpus_too(tmp_path: Path) -> None:
    """Values that a model holds without a device, short and long, and graphs that other graphs call."""
    _, document = kernels_of(
        tmp_path,
        """
        import torch
        from torch import nn

        # inductor-debug: inputs=(torch.randn(4, 20),)
        class Net(nn.Module):
            def forward(self, x):
                x = x * torch.tensor([float(i) for i in range(20)]) + torch.tensor([1.0, 2.0, 3.0, 4.0])[:, None]
                return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))
        """,
    )
    assert {kernel.language for kernel in document.kernels} <= {"triton", "extern"}
    assert any("multi_processor_count=132" in kernel.source for kernel in document.kernels)


def test_what_needs_triton_itself_says_so(tmp_path: Path) -> None:
    if importlib.util.find_spec("triton") is not None:
        pytest.skip("Triton is installed")
    job = analyze(
        tmp_path / "model.py",
        dedent(
            """
            import torch
            from torch.nn.attention.flex_attention import flex_attention

            # inductor-debug: inputs=(torch.randn(1, 2, 128, 32),)
            def attend(x):
                return flex_attention(x, x, x)
            """
        ),
        stages=(Stage.INDUCTOR,),
        accelerator="h100",
    )
    notes = [note for stage in job.stages for note in stage.report.notes]
    assert any("pip install inductor-debug[gpu]" in note for note in notes)
    assert not job.findings


@pytest.mark.parametrize(("accelerator", "ahead"), [("rtx-4090", True), ("none", False)])
def test_where_a_gpu_was_chosen_the_next_job_has_what_kernels_are_made_with(
    tmp_path: Path, accelerator: str, ahead: bool
) -> None:
    text = "import torch\n\n# inductor-debug: inputs=(torch.randn(8),)\ndef double(x):\n    return x * 2\n"
    modules = analyze(tmp_path / "model.py", text, accelerator=accelerator).loaded.modules
    assert ({"torch._inductor.compile_fx", READY} <= set(modules)) is ahead
