"""Packages with adapters, installed into a scratch folder as pip would: modules beside the metadata that names them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
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
    write_package(folder, "chips", version, {ENTRY_POINTS: adapters}, modules)
    on_the_path(folder, monkeypatch)
    return folder


def write_package(
    folder: Path, name: str, version: str, entry_points: dict[str, dict[str, str]], modules: dict[str, str]
) -> None:
    """Writes an installed package: its metadata, with entry points by group, and modules, which may be indented."""
    metadata = folder / f"{name}-{version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = []
    for group, entries in entry_points.items():
        lines += [f"[{group}]", *(f"{entry} = {value}" for entry, value in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for module, source in modules.items():
        (folder / f"{module}.py").write_text(dedent(source))


def on_the_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has this process, and all that it starts, find the packages in a folder."""
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]))


ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / "examples" / "accelerator"


def environment_with(packages: Path, folder: Path) -> str:
    """An interpreter of its own that has what this one has, and the package in the folder `packages`, installed by pip.

    Args:
        packages: a folder with a `pyproject.toml`.
        folder: a new folder for the environment.

    Returns:
        The interpreter's path.
    """
    sources = folder / "sources"
    shutil.copytree(packages, sources)  # pip builds where the sources are
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    interpreter = str(folder / "venv" / "bin" / "python")
    where = [interpreter, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.run(where, check=True, capture_output=True, text=True).stdout.strip())
    (site / "shared.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    (site / "checkout.pth").write_text(f"{ROOT / 'daemon'}\n{ROOT / 'shared_schema'}\n")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*install, "--target", site, sources], check=True)
    return interpreter
