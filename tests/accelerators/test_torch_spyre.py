"""Where `torch_spyre` is installed its own lists, types and limits hold for the accelerator `spyre`, and are compared.

The package here is a fake that has the modules and names of the real one, and no device.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from inductor_debug.accelerators.capabilities import Profile
from inductor_debug.accelerators.execution import RunsOn
from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug.accelerators.torch_spyre import TorchSpyre
from inductor_debug.cli.main import main
from inductor_debug.engine.settings.accelerator_registry import Accelerators

pytestmark = pytest.mark.torch

FP32 = [
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
MODULES = {
    "__init__": "",
    "_C": """
        import torch

        def get_elem_in_stick(dtype):
            return 64 if dtype is torch.bool else 128 // dtype.itemsize
    """,
    "_inductor/__init__": "",
    "_inductor/constants": f"""
        SPYRE_FP32_OPS = {FP32!r}
        SPYRE_INT32_OPS = frozenset({{"addi32toi32", "muli32toi32"}})
        DLFLOAT16_MAX = (1.0 + 510.0 / 512.0) * float(2**32)
    """,
    "_inductor/decompositions": """
        import torch

        spyre_decompositions = {torch.ops.aten.ceil.default: None, torch.ops.aten.sign.default: None}
    """,
    "_inductor/lowering": """
        import torch

        spyre_lowerings = {torch.ops.aten.mm: None, torch.ops.aten.clamp.default: None, "spyre.gelu": None}
    """,
    "_inductor/dtype_ops": """
        from torch import bfloat16, bool, float16, float32, float8_e4m3fn, int32

        HALF = (float16, bfloat16)
        PAIRS = {(one, other) for one in (*HALF, float32) for other in (*HALF, float32, bool) if one is not other}
        PAIRS |= {(bool, other) for other in (*HALF, float32, int32)} | {(float8_e4m3fn, float16)}
        PAIRS |= {(float32, int32), (int32, float32)}

        class DtypeOpTable:
            @classmethod
            def is_supported(cls, source, target):
                return (source, target) in PAIRS
    """,
    "_inductor/config": "sencores = 32\n",
    "_inductor/work_division": "MAX_SPAN_BYTES = 256 * 1024 * 1024\n",
    "ops/__init__": "",
    "ops/fallbacks": """
        import torch

        fallback_ops = [torch.ops.aten.arange.start, torch.ops.aten.tril.out, "spyre::max_dim_int64_fallback"]
    """,
}
"""The modules as they were when the profile was read, so that nothing differs."""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the fake package, for this process and for all that it starts."""
    site = tmp_path / "site"
    for name, source in MODULES.items():
        (site / "torch_spyre" / name).parent.mkdir(parents=True, exist_ok=True)
        (site / "torch_spyre" / f"{name}.py").write_text(dedent(source))
    (site / "torch_spyre-0.4.dist-info").mkdir()
    (site / "torch_spyre-0.4.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: torch_spyre\nVersion: 0.4\n"
    )
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])]))
    yield site / "torch_spyre"
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch_spyre"]:
        del sys.modules[name]


def changed(package: Path, module: str, source: str) -> None:
    (package / f"{module}.py").write_text(dedent(source))


def place(profile: Profile, overload: str) -> RunsOn:
    assert profile.execution is not None
    return profile.execution.place_of(overload)


def cannot_compute(profile: Profile, overload: str, dtype: str) -> bool:
    assert profile.execution is not None
    return profile.execution.cannot_compute(overload, dtype) is not None


def test_a_package_like_the_one_that_was_read_does_not_differ(installed: Path) -> None:
    found, ours = TorchSpyre().capabilities, read_profile(load_document("spyre"))

    assert found.differences == ()
    assert found.execution is not None
    assert ours.execution is not None
    assert found.execution.conversions == ours.execution.conversions
    assert found.element_bytes == ours.element_bytes


