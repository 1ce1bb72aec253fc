"""Inductor's private names: lowers one graph to IR, kernel sources and a wrapper, and stops before anything is built.

`compile_fx` is asked to do all that it does (passes before and after AOTAutograd, decompositions, partitioning) with an
inner compiler of our own in place of `compile_fx_inner`. That one follows `_InProcessFxCompile.codegen_and_compile` up
to `GraphLowering.codegen`. Read against torch 2.11 to 2.13; helpers that only some of these versions have are looked up
by name and left out where they are gone. Where `GraphLowering` itself is gone, `InductorChangedError` says so, and the
stage fails with that note.

No compiler runs, not even to ask for its version: what Inductor would find out from one (vector instructions, whether
it is gcc) is answered from the processor's flags. No cache is read or written: an entry would carry the source
positions of the text that it was made from. Everything that is changed for this is put back.
"""

from __future__ import annotations

import copy
import inspect
import platform
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule, Node

from inductor_debug.capture.gpu_kernels.lowering_device import LoweringDevice
from inductor_debug.capture.inductor.fusion_refusals import FusionRefusal, watched_fusions
from inductor_debug.capture.inductor.inductor_ir import IrBlock, IrStep, block_of, step_of
from inductor_debug.capture.inductor.kernel_lines import KernelLines, watched_lines
from inductor_debug.capture.stages.aot_lowering import alone
from inductor_debug.capture.stages.unread_texts import unread_texts
from inductor_debug.capture.tensors.fake_mode import without_modes

InnerCompiler = Callable[..., Any]
"""Called as `inner(graph_module, example_inputs, **options)` for each graph that AOTAutograd makes."""

_CACHES_OFF = {"fx_graph_cache": False, "fx_graph_remote_cache": False, "bundle_triton_into_fx_graph_cache": False}
_NOTHING_RUN = {
    "max_autotune": False,
    "max_autotune_gemm": False,
    "max_autotune_pointwise": False,
    "coordinate_descent_tuning": False,
    "benchmark_fusion": False,
    "benchmark_kernel": False,
    "benchmark_epilogue_fusion": False,
    "benchmark_combo_kernel": False,
    "triton.autotune_at_compile_time": False,
    "compile_threads": 1,
    "freezing": False,
    "cpp_wrapper": False,
    "fx_wrapper": False,
    "trace.enabled": False,
    "trace.provenance_tracking_level": 1,
}
"""Settings that would measure kernels, start processes, need real weights or write files; kernels say their origins."""


class InductorChangedError(Exception):
    """This torch has no Inductor as we know it."""


@dataclass(slots=True)
class LoweredKernels:
    """What Inductor made of one graph.

    `calls` are the calls of kernels in the order of the wrapper: their names, and the names of the nodes in the graph
    that each comes from. Names end in `:` and a number that is also in the wrapper's comments.
    """

    wrapper: str = ""
    calls: list[tuple[str, list[str]]] = field(default_factory=list)
    before_fusion: list[IrBlock] = field(default_factory=list)
    after_fusion: list[IrBlock] = field(default_factory=list)
    steps: list[IrStep] = field(default_factory=list)
    refusals: list[FusionRefusal] = field(default_factory=list)
    lines: KernelLines = field(default_factory=dict)


