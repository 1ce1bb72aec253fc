"""Tensors and models on a device other than the CPU: a simulated one, one without float64, and CUDA where there is one.

A device is there for a whole process, so all cases of one (`device/cases.py`) run in a process of their own.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import needed
import pytest
import torch

pytestmark = pytest.mark.torch
FOLDER = Path(__file__).with_name("device")


Failures = dict[str, list[str]]
"""What the cases said that do not hold, by device."""


def failures(folder: Path, *devices: str) -> Failures:
    """Runs all cases on each of the devices, in processes that one program forks."""
    command = [sys.executable, str(FOLDER / "cases.py"), str(folder / "results.json"), *devices]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    results: dict[str, dict[str, str]] = json.loads((folder / "results.json").read_text("utf-8"))
    assert all(results[device] for device in devices)
    return {device: [said for said in cases.values() if said] for device, cases in results.items()}


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Failures:
    spec = importlib.util.spec_from_file_location("simulated_device", FOLDER / "simulated_device.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        module.build()
    except module.UnavailableError as error:
        needed.lacking(f"the simulated device cannot be built: {error}")
    return failures(tmp_path_factory.mktemp("simulated"), "simulated", "simulated-narrow")


@pytest.mark.skipif(sys.platform != "linux", reason="the simulated device is built for Linux")
@pytest.mark.parametrize("device", ["simulated", "simulated-narrow"])
def test_on_a_simulated_device(device: str, simulated: Failures) -> None:
    assert not simulated[device], "\n".join(simulated[device])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_on_cuda(tmp_path: Path) -> None:
    found = failures(tmp_path, "cuda")["cuda"]
    assert not found, "\n".join(found)
