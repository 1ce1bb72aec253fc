"""`inductor-debug list-backends`: what models can be compiled and compared with, and what some of it lacks here."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence

from inductor_debug_schema import AdaptersFound, to_wire
from inductor_debug_schema.compiling.backend_entries import ALL_BACKENDS, BackendEntry, BackendKind

from inductor_debug.cli.support import console
from inductor_debug.cli.support.output import Output, add_output
from inductor_debug.cli.support.running.run_arguments import located
from inductor_debug.engine.pool.asking_interpreters import DescribingError, ask_interpreter
from inductor_debug.engine.settings.settings_ladder import ConfigurationError, SettingsResolver
from inductor_debug.report.cells import printable

DESCRIPTION = """\
Lists the backends that the torch of an interpreter knows, torch's own and those of other packages, with what each is
for and what it needs that is not there; and the accelerators whose arithmetic comparisons can have in their place.
"""
EPILOG = """\
examples:
  inductor-debug list-backends
  inductor-debug list-backends --python .venv/bin/python --format json
  inductor-debug diff model.py --backend aot_eager        compares with one of them

exit codes: 0; 2 where torch cannot be asked, and for bad usage or configuration
"""
FAILURES = (ConfigurationError, DescribingError)
SCHEMA = 1
_HEADINGS = {
    BackendKind.COMPILER: "compilers, for torch.compile(backend=…) and --backend",
    BackendKind.DEBUG: "to tell faults apart, for torch.compile(backend=…) and --backend",
    BackendKind.EXPERIMENTAL: "experimental, for torch.compile(backend=…) and --backend",
    BackendKind.ACCELERATOR: "accelerators, for --backend alone",
}
_ABOUT = {
    "inductor": "the default: fused kernels, in C++ on CPUs and in Triton on GPUs",
    "cudagraphs": "AOTAutograd's graphs, whose launches are recorded once and replayed",
    "openxla": "XLA, by torch_xla",
    "openxla_eval": "XLA, by torch_xla, for inference",
    "onnxrt": "ONNX Runtime",
    "tensorrt": "TensorRT, for inference",
    "tvm": "Apache TVM, for inference",
    "eager": "Dynamo's graphs, run as they are; `diff` means no compiler by it, and `dynamo` by these graphs",
    "eager_noexcept": "eager, where an exception in the graph is said to be Dynamo's fault",
    "eager_debug": "eager, which checks the schema of every operator that runs",
    "pre_dispatch_eager": "operators as they are before autograd, run as they are",
    "aot_eager": "AOTAutograd's graphs, forward and backward, run as they are",
    "aot_eager_default_partitioner": "aot_eager, with nothing computed again in the backward pass",
    "aot_eager_decomp_partition": "aot_eager with Inductor's decompositions and partition: all but Inductor itself",
    "aot_eager_decomp_partition_with_mode": "the same under a dispatch mode",
    "aot_eager_decomp_partition_crossref": "the same, and fake tensors beside real ones",
    "aot_ts": "AOTAutograd's graphs by TorchScript",
    "ts": "TorchScript",
    "invoke_subgraph": "Dynamo's graphs as one nested region",
    "inductor_debug_mock": "judges Dynamo's graphs by the rules, and runs them as they are",
    "inductor_debug_aot": "judges AOTAutograd's graphs by the rules, and runs them as they are",
}
_OF_TORCHS_TESTS = ("_TESTING_ONLY", "minifier_backend")
"""Backends that fail on purpose, or that torch's minifier makes of its own settings."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument("--python", metavar="INTERPRETER", help="the Python that has torch (default: the project's)")
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the list; returns the exit code.

    Raises:
        BrokenPipeError: the reader of standard output went away.
    """
    resolver = SettingsResolver(command_line={"interpreter": located(arguments.python)}, environ=os.environ)
    interpreter = resolver(os.path.join(os.getcwd(), "untitled.py")).interpreter
    found = ask_interpreter(interpreter, ALL_BACKENDS)
    if not found.backends:
        return console.fail(f"the torch of {interpreter} knows no backends")
    accelerators = [
        BackendEntry(
            name=entry.name,
            backend_kind=BackendKind.ACCELERATOR,
            distribution=entry.distribution,
            version=entry.version,
        )
        for entry in resolver.accelerators.listed(interpreter).accelerators
        if entry.computes and not entry.gpu
    ]
    backends = [entry for entry in found.backends if not entry.name.endswith(_OF_TORCHS_TESTS)]
    output = Output(arguments.output, utf8=arguments.format != "text" or arguments.output is not None)
    if arguments.format == "json":
        rows = [{**to_wire(entry), "about": _about(entry)} for entry in [*backends, *accelerators]]
        document = {"schema": SCHEMA, "interpreter": interpreter, "torch": found.torch, "backends": rows}
        output.write(json.dumps(document, indent=2) + "\n")
    else:
        lines = _lines(found, [*backends, *accelerators])
        output.write("".join(f"{printable(line).rstrip()}\n" for line in lines))
    output.commit()
    return 0


def _lines(found: AdaptersFound, backends: Sequence[BackendEntry]) -> Iterator[str]:
    yield f"torch {found.torch}"
    width = max(len(entry.name) for entry in backends)
    for kind, heading in _HEADINGS.items():
        rows = [entry for entry in backends if entry.backend_kind is kind]
        if not rows:
            continue
        yield ""
        yield heading
        # What cannot be used here comes after what can.
        for entry in sorted(rows, key=lambda entry: bool(entry.lacks)):
            package = f"with {entry.distribution} {entry.version}" if entry.distribution else ""
            lacks = f"NOT HERE: needs {entry.lacks}" if entry.lacks else ""
            about = "; ".join(filter(None, (_about(entry), package, lacks)))
            yield f"  {entry.name:<{width}}  {about}"


def _about(entry: BackendEntry) -> str:
    if entry.backend_kind is not BackendKind.ACCELERATOR:
        return _ABOUT.get(entry.name, "")
    return "by its adapter" if entry.distribution else "its arithmetic, emulated"
