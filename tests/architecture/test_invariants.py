"""The invariants of ARCHITECTURE.md that import contracts alone cannot hold."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "daemon" / "inductor_debug"
SCHEMA = ROOT / "shared_schema" / "inductor_debug_schema"
WORKER_ROOMS = ("worker", "repro", "kerneldiff", "capture", "rules", "accelerators", "artifacts", "source", "system")
ALLOWED_IN_WORKERS = {"torch", "msgpack", "inductor_debug", "inductor_debug_schema", "tomli"}
TORCH_FREE_MODULES = (
    "cli.main",
    "cli.commands.check",
    "engine.engine",
    "server.rpc.headless_client",
    "rules.registry",
    "accelerators.profile",
)


def sources(*folders: Path) -> list[Path]:
    return [path for folder in folders for path in sorted(folder.rglob("*.py"))]


def imported_top_names(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize(
    "path", sources(SCHEMA, *(PACKAGE / room for room in WORKER_ROOMS)), ids=lambda path: str(path.relative_to(ROOT))
)
def test_a_worker_needs_only_torch_and_msgpack(path: Path) -> None:
    outside = imported_top_names(path) - set(sys.stdlib_module_names) - ALLOWED_IN_WORKERS
    assert not outside, f"workers run in the user's interpreter, where {outside} may be missing"


@pytest.mark.parametrize("path", sources(SCHEMA), ids=lambda path: path.name)
def test_the_schema_needs_only_the_standard_library(path: Path) -> None:
    assert imported_top_names(path) <= set(sys.stdlib_module_names) | {"inductor_debug_schema"}


@pytest.mark.parametrize("path", sources(PACKAGE, SCHEMA), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_is_short_and_says_why_it_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 500, "split it: a module has one subject"
    assert ast.get_docstring(ast.parse(text)), "a module says why it exists and what it never does"


@pytest.mark.parametrize("module", TORCH_FREE_MODULES)
def test_no_torch_above_the_line_at_run_time(module: str) -> None:
    code = f"import sys, importlib; importlib.import_module('inductor_debug.{module}'); print('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


def test_importing_the_package_alone_imports_no_torch() -> None:
    code = "import sys, inductor_debug; print(sorted(m for m in sys.modules if m.split('.')[0] == 'torch'))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
