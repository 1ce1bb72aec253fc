"""The matrix: our contract with every torch and every Python that we promise, in environments from the registry.

`npm run matrix` brings nox and uv and runs this; `npm run matrix -- --list` says which environments there are. Without
more words the cross runs: every torch with one Python, every Python with the newest torch. A Python that the machine
lacks is skipped and said to be, unless it is asked for by name. uv takes torch's CPU builds where UV_TORCH_BACKEND=cpu
says so, and what the registry has otherwise (on Linux builds for CUDA, which run on machines without a GPU).
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import nox

_TRIED = runpy.run_path(str(Path(__file__).with_name("daemon") / "inductor_debug" / "system" / "tried_versions.py"))
TORCH: tuple[str, ...] = _TRIED["TORCH"]
PYTHON: tuple[str, ...] = _TRIED["PYTHON"]
UNTRIED_PYTHON = ("3.14",)
"""Promised by nobody: they are here to be looked at, in CI."""
NEWEST_TORCH = {"3.10": "2.14"}
"""The newest torch that there is for a Python, where later ones have left it behind."""
USUAL_PYTHON = "3.11"
"""With which every torch is run; it is what most of our own work is done with."""
CONTRACT = (
    "tests/architecture/test_integrations.py",
    "tests/architecture/test_invariants.py",
    "tests/architecture/test_promises.py",
    "tests/architecture/test_public_api.py",
    "tests/architecture/test_threats.py",
    "tests/schema/test_codec.py",
    "tests/source",
    "tests/rules",
    "tests/capture/test_aot.py",
    "tests/capture/test_fixtures.py",
    "tests/capture/test_graph_breaks.py",
    "tests/capture/test_guards.py",
    "tests/capture/test_inductor.py",
    "tests/capture/test_loading.py",
    "tests/capture/test_mock.py",
    "tests/capture/test_preview.py",
    "tests/cli/test_check.py",
    "tests/cli/test_main.py",
    "tests/cli/test_process.py",
    "tests/engine/test_real_workers.py",
    "tests/kerneldiff/test_harness.py",
    "tests/scripting",
)
"""What has to hold with every version: what is found and where, what commands print, what workers survive."""
OLDEST_TRANSFORMERS = "4.57"
"""The newest is what everything else is run with."""
WITH_TRANSFORMERS = (
    "tests/capture/test_fixtures.py",
    "tests/capture/test_mock.py",
    "tests/cli/test_bench_transformers.py",
    "tests/cli/test_survey_models.py",
    "tests/inference/test_call_plan.py",
    "tests/kerneldiff/test_harness.py",
    "tests/rules/test_folding.py",
)
"""Those of our tests that use models of it."""
_VERSION = "from importlib import metadata; print(metadata.version('torch'))"

nox.options.default_venv_backend = "uv"
nox.options.reuse_venv = "yes"
nox.options.tags = ["cross"]
nox.options.error_on_missing_interpreters = False


def _pairs() -> list[object]:
    every = [
        (python, torch)
        for python in (*PYTHON, *UNTRIED_PYTHON)
        for torch in TORCH[: TORCH.index(NEWEST_TORCH.get(python, TORCH[-1])) + 1]
    ]
    usual = {(USUAL_PYTHON, torch) for torch in TORCH}
    cross = usual | {(python, NEWEST_TORCH.get(python, TORCH[-1])) for python in PYTHON}
    return [
        nox.param(python, torch, id=f"{python}-torch-{torch}", tags=["cross"] if (python, torch) in cross else [])
        for python, torch in every
    ]


@nox.session
@nox.parametrize("python,torch", _pairs())
def contract(session: nox.Session, torch: str) -> None:
    """Installs what users install next to a torch, sees that the torch is the same, and runs the contract."""
    session.install(f"torch=={torch}.*")
    _install_beside_torch(session)
    _run_tests(session, CONTRACT)


@nox.session(python=USUAL_PYTHON, tags=["cross"])
def transformers(session: nox.Session) -> None:
    """What we do with models of transformers, with the oldest that is promised."""
    session.install("torch==2.13.*")
    _install_beside_torch(session)
    session.install(f"transformers=={OLDEST_TRANSFORMERS}.*")
    _run_tests(session, WITH_TRANSFORMERS)


@nox.session(python=USUAL_PYTHON, tags=["nightly"])
def nightly(session: nox.Session) -> None:
    """The contract with torch's newest pre-release, where the machine has an index of those (UV_TORCH_BACKEND)."""
    session.install("--pre", "--upgrade", "torch")
    _install_beside_torch(session)
    _run_tests(session, CONTRACT)


@nox.session(python=USUAL_PYTHON, tags=["cross"])
def apart(session: nox.Session) -> None:
    """The tool in an environment without torch, for an interpreter that has one and nothing of ours."""
    users = session.create_tmp()
    python = str(Path(users, "Scripts", "python.exe") if sys.platform == "win32" else Path(users, "bin", "python"))
    session.run("uv", "venv", "--quiet", "--clear", "--python", USUAL_PYTHON, users, external=True)
    session.run("uv", "pip", "install", "--quiet", "--python", python, f"torch=={TORCH[-1]}.*", external=True)
    session.install("--reinstall-package", "inductor-debug", _ours())
    session.run("python", "-c", "import importlib.util as u; assert u.find_spec('torch') is None")
    said = session.run(
        "inductor-debug", "check", "--python", python, "examples/tiny_attention.py", silent=True, success_codes=[0]
    )
    assert "[float64]" in str(said), said
    session.log("found what there is to find with a torch that is elsewhere")


def _ours() -> str:
    """What is installed: the checkout, or the one wheel in the folder that INDUCTOR_DEBUG_WHEEL names."""
    folder = os.environ.get("INDUCTOR_DEBUG_WHEEL")
    if not folder:
        return "."
    [wheel] = Path(folder).resolve().glob("*.whl")
    return str(wheel)


def _install_beside_torch(session: nox.Session) -> None:
    before = session.run("python", "-c", _VERSION, silent=True)
    session.install("--reinstall-package", "inductor-debug", f"{_ours()}[models,dev]")
    after = session.run("python", "-c", _VERSION, silent=True)
    if before != after:
        session.error(f"installing the tool changed torch from {before} to {after}")


def _run_tests(session: nox.Session, tests: tuple[str, ...]) -> None:
    """What is tested is what was installed; of the checkout there are the tests, and the benchmarks behind `bench`."""
    benchmarks = str(Path(__file__).with_name("benchmarks"))
    words = session.posargs
    if all(word.startswith("-") for word in words):
        words = [*words, *tests]
    side_by_side = ["--numprocesses", "2", "--dist", "worksteal"]
    session.run(
        "python", "-m", "pytest", "-p", "no:cacheprovider", *side_by_side, *words, env={"PYTHONPATH": benchmarks}
    )
