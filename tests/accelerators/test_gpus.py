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
FIGURES = ("memory", "gpu", "speed")
NO_FIGURES = {"gpu.platform"}


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
