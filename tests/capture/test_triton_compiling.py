"""Kernels compiled by Triton for GPUs that are not there. Needs Triton, which only Linux has."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import needed
import pytest
from forked import in_child
from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug.capture.gpu_kernels.absent_gpu import absent_gpu_of
from inductor_debug_schema import KernelSource

pytestmark = pytest.mark.torch

MODEL = """
import torch
from torch.nn import functional as F

# inductor-debug: inputs=(torch.randn(64, 512),)
def normalised(x):
    return F.layer_norm(x, (512,)).softmax(-1)
"""
SPILLED = """
import torch

# inductor-debug: inputs=(torch.randn(32, 64, 1024),)
def spilled(xs):
    parts = [x.exp() for x in xs.unbind(0)]
    weights = sum(parts).softmax(-1)
    return sum((weights - part).abs() for part in parts)
"""
SCRIPT = """
import json, sys
from inductor_debug.accelerators.profile import load_document
from inductor_debug.artifacts.graph_columns import decode
from inductor_debug.capture import session
from inductor_debug.capture.gpu_kernels import compile_task
from inductor_debug_schema import Answered, ArtifactMade, JobRequest, Stage, to_wire
from inductor_debug.engine.orders.compiling import compile_order, with_builds
from dataclasses import replace

path, told = sys.argv[1], {}
text = open(path).read()
for name in sys.argv[2:]:
    events = []
    request = JobRequest(1, path, text, ".", [Stage.INDUCTOR], load_document(name), keep_graphs=True)
    session.analyze(request, events.append)
    document = decode(next(made.content for made in events if getattr(made, "suffix", "") == ".graph"))
    order = compile_order([document])
    compile_task.perform(replace(request, task=order.task), events.append)
    builds = [event.document for event in events if isinstance(event, Answered)]
    told[name] = [to_wire(kernel.build) for kernel in with_builds(document, builds).kernels]
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compiled")


def compiled(folder: Path, model: str, *accelerators: str) -> dict[str, list[dict[str, Any]]]:
    """What became of the model's kernels, by GPU; in a process of its own, which has Triton."""
    (folder / "model.py").write_text(dedent(model), encoding="utf-8")
    path = os.pathsep.join([*filter(None, [needed.triton_folder()]), *filter(None, sys.path)])
    caches = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"), "TRITON_CACHE_DIR": str(folder / "triton")}
    environment = {**os.environ, "PYTHONPATH": path, **caches}
    command = [sys.executable, "-c", SCRIPT, str(folder / "model.py"), *accelerators]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[dict[str, Any]]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def builds(folder: Path) -> dict[str, list[dict[str, Any]]]:
    return compiled(folder, MODEL, "h100", "mi300x")


def test_a_kernel_has_registers_occupancy_and_machine_code(
    folder: Path, builds: dict[str, list[dict[str, Any]]]
) -> None:
    [build] = builds["h100"]
    assert (build["architecture"], build["problem"]) == ("sm_90", "")
    texts = {text["title"]: text["text"] for text in build["texts"]}
    assert ".target sm_90a" in texts["PTX"]
    assert "LDG.E" in texts["SASS"]
    assert (build["accesses"][0]["store"], build["accesses"][0]["bits"]) == (False, 128)
    assert build["occupancy"]["most_warps"] == 64
    assert (build["registers"], 0, 0) == usage_of_the_cubin(folder / "triton")
    assert build["spilled_bytes"] == 0
    assert "warps" in build["configuration"]


def usage_of_the_cubin(cache: Path) -> tuple[int, ...]:
    """What `cuobjdump` says of the one cubin that Triton has kept: registers, bytes of the stack, bytes beside it."""
    [cubin] = cache.rglob("*.cubin")
    beside = needed.triton_folder()
    home = Path(beside) / "triton" if beside else Path(str(needed.library("triton").__file__)).parent
    program = home / "backends" / "nvidia" / "bin" / "cuobjdump"
    said = subprocess.run([program, "-res-usage", cubin], capture_output=True, text=True, check=True).stdout
    return tuple(int(re.findall(rf"\b{name}:(\d+)", said)[0]) for name in ("REG", "STACK", "LOCAL"))


def test_what_does_not_fit_into_registers_is_as_much_as_cuobjdump_says(tmp_path: Path) -> None:
    """A row of each of many arrays is held until the sum of all is known."""
    [build] = compiled(tmp_path, SPILLED, "h100")["h100"]
    registers, stack, local = usage_of_the_cubin(tmp_path / "triton")
    assert stack + local > 0
    assert (build["registers"], build["spilled_bytes"]) == (registers, stack + local)


def test_amds_kernels_have_amds_machine_code(builds: dict[str, list[dict[str, Any]]]) -> None:
    [build] = builds["mi300x"]
    assert (build["architecture"], build["problem"]) == ("gfx942", "")
    assert [text["title"] for text in build["texts"]] == ["AMDGCN"]
    assert build["registers"] > 0
    assert build["occupancy"]["most_warps"] == 32


AHEAD = """
import importlib
from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug.capture.gpu_kernels.absent_gpu import absent_gpu_of
from inductor_debug.capture.gpu_kernels.triton_compiling import READY, prepare

importlib.import_module(READY)
reading = importlib.import_module("triton.runtime.cache").triton_key
before = reading.cache_info().misses
prepare(absent_gpu_of(read_profile(load_document("h100"))))
print(before, reading.cache_info().misses)
"""


def test_what_a_fork_server_has_read_no_first_kernel_waits_for(folder: Path) -> None:
    path = os.pathsep.join([*filter(None, [needed.triton_folder()]), *filter(None, sys.path)])
    command = [sys.executable, "-c", AHEAD]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "1 1\n", done.stderr


def test_without_triton_it_says_what_to_install() -> None:
    def work() -> Any:
        import importlib.util

        from inductor_debug.capture.gpu_kernels.triton_compiling import compile_kernel

        found = importlib.util.find_spec
        importlib.util.find_spec = lambda name, *rest: None if name == "triton" else found(name, *rest)
        gpu = absent_gpu_of(read_profile(load_document("h100")))
        assert gpu is not None
        return compile_kernel(KernelSource("kernel", "0.forward.post_grad", "import triton\n"), gpu)

    build, _ = in_child(work)
    assert "pip install inductor-debug[gpu]" in build.problem
    assert (build.kernel, build.graph, build.texts) == ("kernel", "0.forward.post_grad", [])


@pytest.mark.parametrize(
    ("version", "age"),
    [("3.1.0", " It is older than Triton 3.7"), ("4.0.0", " It is newer than Triton 3.7"), ("3.7.9", "")],
)
def test_a_triton_with_other_names_in_it_is_told_with_its_version(tmp_path: Path, version: str, age: str) -> None:
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "__init__.py").write_text(f"__version__ = {version!r}\n", encoding="utf-8")

    def work() -> str:
        from inductor_debug.capture.gpu_kernels.triton_compiling import compile_kernel

        for name in [name for name in sys.modules if name.partition(".")[0] == "triton"]:
            del sys.modules[name]
        sys.path.insert(0, str(tmp_path))
        gpu = absent_gpu_of(read_profile(load_document("h100")))
        assert gpu is not None
        return compile_kernel(KernelSource("kernel", "0.forward.post_grad", "import triton.language\n"), gpu).problem

    problem, _ = in_child(work)
    assert problem.startswith(f"Triton {version} cannot compile this for sm_90: ")
    assert problem.partition(", with which")[0].endswith(age or ".")
