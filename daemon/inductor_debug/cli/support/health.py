"""What `doctor` looks at: each a line that says what is found, and where something is missing what to do about it.

Nothing is installed or changed, and nothing is asked of a network. That models can be checked is not concluded from
versions: one is checked.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from inductor_debug_schema import FileStatus

from inductor_debug import __version__
from inductor_debug.accelerators.profile import NO_ACCELERATOR
from inductor_debug.cli.support.batch_runner import Pools
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.orders.outcomes import reason
from inductor_debug.engine.pool.interpreter_facts import InterpreterError, InterpreterFacts, facts_of
from inductor_debug.engine.pool.supervisor import WorkerPool
from inductor_debug.engine.settings.folders import cache_folder
from inductor_debug.engine.settings.settings import ConfigurationError, Settings
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug.rules.amounts import in_bytes
from inductor_debug.system import tried_versions

PACKAGES = ("torch", "triton", "numpy", "transformers", "matplotlib")
_COMPILERS = ("c++", "g++", "clang++", "cl")
_EDITORS = ("code", "codium", "code-server", "cursor", "nvim", "hx", "zed", "emacs", "subl", "pycharm")
_OF_VS_CODE = frozenset({"code", "codium", "code-server", "cursor"})
_EXTENSIONS = (
    ".vscode/extensions",
    ".vscode-oss/extensions",
    ".vscode-server/extensions",
    ".cursor/extensions",
    ".local/share/code-server/extensions",
)
_EXTENSION = "inductor-debug.inductor-debug-*"
_ENVIRONMENT = "environment"
"""The rule of what is wrong around a model."""
_MODEL = """import torch


# inductor-debug: inputs=(torch.randn(2, 4),)
def model(x):
    return torch.relu(x)
