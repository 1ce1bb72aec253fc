"""What the machine behind a Dask worker has, and which machines may work together. Imports no torch."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inductor_debug_schema import from_wire, to_wire

from inductor_debug import __version__
from inductor_debug.engine.pool.interpreter_facts import InterpreterError, facts_of


@dataclass(frozen=True, slots=True)
class NodeVersions:
    """What decides what a model gives: this tool, and the torch and the Python that run models there."""

    tool: str
    torch: str
    python: str

    def __str__(self) -> str:
        return f"inductor-debug {self.tool}, torch {self.torch or 'not installed'}, Python {self.python}"


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """A Dask worker: its `versions`, or the `trouble` with its interpreter, and the bytes of memory it has (0: any)."""

    versions: NodeVersions
    memory: int = 0
    trouble: str = ""


def facts_here(interpreter: str, memory: int) -> NodeFacts:
    """The facts of this machine. `interpreter` runs the models, "" for the one that we run in."""
    try:
        facts = facts_of(interpreter or sys.executable, ["torch"])
    except InterpreterError as error:
        return NodeFacts(NodeVersions(__version__, "", ""), memory, str(error))
    versions = NodeVersions(__version__, facts.packages.get("torch", ""), facts.python)
    return NodeFacts(versions, memory, "" if versions.torch else f"{facts.executable} has no torch")


def chosen(found: Mapping[str, NodeFacts]) -> NodeVersions | None:
    """The versions that the survey is of: those of most workers that can work, the newest of equals; None for none."""
    counts = Counter(
        facts.versions for facts in found.values() if not facts.trouble and facts.versions.tool == __version__
    )
    return max(counts, key=lambda versions: (counts[versions], _number(versions.torch)), default=None)


def refusal(facts: NodeFacts, wanted: NodeVersions) -> str:
    """Why a worker may not take part; "" if it may."""
    if facts.trouble:
        return facts.trouble
    return "" if facts.versions == wanted else f"it has {facts.versions}; this run is of {wanted}"


def facts_text(value: NodeFacts | NodeVersions) -> str:
    """Facts as JSON."""
    return json.dumps(to_wire(value))


def read_facts(text: Any) -> NodeFacts:
    """What `facts_text` made.

    Raises:
        ValueError: it is no such thing.
    """
    return from_wire(NodeFacts, json.loads(text))


def read_versions(text: str) -> NodeVersions:
    """What `facts_text` made.

    Raises:
        ValueError: it is no such thing.
    """
    return from_wire(NodeVersions, json.loads(text))


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.partition("+")[0].split(".") if part.isdecimal())
