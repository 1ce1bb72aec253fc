"""The registry of accelerators: what is built in, what is installed beside torch, and adapters that do not work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from inductor_debug.accelerators.profile import ProfileError, built_in_names, load_document, read_profile
from inductor_debug.engine.orders.comparing import diff_order
from inductor_debug.engine.settings.accelerator_registry import Accelerators, backend_meant
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug_schema import AcceleratorEntry, AcceleratorKind, DiffOptions, DiffTask

from tests.accelerators.packages import HEAD, install

CHIP = f"""{HEAD}
    print("an adapter that prints")
    class Chip(AcceleratorAdapter):
        capabilities = AcceleratorCapabilities(
            "as it calls itself", title="A chip", dtypes=frozenset({{"float16"}}), max_rank=3
        )
    class Raising(AcceleratorAdapter):
        @property
        def capabilities(self):
            raise KeyError("no firmware")
    class Exiting(AcceleratorAdapter):
        def __init__(self):
            raise SystemExit(3)
        capabilities = None
    class Dying(AcceleratorAdapter):
        def __init__(self):
            import os
            os._exit(5)
        capabilities = None
    class Nothing:
        pass
"""
BROKEN = {
    "gone": ("nowhere:Chip", "ModuleNotFoundError: No module named 'nowhere'"),
    "misspelt": ("chips:Chipp", "AttributeError"),
    "raising": ("chips:Raising", "KeyError: 'no firmware' when it was asked for its capabilities"),
    "exiting": ("chips:Exiting", "SystemExit: 3"),
    "dying": ("chips:Dying", "exited with code 5"),
    "nothing": ("chips:Nothing", "is no `AcceleratorAdapter`"),
}


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    adapters = {"chip": "chips:Chip", **{name: value for name, (value, _) in BROKEN.items()}}
    return install(tmp_path / "site", monkeypatch, adapters, {"chips": CHIP})


def entries(interpreter: str = sys.executable) -> dict[str, AcceleratorEntry]:
    return {entry.name: entry for entry in Accelerators().listed(interpreter).accelerators}


def test_an_installed_adapter_is_listed_under_its_own_name_with_its_package(packages: Path) -> None:
    found = entries()["chip"]
    assert (found.kind, found.title) == (AcceleratorKind.INSTALLED, "A chip")
    assert (found.distribution, found.version, found.problem) == ("chips", "1.0", "")
    assert found.place == str(packages / "chips.py")
    assert "chips" not in sys.modules, "an adapter is loaded in a process of its own"


def test_a_daemon_that_runs_isolated_knows_what_models_find_beside_it(packages: Path) -> None:
    code = "import sys; sys.path[:0] = sys.argv[1:]\n"
    code += "from inductor_debug.engine.settings.accelerator_registry import Accelerators\n"
    code += "print('chip' in Accelerators().names(sys.executable), 'chips' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, *(path for path in sys.path if path != str(packages))],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["True", "False"]


@pytest.mark.parametrize("name", BROKEN)
def test_an_adapter_that_cannot_be_used_is_listed_with_the_reason(packages: Path, name: str) -> None:
    reason = BROKEN[name][1]
    document = Accelerators().document(name, sys.executable)
    problem = document["source"]["problem"]
    assert reason in problem
    assert f"'{name}'" in problem
    assert read_profile(document).dtypes == frozenset(), "it limits nothing"


def test_a_broken_adapter_is_a_finding_at_the_setting_and_the_analysis_goes_on(packages: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text('[tool.inductor-debug]\naccelerator = "gone"\n')
    settings = SettingsResolver(environ={})(str(project / "model.py"))
    (finding,) = settings.complaints
    assert (finding.rule, finding.path, finding.range.start.line) == (
        "accelerator-adapter",
        str(project / "pyproject.toml"),
        1,
    )
    assert finding.message.startswith("The adapter 'gone' of chips 1.0 raised ModuleNotFoundError")
    assert settings.chosen_accelerator == "gone"


def test_what_an_adapter_can_do_is_a_profile_like_any_other(packages: Path) -> None:
    settings = SettingsResolver(command_line={"accelerator": "chip"}, environ={})(str(packages / "model.py"))
    profile = read_profile(settings.profile)
    assert (profile.name, profile.max_rank, profile.dtypes) == ("chip", 3, {"float16"})
    assert not settings.complaints


def test_an_adapter_replaces_a_built_in_profile_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "site", monkeypatch, {"spyre": "chips:Chip"}, {"chips": CHIP})
    assert read_profile(Accelerators().document("spyre", sys.executable)).title == "A chip"
    assert entries()["spyre"].kind is AcceleratorKind.INSTALLED


def test_an_adapter_that_has_changed_is_asked_again(packages: Path) -> None:
    registry = Accelerators()
    assert registry.document("chip", sys.executable)["title"] == "A chip"
    source = packages / "chips.py"
    source.write_text(source.read_text().replace("A chip", "Another chip"))
    os.utime(source, (1, 1))
    assert registry.document("chip", sys.executable)["title"] == "Another chip"


def test_a_package_that_is_installed_meanwhile_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    registry = Accelerators()
    assert "chip" not in registry.names(sys.executable)
    install(site, monkeypatch, {"chip": "chips:Chip"}, {"chips": CHIP})
    os.utime(site, (1, 1))
    assert "chip" in registry.names(sys.executable)


def test_adapters_are_those_of_the_interpreter_that_runs_the_models(tmp_path: Path, packages: Path) -> None:
    wrapper = tmp_path / "python"
    wrapper.write_text(f'#!/bin/sh\nunset PYTHONPATH\nexec "{sys.executable}" "$@"\n')
    wrapper.chmod(0o755)
    assert "chip" in Accelerators().names(sys.executable)
    assert "chip" not in Accelerators().names(str(wrapper))


def test_a_name_that_nothing_has_is_refused_with_those_that_there_are(packages: Path) -> None:
    with pytest.raises(
        ProfileError, match=r"did you mean 'chip'\? \(there are .*chip, .*dying, .*mock, .*spyre, .*or none"
    ):
        Accelerators().document("chpi", sys.executable)


def test_profiles_and_files_are_what_they_were(packages: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\nextends = "mock"\n')
    for name in ("none", "mock", str(path)):
        assert Accelerators().document(name, sys.executable) == load_document(name)


def test_an_interpreter_that_is_not_there_has_no_adapters() -> None:
    assert Accelerators().names("/nowhere/python") == built_in_names()


def test_without_a_choice_gpus_are_not_compared() -> None:
    accelerators = Accelerators()
    assert accelerators.usually_compared("/nowhere/python") == ["mock", "spyre"]
    gpus = {entry.name for entry in accelerators.listed("/nowhere/python").accelerators if entry.gpu}
    assert {"h100", "cuda", "mps"} <= gpus


def test_the_command_lists_them(packages: Path) -> None:
    command = [sys.executable, "-m", "inductor_debug", "accelerators"]
    text = subprocess.run(command, capture_output=True, text=True, check=True, cwd=packages).stdout
    lines = [" ".join(line.split()) for line in text.splitlines()]
    chip = lines.index("chip installed with chips 1.0")
    assert lines[chip + 1 : chip + 3] == ["A chip", "found in chips.py"]
    assert {"gone installed with chips 1.0, BROKEN", "mock a mock accelerator", "h100 NVIDIA H100 SXM, 80 GB"} <= {
        *lines
    }


@pytest.mark.parametrize("said", ["RTX 4090", "4090", "NVIDIA GeForce RTX 4090", "rtx-4090"])
def test_a_backend_may_be_a_card_as_people_write_it(said: str) -> None:
    assert backend_meant(said) == "rtx-4090"
    task = diff_order(DiffOptions(backend=said)).task
    assert isinstance(task, DiffTask)
    assert (task.backend, (task.profile or {})["name"]) == ("rtx-4090", "rtx-4090")


def test_names_of_other_backends_stay_as_they_are_and_several_cards_are_named() -> None:
    names = ["inductor", "aot_eager", "mine", "apple", "mock", "./board.toml", "my-backend"]
    assert [backend_meant(name) for name in names] == names
    with pytest.raises(ProfileError, match=r"'A100' may be a100-40gb or a100-80gb: say which"):
        backend_meant("A100")
