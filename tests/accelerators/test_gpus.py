"""Profiles of GPUs: every figure has a source, agrees with the others, and what is no figure is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from inductor_debug.accelerators.gpu import GpuPlatform
from inductor_debug.accelerators.profile import ProfileError, built_in_names, load_document, read_profile
from inductor_debug.report.text.profile_page import profile_page
from inductor_debug_schema import from_wire, to_wire

PROFILES = {name: read_profile(load_document(name)) for name in built_in_names()}
GPUS = {name: profile for name, profile in PROFILES.items() if profile.gpu is not None}
FIGURES = ("dtypes", "memory", "gpu", "speed")
NO_FIGURES = {"gpu.platform", "gpu.device_names"}


def figures(table: dict[str, Any], prefix: str) -> Iterator[str]:
    for key, value in table.items():
        dotted = f"{prefix}.{key}"
        if isinstance(value, dict):
            yield from figures(value, dotted)
        elif dotted not in NO_FIGURES:
            yield dotted


@pytest.mark.parametrize("name", GPUS)
def test_every_figure_has_a_source_and_every_source_a_figure(name: str) -> None:
    document = load_document(name)
    stated = [key for section in FIGURES for key in figures(document.get(section, {}), section)]
    sourced = [key for keys in PROFILES[name].sources.values() for key in keys]
    assert [key for key in stated if not any(f"{key}.".startswith(f"{known}.") for known in sourced)] == []
    assert [known for known in sourced if not any(f"{key}.".startswith(f"{known}.") for key in stated)] == []


def test_h100() -> None:
    profile = PROFILES["h100"]
    assert profile.gpu is not None
    assert profile.speed is not None
    assert (profile.gpu.platform, profile.gpu.architecture, profile.gpu.capability) == ("cuda", "sm_90", (9, 0))
    assert profile.gpu.shared_bytes_per_block == 227 << 10
    assert profile.speed.product_rate("bfloat16") == 989.4e12
    assert profile.speed.product_rate("float32") == 66.9e12
    assert profile.speed.product_rate("float32", tf32=True) == 494.7e12
    assert profile.speed.product_rate("int64") is None
    page = profile_page(profile)
    assert "bfloat16, matrix units: 989.4 TFLOP/s" in page
    assert "cuda sm_90" in page
    assert "whitepaper" in page


LANES = {"sm_75": 64, "sm_80": 64, "gfx90a": 64}
"""Additions and multiplications in float32 that a multiprocessor does at once, of architectures where not 128."""
CARDS = {name: profile for name, profile in GPUS.items() if profile.memory_bytes is not None}


@pytest.mark.parametrize("name", [name for name, profile in CARDS.items() if profile.gpu and profile.gpu.clock_hertz])
def test_the_rate_of_float32_is_that_of_the_units_at_their_clock(name: str) -> None:
    gpu, speed = GPUS[name].gpu, GPUS[name].speed
    assert gpu is not None
    assert speed is not None
    lanes = (gpu.multiprocessors or 0) * LANES.get(gpu.architecture, 128)
    assert speed.operations_per_second["float32"] == pytest.approx(2 * lanes * (gpu.clock_hertz or 0), rel=0.01)


@pytest.mark.parametrize("name", CARDS)
def test_rates_agree_with_each_other(name: str) -> None:
    profile = CARDS[name]
    gpu, speed = profile.gpu, profile.speed
    assert gpu is not None
    assert speed is not None
    dense, sparse = speed.matrix_operations_per_second, speed.sparse_operations_per_second
    assert all(profile.supports(dtype) and dtype not in profile.emulated for dtype in {*dense, *sparse})
    assert all(rate == pytest.approx(2 * dense[dtype], rel=0.03) for dtype, rate in sparse.items())
    assert all(rate >= speed.operations_per_second.get(dtype, 0) for dtype, rate in dense.items())
    assert speed.operations_per_second["float64"] < speed.product_rate("float16")  # type: ignore[operator]
    assert dense["int8"] >= dense["float16"]
    assert (speed.tf32_operations_per_second is not None) == (gpu.architecture not in ("sm_75", "gfx90a"))
    assert 1e9 < (profile.memory_bytes or 0) < 1e12
    assert 1e11 < (speed.bytes_per_second or 0) < 1e13


@pytest.mark.parametrize("name", [name for name, profile in GPUS.items() if profile.gpu and profile.gpu.capability])
def test_what_the_compute_capability_decides(name: str) -> None:
    profile = GPUS[name]
    gpu = profile.gpu
    assert gpu is not None
    capability = gpu.capability
    assert capability is not None
    assert profile.supports("float8_e4m3fn") == (capability >= (8, 9))
    assert ("bfloat16" in profile.emulated) == (capability < (8, 0))
    assert (gpu.threads_per_multiprocessor or 0) % (gpu.warp or 1) == 0
    reserved = (gpu.shared_bytes_per_multiprocessor or 0) - (gpu.shared_bytes_per_block or 0)
    assert reserved == (1024 if capability >= (8, 0) else 0)


def test_the_names_that_users_type() -> None:
    cards = "t4 a10 l4 l40s a100-40gb a100-80gb h100 h100-pcie h200 b200 rtx-3090 rtx-4090 rtx-5090 mi250x mi300x"
    assert {*cards.split(), "cuda", "rocm", "mps"} == GPUS.keys()
    vendors = {profile.title.removeprefix("any ").split()[0] for profile in GPUS.values()}
    assert vendors == {"NVIDIA", "AMD", "Apple"}
    assert all(profile.title.endswith(f"{profile.memory_bytes >> 30} GB") for profile in CARDS.values())  # type: ignore[operator]


def test_what_devices_lack() -> None:
    assert not PROFILES["mps"].supports("float64")
    assert PROFILES["rtx-4090"].supports("float64")
    assert not PROFILES["a100-80gb"].supports("float8_e4m3fn")
    assert not PROFILES["mi300x"].supports("float8_e4m3fn")
    assert PROFILES["mi300x"].supports("float8_e4m3fnuz")


def test_a_gpu_survives_the_wire() -> None:
    profile = PROFILES["h100"]
    assert from_wire(type(profile), to_wire(profile)) == profile


def test_a_family_is_no_choice() -> None:
    assert "sm_90" not in built_in_names()
    with pytest.raises(ProfileError, match="unknown accelerator 'sm_90'"):
        load_document("sm_90")


def test_platforms() -> None:
    assert [platform.device_type for platform in GpuPlatform] == ["cuda", "cuda", "mps"]


@pytest.mark.parametrize(
    ("gpu", "message"),
    [
        ({"warp": 32}, "platform: is missing"),
        ({"platform": "rocm"}, "platform: .*'rocm'"),
        ({"platform": "hip", "architecture": "sm_90"}, "architecture: must be one of hip"),
        ({"platform": "cuda", "multiprocessors": 0}, "at least 1"),
        ({"platform": "cuda", "l2_bytes": "much"}, "must be bytes or a size"),
        ({"platform": "cuda", "clock_hertz": "2 GHz"}, "must be a number"),
        ({"platform": "cuda", "matrix_multiple_bytes": {"fp16": 16}}, "did you mean 'float16'"),
        ({"platform": "cuda", "sms": 132}, "unknown key"),
    ],
)
def test_what_is_no_gpu_is_refused(gpu: dict[str, Any], message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        read_profile({"schema": 1, "name": "card", "gpu": gpu})
