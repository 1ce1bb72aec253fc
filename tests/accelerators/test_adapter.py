"""`AcceleratorAdapter`: what an accelerator's own package offers, and what is filled in for it."""

from __future__ import annotations

import subprocess
import sys

from inductor_debug import AcceleratorAdapter, AcceleratorCapabilities
from inductor_debug.accelerators.adapter import capabilities


class Spyre(AcceleratorAdapter):
    @property
    def capabilities(self) -> AcceleratorCapabilities:
        return capabilities("spyre")


class Plain(AcceleratorAdapter):
    @property
    def capabilities(self) -> AcceleratorCapabilities:
        return AcceleratorCapabilities("plain")


def test_an_adapter_that_says_nothing_else_is_emulated_and_lies_in_sticks() -> None:
    adapter = Spyre()
    assert adapter.name == "spyre"
    assert adapter.compiler() is None
    assert adapter.arithmetic() is None
    layout = adapter.layout((512, 256), (256, 1), "float16", 2)
    assert layout is not None
    assert layout.size == [4, 512, 64]


def test_what_has_no_sticks_is_row_major_and_a_scalar_takes_a_stick() -> None:
    assert Plain().layout((4, 4), (4, 1), "float16", 2) is None
    scalar = Spyre().layout((), (), "float16", 2)
    assert scalar is not None
    assert scalar.size == [1, 64]


def test_adapters_need_no_torch() -> None:
    code = "import sys; from inductor_debug import AcceleratorAdapter; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
