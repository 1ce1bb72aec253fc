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
    "pytest_plugin.model_items",
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


def foreign_imports(paths: list[Path], allowed: set[str]) -> dict[str, set[str]]:
    """By module: what it imports beside the standard library and what is allowed."""
    known = allowed | set(sys.stdlib_module_names)
    found = {str(path.relative_to(ROOT)): imported_top_names(path) - known for path in paths}
    return {path: names for path, names in found.items() if names}


def test_a_worker_needs_only_torch_and_msgpack() -> None:
    paths = sources(SCHEMA, *(PACKAGE / room for room in WORKER_ROOMS))
    assert len(paths) > 100
    assert foreign_imports(paths, ALLOWED_IN_WORKERS) == {}, "these may be missing in the user's interpreter"


def test_the_schema_needs_only_the_standard_library() -> None:
    paths = sources(SCHEMA)
    assert paths
    assert foreign_imports(paths, {"inductor_debug_schema"}) == {}


def test_every_module_is_short_and_says_why_it_exists() -> None:
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in sources(PACKAGE, SCHEMA)}
    assert len(texts) > 100
    long = {path for path, text in texts.items() if len(text.splitlines()) > 500}
    assert long == set(), "split them: a module has one subject"
    silent = {path for path, text in texts.items() if not ast.get_docstring(ast.parse(text))}
    assert silent == set(), "a module says why it exists and what it never does"


@pytest.mark.parametrize("module", TORCH_FREE_MODULES)
def test_no_torch_above_the_line_at_run_time(module: str) -> None:
    code = f"import sys, importlib; importlib.import_module('inductor_debug.{module}'); print('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


def test_importing_the_package_alone_imports_no_torch() -> None:
    code = "import sys, inductor_debug; print(sorted(m for m in sys.modules if m.split('.')[0] == 'torch'))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
