"""Names of cards as people write them mean the card, and never another one."""

from __future__ import annotations

import sys

import pytest
from inductor_debug.accelerators.profile import ProfileError
from inductor_debug.engine.settings.accelerator_registry import Accelerators

MEANT = {
    "rtx-4090": (
        *("RTX 4090", "rtx4090", "RTX-4090", "rtx_4090", "4090", "GeForce RTX 4090", "NVIDIA GeForce RTX 4090"),
        "NVIDIA GeForce RTX 4090 24GB",
    ),
    "rtx-5090": ("RTX5090", "5090"),
    "a100-40gb": ("A100 40GB", "a100-40", "NVIDIA A100-SXM4-40GB", "A100 PCIe 40 GB"),
    "a100-80gb": ("A100 80GB", "A100-SXM4-80GB"),
    "h100": ("H100", "h100 sxm", "NVIDIA H100 80GB HBM3"),
    "h100-pcie": ("H100 PCIe", "h100_pcie"),
    "a10": ("A10", "NVIDIA A10"),
    "l40s": ("L40S",),
    "t4": ("Tesla T4", "T4"),
    "mi300x": ("AMD Instinct MI300X", "mi 300x"),
    "mps": ("MPS", "Apple M2 Pro", "m3", "metal"),
    "cuda": ("CUDA", "nvidia"),
    "rocm": ("ROCm", "AMD"),
    "spyre": ("Spyre", "IBM Spyre"),
    "none": ("none", "None"),
}
AMBIGUOUS = {
    "A100": "'A100' may be a100-40gb or a100-80gb: say which",
    "h100 80gb": "'h100 80gb' may be h100 or h100-pcie: say which",
}
OTHER_CARDS = ("L40", "A10G", "RTX 4090 Laptop GPU", "RTX 4090 Ti", "RTX 3080", "MI300", "V100", "gpu", "any", "")


@pytest.mark.parametrize(("name", "said"), [(name, said) for name, many in MEANT.items() for said in many])
def test_what_people_write_means_the_card(name: str, said: str) -> None:
    assert Accelerators().meant(said, sys.executable) == name
    assert Accelerators().document(said, sys.executable)["name"] == name


@pytest.mark.parametrize("said", AMBIGUOUS)
def test_where_there_are_several_the_choices_are_named(said: str) -> None:
    with pytest.raises(ProfileError) as caught:
        Accelerators().document(said, sys.executable)
    assert str(caught.value) == AMBIGUOUS[said]


@pytest.mark.parametrize("said", OTHER_CARDS)
def test_another_card_is_not_taken_for_one_that_is_known(said: str) -> None:
    with pytest.raises(ProfileError) as caught:
        Accelerators().meant(said, sys.executable)
    assert str(caught.value).startswith(f"unknown accelerator {said!r}")
    assert "`cuda` and `rocm` are any GPU of NVIDIA's and AMD's" in str(caught.value)
    assert str(caught.value).count("rtx-4090") <= 2, "the list stands there once, and perhaps a near name"