def test_its_operators_hold_instead_of_ours(installed: Path) -> None:
    changed(
        installed, "_inductor/constants", f"SPYRE_FP32_OPS = {[*FP32[1:], 'batchmatmul']!r}\nDLFLOAT16_MAX = 1024.0\n"
    )
    changed(installed, "ops/fallbacks", "import torch\nfallback_ops = [torch.ops.aten.embedding.default]\n")
    changed(
        installed,
        "_inductor/decompositions",
        "from torch import ops\nspyre_decompositions = {ops.aten.tril.default: None, ops.aten.erf.default: None}\n",
    )
    found = TorchSpyre().capabilities

    assert cannot_compute(found, "aten.add.Tensor", "float32")
    assert not cannot_compute(found, "aten.bmm.default", "float32")
    assert place(found, "aten.embedding.default") is RunsOn.CPU
    assert place(found, "aten.tril.default") is RunsOn.COMPILED
    assert place(found, "aten.erf.default") is RunsOn.COMPILED
    assert {
        "aten.add does not compute in float32",
        "aten.bmm computes in float32",
        "aten.embedding.default runs on the CPU",
        "aten.tril.default runs on the device",
        "aten.erf.default runs on the device",
        "the largest number of 16 bits is 1024, and 8.57316e+09 in emulation",
    } <= {*found.differences}


def test_its_types_and_limits_hold_instead_of_ours(installed: Path) -> None:
    changed(installed, "_inductor/config", "sencores = 16\n")
    changed(installed, "_inductor/work_division", "MAX_SPAN_BYTES = 1024\n")
    changed(installed, "_C", "def get_elem_in_stick(dtype):\n    return 128 // dtype.itemsize\n")
    changed(
        installed,
        "_inductor/dtype_ops",
        "class DtypeOpTable:\n    @classmethod\n    def is_supported(cls, source, target):\n        return False\n",
    )
    found = TorchSpyre().capabilities

    assert (found.cores, found.span_bytes, found.device_bytes("bool", 1)) == (16, 1024, 1)
    assert found.execution is not None
    assert not found.execution.converts("float16", "float32")
    assert found.execution.converts("int64", "int32"), "both are int32 there"
    assert {
        "cores: 16, and not 32",
        "bytes that a core reaches: 1024, and not 268435456",
        "bool takes 1 bytes an element",
        "the device does not convert float16 to float32",
    } <= {*found.differences}


def test_modules_that_are_not_as_expected_leave_the_rest(installed: Path) -> None:
    changed(installed, "_inductor/constants", "OTHER = 1\n")
    changed(installed, "_inductor/config", "sencores = 16\n")
    found = TorchSpyre().capabilities

    assert found.cores == 16
    assert not cannot_compute(found, "aten.add.Tensor", "float32")
    assert found.differences[0].startswith("torch_spyre._inductor.constants could not be read: AttributeError")


def test_explain_shows_what_holds_and_what_differs(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed(installed, "_inductor/config", "sencores = 16\n")
    assert main(["explain", "--accelerator", "spyre"]) == 0

    shown = capsys.readouterr().out
    assert "- 16 cores, each reaching" in shown
    assert "## Where the installed software differs\n\n- cores: 16, and not 32\n" in shown
    assert "torch_spyre" not in sys.modules, "it is read in a process of its own"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("raise OSError('no device')\n", "OSError: no device"),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
        ("import os\nos._exit(7)\n", "exited with code 7"),
    ],
)
def test_a_package_that_does_not_load_leaves_what_was_known(installed: Path, source: str, told: str) -> None:
    changed(installed, "__init__", source)
    document = Accelerators().document("spyre", sys.executable)

    profile = read_profile(document)
    assert (profile.cores, place(profile, "aten.mm.default")) == (32, RunsOn.DEVICE)
    assert told in " ".join([document["source"].get("problem", ""), *profile.differences])


def test_it_is_listed_with_its_version(installed: Path) -> None:
    (entry,) = (entry for entry in Accelerators().listed(sys.executable).accelerators if entry.name == "spyre")
    assert (entry.kind.value, entry.distribution, entry.version, entry.problem) == (
        "installed",
        "torch_spyre",
        "0.4",
        "",
    )
    assert entry.place == str(installed / "__init__.py")


def test_without_it_what_comes_with_the_tool_holds() -> None:
    document = Accelerators().document("spyre", sys.executable)
    assert "capabilities" not in document["source"]
    assert read_profile(document).differences == ()
