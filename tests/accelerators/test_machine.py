"""Where nobody chose an accelerator: what torch says of this machine's GPU, and which profile that means."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from inductor_debug.accelerators.machine import document_of, may_have_gpu
from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug.engine.pool.asking_interpreters import ask_interpreter
from inductor_debug.engine.settings.accelerator_registry import Accelerators, StillAskingError
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug.worker.machine_devices import devices_of
from inductor_debug_schema import THIS_MACHINE, AdaptersFound, DeviceSeen


def torch_with(*devices: Any, hip: str | None = None, mps: bool = False) -> Any:
    """What `devices_of` asks of torch."""
    return SimpleNamespace(
        cuda=SimpleNamespace(
            is_available=lambda: bool(devices),
            device_count=lambda: len(devices),
            get_device_properties=devices.__getitem__,
        ),
        version=SimpleNamespace(hip=hip),
        backends=SimpleNamespace(mps=SimpleNamespace(is_available=lambda: mps)),
        mps=SimpleNamespace(recommended_max_memory=lambda: 24 << 30),
    )


def nvidia(name: str, major: int, minor: int, memory: int = 8 << 30) -> Any:
    return SimpleNamespace(name=name, major=major, minor=minor, total_memory=memory)


def test_what_torch_says_of_devices() -> None:
    [card] = devices_of(torch_with(nvidia("NVIDIA GeForce RTX 4090", 8, 9)))
    assert (card.platform, card.device_name, card.architecture) == ("cuda", "NVIDIA GeForce RTX 4090", "sm_89")
    amd = SimpleNamespace(name="AMD Instinct MI300X", gcnArchName="gfx942:sramecc+:xnack-", total_memory=192 << 30)
    assert devices_of(torch_with(amd, hip="6.4"))[0].architecture == "gfx942"
    assert devices_of(torch_with(mps=True))[0].memory_bytes == 24 << 30
    assert devices_of(torch_with()) == []


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("Tesla T4", "t4"),
        ("NVIDIA A100-SXM4-80GB", "a100-80gb"),
        ("NVIDIA A100-PCIE-40GB", "a100-40gb"),
        ("NVIDIA A100 80GB PCIe", "a100-80gb"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA H100 PCIe", "h100-pcie"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("AMD Instinct MI300X", "mi300x"),
    ],
)
def test_a_card_is_known_by_the_name_that_torch_has_for_it(name: str, means: str) -> None:
    platform = "hip" if name.startswith("AMD") else "cuda"
    profile = read_profile(document_of([DeviceSeen(platform=platform, device_name=name)]))
    assert (profile.name, profile.chosen) == (means, False)
    assert profile.memory_bytes == read_profile(load_document(means)).memory_bytes


def test_a_card_without_a_profile_is_one_of_its_architecture_with_its_own_memory() -> None:
    card = DeviceSeen(platform="cuda", device_name="NVIDIA RTX 2080", architecture="sm_75", memory_bytes=8 << 30)
    profile = read_profile(document_of([card]))
    assert (profile.name, profile.title, profile.memory_bytes) == ("cuda", "NVIDIA RTX 2080", 8 << 30)
    assert "bfloat16" in profile.emulated
    unknown = read_profile(document_of([DeviceSeen(platform="cuda", device_name="X", architecture="sm_130")]))
    assert (unknown.name, unknown.dtypes, unknown.memory_bytes) == ("cuda", frozenset(), None)
    assert read_profile(document_of([DeviceSeen(platform="hip", architecture="gfx1100")])).name == "rocm"
    apple = read_profile(document_of([DeviceSeen(platform="mps", architecture="apple", memory_bytes=24 << 30)]))
    assert (apple.name, apple.memory_bytes, apple.supports("float64")) == ("mps", 24 << 30, False)


def test_without_a_gpu_nothing_changes() -> None:
    assert document_of([]) == document_of([DeviceSeen(platform="xpu")]) == load_document("none")


@pytest.mark.parametrize(
    ("system", "processor", "files", "may"),
    [
        ("linux", "x86_64", {"/dev/nvidiactl"}, True),
        ("linux", "x86_64", {"/dev/kfd"}, True),
        ("linux", "x86_64", set(), False),
        ("darwin", "arm64", set(), True),
        ("darwin", "x86_64", set(), False),
        ("win32", "AMD64", set(), False),
    ],
)
def test_torch_is_asked_only_where_there_may_be_a_gpu(system: str, processor: str, files: set[str], may: bool) -> None:
    assert may_have_gpu(system, processor, files.__contains__) is may


def settings_with(accelerators: Accelerators, folder: Path, **said: Any) -> Any:
    return SettingsResolver(command_line=said, environ={}, accelerators=accelerators)(str(folder / "model.py"))


def test_the_gpu_of_the_machine_is_judged_where_nobody_chose(tmp_path: Path) -> None:
    asked: list[str | None] = []

    def ask(interpreter: str, adapter: str | None) -> AdaptersFound:
        asked.append(adapter)
        devices = [DeviceSeen(platform="cuda", device_name="Tesla T4", architecture="sm_75")]
        return AdaptersFound(folders=[], adapters=[], devices=devices)

    accelerators = Accelerators(ask, may_have_gpu=True)
    settings = settings_with(accelerators, tmp_path)
    assert (settings.accelerator, settings.chosen_accelerator) == ("t4", "t4")
    assert settings_with(accelerators, tmp_path, accelerator="none").chosen_accelerator is None
    assert settings_with(accelerators, tmp_path, accelerator="mock").accelerator == "mock"
    assert asked.count(THIS_MACHINE) == 1
    assert settings_with(Accelerators(ask, may_have_gpu=False), tmp_path).chosen_accelerator is None


def test_what_is_not_known_yet_is_awaited(tmp_path: Path) -> None:
    def ask(interpreter: str, adapter: str | None) -> AdaptersFound:
        raise StillAskingError

    assert settings_with(Accelerators(ask, may_have_gpu=True), tmp_path).awaits_accelerator


@pytest.mark.torch
def test_the_interpreter_itself_is_asked() -> None:
    found = ask_interpreter(sys.executable, THIS_MACHINE)
    assert found.adapters == []
    assert all(device.platform in ("cuda", "hip", "mps") for device in found.devices)