class LoweringError(Exception):
    """Inductor cannot lower the graph; `node` is the one it was at, where that is known."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause, self.node = cause, _node_at(cause)


def _node_at(error: Exception) -> Node | None:
    """The node that an interpreter of FX graphs was running (its `run_node` has it as `n`) when `error` was raised."""
    found: Node | None = None
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_name == "run_node":
            running = traceback.tb_frame.f_locals.get("n")
            found = running if isinstance(running, Node) else found
        traceback = traceback.tb_next
    return found


def compile_with(inner: InnerCompiler, graph_module: GraphModule, device: LoweringDevice) -> None:
    """Runs Inductor's own pipeline on a graph of Dynamo's, for a device; the graph may be changed.

    Forward and backward both reach `inner`, without anything being run. What `inner` returns is given back to
    AOTAutograd, which only keeps it.

    Raises:
        InductorChangedError: this torch has no `compile_fx` with an inner compiler.
        Exception: whatever Inductor's passes or AOTAutograd raise.
    """
    try:
        from torch._inductor.compile_fx import compile_fx
        from torch._inductor.decomposition import select_decomp_table
    except ImportError as error:
        raise InductorChangedError(f"torch {torch.__version__} has no Inductor that can be asked: {error}.") from error
    if "inner_compile" not in inspect.signature(compile_fx).parameters:
        raise InductorChangedError(f"The compile_fx of torch {torch.__version__} takes no inner compiler.")
    examples = [node.meta.get("example_value") for node in graph_module.graph.nodes if node.op == "placeholder"]
    # The modes that the target runs under are not those of the trace.
    with without_modes(), warnings.catch_warnings(), alone(examples), device.tracing(), unread_texts():
        warnings.simplefilter("ignore")
        table = dict(device.decompositions(select_decomp_table()))
        compile_fx(graph_module, examples, inner_compile=inner, decompositions=table)


@contextmanager
def nothing_built() -> Iterator[None]:
    """Around `compile_with`: no cache, no compiler, no measuring, and the backward is lowered at once."""
    import torch._functorch.config as functorch_config
    from torch._inductor import config

    settings = {name: value for name, value in (_CACHES_OFF | _NOTHING_RUN).items() if _has(config, name)}
    functorch = {
        name: value
        for name, value in {"enable_autograd_cache": False, "force_non_lazy_backward_lowering": True}.items()
        if hasattr(functorch_config, name)
    }
    with config.patch(settings), functorch_config.patch(functorch), _no_compiler():
        yield


def prepare(
    graph_module: GraphModule, example_inputs: Sequence[Any], options: dict[str, Any], device: LoweringDevice
) -> Any:
    """Inductor's passes after AOTAutograd, on the graph itself; returns the fake mode of its values.

    Raises:
        Exception: whatever a pass raises.
    """
    from torch._inductor import compile_fx
    from torch._inductor.virtualized import V

    names: Any = compile_fx
    names.view_to_reshape(graph_module)
    with torch.no_grad():
        fake_mode = names.fake_tensor_prop(graph_module, example_inputs)
    record = getattr(names, "_recursive_record_original_output_strides", None)
    if record is not None:
        record(graph_module)
    with V.set_fake_mode(fake_mode), _helper("get_cuda_device_context", graph_module), device.passes():
        names._recursive_post_grad_passes(graph_module, is_inference=bool(options.get("is_inference")))
    return fake_mode


def lower(
    graph_module: GraphModule,
    example_inputs: Sequence[Any],
    options: dict[str, Any],
    fake_mode: Any,
    device: LoweringDevice,
    *,
    texts: bool = False,
) -> LoweredKernels:
    """Lowers a prepared graph, as one of the device's, and generates its code.

    Args:
        graph_module: the graph.
        example_inputs: what it is called with.
        options: those that Inductor was given for it.
        fake_mode: that of its values.
        device: where it is to run.
        texts: the IR is wanted as text too, which takes longer than to make it.

    Raises:
        InductorChangedError: this torch has no `GraphLowering`.
        LoweringError: an op has no lowering, or code generation failed.
    """
    from torch._inductor import debug
    from torch._inductor.virtualized import V

    try:
        from torch._inductor.graph import GraphLowering
    except ImportError as error:
        raise InductorChangedError(f"torch {torch.__version__} has no GraphLowering: {error}.") from error
    listener = _Listener(texts)
    graph_module, example_inputs = device.moved(graph_module, example_inputs, fake_mode)
    with ExitStack() as stack:
        stack.enter_context(device.lowering())
        stack.enter_context(V.set_debug_handler(listener))
        refusals = stack.enter_context(watched_fusions())
        lines = stack.enter_context(watched_lines())
        stack.enter_context(V.set_fake_mode(fake_mode))
        stack.enter_context(_helper("maybe_disable_comprehensive_padding", example_inputs))
        stack.enter_context(debug.reset_provenance_globals())
        known = inspect.signature(GraphLowering.__init__).parameters
        wanted = {
            **options,
            "example_inputs": example_inputs,
            "shape_env": getattr(graph_module, "shape_env", None) or getattr(fake_mode, "shape_env", None),
        }
        graph = GraphLowering(graph_module, **{name: value for name, value in wanted.items() if name in known})
        try:
            freeze = getattr(graph, "freeze_runtime_asserts", None)
            if freeze is not None:
                freeze()
            with V.set_graph_handler(graph), V.set_extern_kernel_nodes([]):
                graph.run(*example_inputs)
                _tell_strides(graph, example_inputs)
                code, _ = graph.codegen()
                steps = [step_of(node) for node in graph.scheduler.nodes]
        except Exception as error:
            raise LoweringError(error) from error
        made = getattr(debug, "_inductor_triton_kernel_to_post_grad_node_info", {})
        calls = [(name, list(nodes)) for name, nodes in made.items()]
    return LoweredKernels(str(code.value), calls, listener.before, listener.after, steps, refusals, lines)


class _Listener:
    """Stands in for `V.debug`, whose methods Inductor calls at the places where it can write files for people."""

    def __init__(self, texts: bool) -> None:
        self._texts = texts
        self.before: list[IrBlock] = []
        self.after: list[IrBlock] = []

    def ir_pre_fusion(self, nodes: Sequence[Any]) -> None:
        """The scheduler's nodes as they were lowered. Those of subgraphs come after each other."""
        self.before += map(block_of, nodes if self._texts else ())

    def ir_post_fusion(self, nodes: Sequence[Any]) -> None:
        """The same after fusion."""
        self.after += map(block_of, nodes if self._texts else ())

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None


