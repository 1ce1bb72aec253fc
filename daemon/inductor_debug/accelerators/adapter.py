"""`AcceleratorAdapter`: how code for a real accelerator tells this tool what it can do and how it computes.

A package offers one through the entry point group `inductor_debug.accelerators`, under the accelerator's name:

    [project.entry-points."inductor_debug.accelerators"]
    my_chip = "my_package.debugging:MyChip"

The entry point names a class that needs no arguments, or an instance. All that is not overridden is taken from the
capabilities: an accelerator without a compiler and without arithmetic of its own is emulated. Nothing here needs torch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from inductor_debug.accelerators.capabilities import Profile
from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug.accelerators.sticks import StickLayout, stick_layout

AcceleratorCapabilities = Profile
"""What an accelerator can do: dtypes, alignment, memory, operators, number formats."""


def capabilities(name_or_path: str) -> AcceleratorCapabilities:
    """Capabilities from a built-in profile or a TOML file, for adapters that describe themselves so.

    Raises:
        ProfileError: there is no such profile, or it is not one.
    """
    return read_profile(load_document(name_or_path))


class AcceleratorAdapter(ABC):
    """One accelerator."""

    @property
    def name(self) -> str:
        """What users call it; the profile's name where it is not overridden."""
        return self.capabilities.name

    @property
    @abstractmethod
    def capabilities(self) -> AcceleratorCapabilities:
        """What it can do."""

    def compiler(self) -> Callable[[Any, Sequence[Any]], Callable[..., Any]] | None:
        """A backend for `torch.compile`, `(GraphModule, example inputs) -> callable`; None where there is none."""
        return None

    def arithmetic(self) -> Any:
        """Single operations as the accelerator computes them (`operation_arithmetic.Arithmetic`); None to emulate."""
        return None

    def layout(self, shape: Sequence[int], element_bytes: int) -> StickLayout | None:
        """How it lays a tensor out in memory: in sticks where the capabilities say so, else None for row-major.

        Args:
            shape: the sizes of the tensor's dimensions.
            element_bytes: what an element takes on the accelerator, in bytes.
        """
        sticks = self.capabilities.stick_bytes
        return stick_layout(shape, element_bytes, stick_bytes=sticks) if sticks is not None and shape else None
