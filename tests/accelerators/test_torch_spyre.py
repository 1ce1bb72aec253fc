"""An installed torch_spyre says where it differs from the profile; `explain` shows both."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug.accelerators.torch_spyre import differences
from inductor_debug.cli.main import main

SPYRE = read_profile(load_document("spyre"))
OPS = [
    "add",
    "sub",
    "mul",
    "where3",
    "realdiv",
    "relufwd",
    "reciprocal",
    "mean",
    "sum",
    "max",
    "min",
    "layernormscale",
    "abs",
    "neg",
    "exp",
    "sigmoid",
    "silu",
    "exx2",
    "layernormnorm",
    "identity",
    "sqrt",
    "rsqrt",
    "topkvalue",
    "topkindex",
    "floor",
    "to_dtype",
    "maximum",
    "minimum",
    "clip",
    "greaterthan",
    "greaterequal",
    "lesserthan",
    "lesserequal",
    "equal",
    "notequal",
    "prod",
]


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, constants: str, fallbacks: str) -> None:
    for package in ("torch_spyre", "torch_spyre/_inductor", "torch_spyre/ops"):
        (folder / package).mkdir()
        (folder / package / "__init__.py").touch()
    (folder / "torch_spyre/_inductor/constants.py").write_text(constants)
    (folder / "torch_spyre/ops/fallbacks.py").write_text(fallbacks)
    monkeypatch.syspath_prepend(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch_spyre"]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch_spyre"]:
        sys.modules.pop(name)


def test_a_package_like_the_one_that_was_read_does_not_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = f"SPYRE_FP32_OPS = {OPS!r}\nDLFLOAT16_MAX = (1.0 + 510.0 / 512.0) * 2.0**32\n"
    install(tmp_path, monkeypatch, constants, "fallback_ops = ['aten::sin', 'aten.cos.default', 'aten.cos.out']\n")
    assert differences(SPYRE) == []


def test_what_a_newer_package_says_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    constants = f"SPYRE_FP32_OPS = {[*OPS[1:], 'batchmatmul']!r}\nDLFLOAT16_MAX = 1024.0\n"
    install(tmp_path, monkeypatch, constants, "fallback_ops = ['aten.embedding.default']\n")
    assert differences(SPYRE) == [
        "aten.add does not compute in float32",
        "aten.bmm computes in float32",
        "the largest number of 16 bits is 1024, not 8.57316e+09",
        "aten.embedding.default runs on the CPU",
    ]
    assert main(["explain", "--accelerator", "spyre"]) == 0
    shown = capsys.readouterr().out
    assert "- date: 2026-" in shown
    assert "- aten.bmm computes in float32" in shown
    assert "`aten.arange`" in shown.split("## On the CPU")[1]


def test_a_package_that_does_not_load_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "raise OSError('no device')\n", "")
    assert differences(SPYRE) == ["torch_spyre is installed and could not be read: OSError: no device"]


def test_without_it_there_is_nothing_to_say() -> None:
    assert differences(SPYRE) == []