def _tell_strides(graph: Any, example_inputs: Sequence[Any]) -> None:
    """Tells AOTAutograd the strides of what the forward gives, as `CompiledFxGraph` does: the backward gets them."""
    context = torch._guards.TracingContext.try_get()
    known = getattr(context, "output_strides", None)
    if known is None or known:
        return
    known += [_strides(output) for output in graph.graph_outputs or ()]


def _strides(output: Any) -> tuple[Any, ...] | None:
    from torch._inductor.utils import convert_shape_to_symint

    try:
        return tuple(convert_shape_to_symint(output.get_stride()))
    except (AttributeError, NotImplementedError, TypeError):
        return None


@contextmanager
def _no_compiler() -> Iterator[None]:
    """Answers for the C++ compiler, which Inductor would otherwise start to learn what it can do."""
    from torch._inductor import cpp_builder, cpu_vec_isa

    windows, mac = sys.platform == "win32", sys.platform == "darwin"
    instead: list[tuple[Any, str, Any]] = [
        (cpp_builder, "get_cpp_compiler", lambda: "cl" if windows else "clang++" if mac else "g++"),
        (cpp_builder, "is_gcc", lambda: not windows and not mac),
        (cpp_builder, "is_clang", lambda: mac),
        (cpp_builder, "is_apple_clang", lambda: mac),
        (cpp_builder, "is_intel_compiler", lambda: False),
        (cpp_builder, "is_msvc_cl", lambda: windows),
        (cpu_vec_isa, "valid_vec_isa_list", _trusted_instructions(cpu_vec_isa)),
    ]
    present = [(module, name, value, getattr(module, name)) for module, name, value in instead if hasattr(module, name)]
    for module, name, value, _ in present:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, _, before in present:
            setattr(module, name, before)


def _trusted_instructions(cpu_vec_isa: Any) -> Any:
    """The vector instructions that the processor says it has; Inductor also tries to compile something with each."""
    if platform.machine() not in ("x86_64", "AMD64"):
        # Only for x86 does Inductor compile anything to find out.
        return cpu_vec_isa.valid_vec_isa_list
    try:
        flags = set(cpu_vec_isa.x86_isa_checker())
        found = [_trusted(isa) for isa in cpu_vec_isa.supported_vec_isa_list if set(str(isa).split()) <= flags]
    except AttributeError:
        found = []
    return lambda: found


def _trusted(isa: Any) -> Any:
    """A `VecISA` that is true without the trial compilation that its `__bool__` stands for."""
    kind = type(isa)
    trusted = copy.copy(isa)
    trusted.__class__ = type(kind.__name__, (kind,), {"__bool__": lambda _: True, "__hash__": kind.__hash__})
    return trusted


def _helper(name: str, argument: Any) -> Any:
    """A context manager that `compile_fx` makes of `argument`, where this torch has it."""
    from torch._inductor import compile_fx

    helper = getattr(compile_fx, name, None)
    return helper(argument) if helper is not None else nullcontext()


def _has(config: Any, dotted: str) -> bool:
    for part in dotted.split("."):
        if not hasattr(config, part):
            return False
        config = getattr(config, part)
    return True
