"""`AcceleratorAdapter`: how code for a real accelerator tells this tool what it can do and how it computes.

A package offers one through the entry point group `inductor_debug.accelerators`, under the accelerator's name:

    [project.entry-points."inductor_debug.accelerators"]
    my_chip = "my_package.debugging:MyChip"

The entry point names a class that needs no arguments, or an instance. An adapter must say what the accelerator can do;
everything else is a hook that it may leave out, and each hook says what happens then. The smallest one:

    class MyChip(AcceleratorAdapter):
        @property
        def capabilities(self) -> AcceleratorCapabilities:
            return AcceleratorCapabilities("my_chip", dtypes=frozenset({"float16", "float32"}), max_rank=4)

Hooks run where models run, never in the editor's server, and whatever one raises is told by name while the work goes
on without it. Nothing here needs torch, and no adapter should import it before a hook that needs it is called.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inductor_debug_schema import DeviceLayout

from inductor_debug.accelerators.capabilities import Profile
from inductor_debug.accelerators.constraints import AcceleratorConstraint
from inductor_debug.accelerators.device_memory import layout_in_sticks
from inductor_debug.accelerators.profile import load_document, read_profile

AcceleratorCapabilities = Profile
"""What an accelerator can do: dtypes, alignment, memory, operators, number formats."""
Compiler = Callable[[Any, Sequence[Any]], Callable[..., Any]]
"""A backend of `torch.compile`: `(GraphModule, example inputs) -> callable`."""


@dataclass(frozen=True)
class CompilationResult:
    """One graph that an adapter's compiler was given, and what came of it.

    `graph` numbers the graphs of a target from 0, `operations` are the operations in it. `seconds` is how long the
    compiler took; `error` is what it raised, "" where it returned a callable.
    """

    graph: int
    operations: int
    seconds: float
    error: str = ""


@dataclass(frozen=True)
class CompilerArtifact:
    """A file that a compiler left and that is worth keeping; `name` has its suffix (`kernel_0.json`)."""

    name: str
    content: bytes


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
        """The profile's name where it is not overridden. Users call an accelerator by the name of its entry point."""
        return self.capabilities.name

    @property
    @abstractmethod
    def capabilities(self) -> AcceleratorCapabilities:
        """What it can do. `check`, hovers, fixes and tables rest on it."""

    def layout(
        self, shape: Sequence[int], stride: Sequence[int], dtype: str, element_bytes: int
    ) -> DeviceLayout | None:
        """How it lays a tensor out in memory; without it in sticks where the capabilities say so, else row by row.

        Args:
            shape: the sizes of the tensor's dimensions.
            stride: its strides on the host, in elements.
            dtype: its dtype on the host, without the `torch.` prefix.
            element_bytes: what an element takes on the host, in bytes.

        Returns:
            None where it lies there as it does on the host.
        """
        return layout_in_sticks(self.capabilities, shape, stride, dtype, element_bytes)

    def compiler(self) -> Compiler | None:
        """A backend for `torch.compile`; without it `diff`, `bisect` and `repro` emulate the accelerator's numbers."""
        return None

    def arithmetic(self) -> Any:
        """Single operations as the accelerator computes them (`operation_arithmetic.Arithmetic`).

        Without it they are emulated in the number formats of the capabilities.
        """
        return None

    def decompositions(self) -> Mapping[Any, Callable[..., Any]]:
        """What its compiler makes of operators that it has no kernel for: `{torch.ops.aten.x.default: function}`.

        What is decomposed is judged by its parts. Without it operators are judged as torch has them.
        """
        return {}

    def cpu_fallbacks(self) -> Iterable[str]:
        """Patterns of operators that run on the host (`aten.sin`); without it only those that the capabilities name."""
        return ()

    def constraints(self) -> Iterable[AcceleratorConstraint]:
        """Rules of its own, beside those that the capabilities set; without it there are none."""
        return ()

    def artifacts(self, result: CompilationResult) -> Iterable[CompilerArtifact]:
        """What its compiler left of the graph that `result` tells of, to be kept; without it nothing is."""
        return ()

    def versions(self) -> Mapping[str, str]:
        """Versions that a bug report must name: driver, firmware, compiler. Without it only its package's is there."""
        return {}

    def logs(self) -> Mapping[str, str]:
        """Texts for a bug report, by file name; without it there are none. They are redacted as all others are."""
        return {}


HOOKS = (
    "layout", "compiler", "arithmetic", "decompositions", "cpu_fallbacks", "constraints", "artifacts", "versions",
    "logs",
)  # fmt: skip
"""What an adapter may leave out."""


def own_hooks(adapter: AcceleratorAdapter) -> list[str]:
    """The hooks that an adapter has of its own."""
    return [name for name in HOOKS if getattr(type(adapter), name) is not getattr(AcceleratorAdapter, name)]
