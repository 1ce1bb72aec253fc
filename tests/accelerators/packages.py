"""Packages with adapters, installed into a scratch folder as pip would: modules beside the metadata that names them."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import dedent

import pytest
from inductor_debug.accelerators.installed import ENTRY_POINTS

HEAD = """
    from inductor_debug import AcceleratorAdapter, AcceleratorCapabilities
"""


def install(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    adapters: dict[str, str],
    modules: dict[str, str],
    version: str = "1.0",
) -> Path:
    """Installs the package `chips` into `folder`, for this process and for all that it starts.

    Args:
        folder: a new folder.
        monkeypatch: takes it off the path again.
        adapters: entry points: the name of an accelerator, and `module:attribute`.
        modules: sources by module name; each may be indented.
        version: the package's.
    """
    metadata = folder / f"chips-{version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: chips\nVersion: {version}\n")
    lines = [f"[{ENTRY_POINTS}]", *(f"{name} = {value}" for name, value in adapters.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(dedent(source))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]))
    return folder