"""


class Health(str, Enum):
    """How something does."""

    GOOD = "ok"
    """It is there."""
    ABSENT = "absent"
    """It is not there, and something that may never be needed does not work without it."""
    BROKEN = "broken"
    """Models cannot be checked like this."""


@dataclass(frozen=True, slots=True)
class HealthLine:
    """One thing: what is `found`, and what to `do` about what is missing, if anything."""

    name: str
    health: Health
    found: str
    do: str = ""


class Doctor:
    """Looks at everything that a check in a folder needs, and at what else there is."""

    def __init__(
        self, resolver: SettingsResolver, folder: str, find: Callable[[str], str | None] = shutil.which
    ) -> None:
        self._resolver = resolver
        self._path = os.path.join(folder, "untitled.py")
        self._find = find

    def lines(self) -> Iterator[HealthLine]:
        """One line after the other, as they are known."""
        tool = f"inductor-debug {__version__} in {sys.executable}"
        try:
            settings = self._resolver(self._path)
        except ConfigurationError as error:
            yield HealthLine("tool", Health.GOOD, tool)
            yield HealthLine("settings", Health.BROKEN, str(error), "mend it, or name another file with --config")
            return
        where = f"; settings of {settings.configuration_path}" if settings.configuration_path else ""
        yield HealthLine("tool", Health.GOOD, tool + where)
        try:
            facts = facts_of(settings.interpreter, PACKAGES)
        except InterpreterError as error:
            yield HealthLine("interpreter", Health.BROKEN, str(error), "--python PATH names the Python that has torch")
            return
        needed = self._interpreter(facts), self._torch(facts)
        yield from needed
        if all(line.health is Health.GOOD for line in needed):
            yield asyncio.run(_checked(settings, facts.executable))
        yield self._accelerator(settings)
        yield self._triton(facts)
        yield self._compiler()
        yield self._extras(facts)
        yield self._cache()
        yield self._editors()

    def _interpreter(self, facts: InterpreterFacts) -> HealthLine:
        found = f"Python {facts.python} at {facts.executable}"
        if _numbers(facts.python) < _numbers(tried_versions.PYTHON[0]):
            oldest = tried_versions.PYTHON[0]
            return HealthLine("interpreter", Health.BROKEN, found, f"Python {oldest} or newer is needed")
        return HealthLine("interpreter", Health.GOOD, found, tried_versions.remark_on(None, facts.python) or "")

    def _torch(self, facts: InterpreterFacts) -> HealthLine:
        version = facts.packages.get("torch")
        if version is None:
            do = f"{facts.executable} -m pip install torch, or --python PATH names a Python that has it"
            return HealthLine("torch", Health.BROKEN, "not in that interpreter", do)
        return HealthLine("torch", Health.GOOD, version, tried_versions.remark_on(version, None) or "")

    def _accelerator(self, settings: Settings) -> HealthLine:
        entries = self._resolver.accelerators.listed(settings.interpreter).accelerators
        broken = [entry for entry in entries if entry.problem]
        if broken:
            do = f"{broken[0].problem} (inductor-debug accelerators has more)"
            return HealthLine("accelerator", Health.ABSENT, f"the adapter {broken[0].name} is broken", do)
        title = settings.profile.get("title", settings.accelerator)
        if settings.accelerator == NO_ACCELERATOR:
            return HealthLine("accelerator", Health.GOOD, "none: only what is true for everyone who compiles is told")
        seen = ", which torch sees here" if settings.profile.get("source", {}).get("seen") else ""
        return HealthLine("accelerator", Health.GOOD, f"{settings.accelerator}: {title}{seen}")

    def _triton(self, facts: InterpreterFacts) -> HealthLine:
        if version := facts.packages.get("triton"):
            return HealthLine("triton", Health.GOOD, version)
        do = 'pip install "inductor-debug[gpu]" (Linux) for `graph --compile`: registers and occupancy of kernels'
        return HealthLine("triton", Health.ABSENT, "not in that interpreter", do)

    def _compiler(self) -> HealthLine:
        found = next(filter(None, map(self._find, filter(None, (os.environ.get("CXX"), *_COMPILERS)))), None)
        if found:
            return HealthLine("C++", Health.GOOD, found)
        return HealthLine("C++", Health.ABSENT, "no compiler", "`diff` and `bisect` with Inductor need one on CPUs")

    def _extras(self, facts: InterpreterFacts) -> HealthLine:
        shown = {"numpy": "models", "transformers": "models", "matplotlib": "plots"}
        found = ", ".join(f"{name} {facts.packages[name]}" for name in shown if name in facts.packages)
        lacking = {extra: name for name, extra in shown.items() if name not in facts.packages}
        if not lacking:
            return HealthLine("libraries", Health.GOOD, found)
        do = "; ".join(f'pip install "inductor-debug[{extra}]" brings {name}' for extra, name in lacking.items())
        return HealthLine("libraries", Health.ABSENT, found or "none of those that may be used", do)

    def _cache(self) -> HealthLine:
        folder = cache_folder()
        there = next(place for place in (folder, *folder.parents) if place.exists())
        if not os.access(there, os.W_OK):
            do = "set XDG_CACHE_HOME to a folder of yours; nothing is kept until then"
            return HealthLine("cache", Health.ABSENT, f"{folder} cannot be written", do)
        free = in_bytes(shutil.disk_usage(there).free)
        return HealthLine("cache", Health.GOOD, f"{folder}, {free} free")

    def _editors(self) -> HealthLine:
        found = [name for name in _EDITORS if self._find(name)]
        extension = any(folder for place in _EXTENSIONS for folder in Path.home().joinpath(place).glob(_EXTENSION))
        if extension:
            return HealthLine("editor", Health.GOOD, "the extension for VS Code is installed")
        if not found:
            do = "any editor with a language client can start `inductor-debug serve`"
            return HealthLine("editor", Health.ABSENT, "none that is known by its command", do)
        vs_code = [name for name in found if name in _OF_VS_CODE]
        do = f"{vs_code[0]} --install-extension inductor-debug.vsix" if vs_code else "README tells how to set it up"
        return HealthLine("editor", Health.GOOD, ", ".join(found), do)


async def _checked(settings: Settings, python: str) -> HealthLine:
    """Checks a model in a folder of its own, as every model is checked.

    A torch that is installed and cannot be imported is met here first: that is no matter of a line of the model.
    """
    pools = Pools(WorkerPool)
    with tempfile.TemporaryDirectory(prefix="inductor-debug-") as folder:
        path = Path(folder, "model.py")
        path.write_text(_MODEL, encoding="utf-8")
        engine = Engine(settings_for=lambda _: settings, listener=lambda update: None, pool_factory=pools.make, jobs=1)
        try:
            report = await engine.check(str(path))
        finally:
            await engine.shutdown()
    if report.status is FileStatus.CLEAN:
        return HealthLine("check", Health.GOOD, "a small model was checked")
    if (around := next((finding for finding in report.findings if finding.rule == _ENVIRONMENT), None)) is not None:
        return HealthLine("check", Health.BROKEN, around.message, f'{python} -c "import torch" says more')
    return HealthLine("check", Health.BROKEN, reason(report), "`inductor-debug check -v FILE` says more")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")[:2]))
