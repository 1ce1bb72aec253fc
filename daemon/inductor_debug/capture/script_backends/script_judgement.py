"""How backends in scripts of the user's own judge a graph: by which accelerator, and how they tell what they find.

Findings become warnings at the user's line, or one error in strict mode. A failure of ours becomes a warning too: the
user's compilation is worth more than our opinion of it. Nothing here compiles or changes a graph.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inductor_debug_schema import Finding, Severity, Stage
from torch.fx import GraphModule

from inductor_debug.accelerators.profile import Profile, ProfileError, load_document, read_profile, with_environment
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.script_backends.graph_recording import GraphRecording
from inductor_debug.rules.amounts import counted
from inductor_debug.rules.judge import judge
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.registry import UnknownRuleError, constraints, find
from inductor_debug.source.comments import ignores
from inductor_debug.source.notebooks.reading import place_in_words

Accelerator = str | os.PathLike[str] | Mapping[str, Any]
Compiled = Callable[..., Any]


class MockBackendWarning(UserWarning):
    """Something in a graph that the accelerator cannot do; located at the user's line."""


class MockBackendError(RuntimeError):
    """Raised in strict mode: everything in one graph that the accelerator cannot do. `findings` has the details.

    `reproducers` are the paths of scripts that show the first of them, `verified` those that have done so in a clean
    process. That takes the seconds in which such a process imports torch: `MOCK_REPROS=unverified` writes scripts
    without running them, `MOCK_REPROS=0` leaves them out.
    """

    def __init__(self, findings: list[Finding], profile: Profile, reproducers: Sequence[tuple[str, str]] = ()) -> None:
        self.findings = findings
        self.reproducers = [path for path, _ in reproducers]
        self.verified = [path for path, reason in reproducers if not reason]
        lines = "\n".join(f"  {_human_place(finding)}: {_words(finding)}" for finding in findings)
        scripts = "".join(
            f"\n  minimal reproducer, {f'not verified ({reason})' if reason else 'verified'}: {path}"
            for path, reason in reproducers
        )
        super().__init__(f"{counted(len(findings), 'problem')} on accelerator {profile.name!r}:\n{lines}{scripts}")


@dataclass(frozen=True)
class GraphJudgement:
    """How one backend judges: `rules` are the only ones it asks, all where it is None; `stage` is what it looks at."""

    profile: Profile
    strict: bool
    stage: Stage
    rules: tuple[Constraint, ...] | None = None

    @classmethod
    def of(
        cls,
        stage: Stage,
        strict: bool | None,
        accelerator: Accelerator | None,
        chosen: Sequence[str | Constraint] | None = None,
    ) -> GraphJudgement:
        """What a backend was told, and for what it was not told the environment and `pyproject.toml`.

        Raises:
            ProfileError: there is no such accelerator, or its profile is broken.
            UnknownRuleError: `chosen` names no rule, or one that does not judge ops.
        """
        rules = None if chosen is None else tuple(map(_constraint, chosen))
        return cls(_profile(accelerator), _strict_by_environment() if strict is None else strict, stage, rules)

    def tell(self, graph_module: GraphModule, record: Callable[[GraphModule], GraphRecording]) -> None:
        """Judges what `record` makes of the graph and tells the user.

        Raises:
            MockBackendError: strict, and the graph has findings.
        """
        found, recorded = self._findings(graph_module, record)
        problems = [finding for finding in found if finding.severity in (Severity.ERROR, Severity.WARNING)]
        if self.strict and problems:
            raise MockBackendError(problems, self.profile, _reproducers(recorded, self.profile, problems))
        for finding in found:
            _warn(finding, self.profile)

    def _findings(
        self, graph_module: GraphModule, record: Callable[[GraphModule], GraphRecording]
    ) -> tuple[list[Finding], GraphRecording | None]:
        try:
            recorded = record(graph_module)
            findings = judge(
                recorded.recording,
                self.profile,
                stage=self.stage,
                target=_title(recorded),
                fallback=recorded.fallback,
                rules=self.rules,
            )
            silent = _Silence(recorded.sources)
            return [finding for finding in findings if not silent.covers(finding)], recorded
        except Exception as error:
            warn(f"inductor-debug could not judge this graph ({type(error).__name__}: {error})")
            return [], None


def _reproducers(recorded: GraphRecording | None, profile: Profile, problems: list[Finding]) -> list[tuple[str, str]]:
    """Scripts for what is refused; none where they cannot be made, for the error itself is what matters."""
    wanted = os.environ.get("MOCK_REPROS", "").strip()
    if recorded is None or wanted == "0":
        return []
    try:
        # Named, not imported: that room stands above this one.
        automatic = importlib.import_module("inductor_debug.repro.kinds.automatic")
        return list(automatic.write_reproducers(recorded, profile, problems, verify=wanted != "unverified"))
    except Exception:
        return []


def warn(message: str) -> None:
    """A warning that has no place in the user's code."""
    warnings.warn(message, MockBackendWarning, stacklevel=3)


def _constraint(chosen: str | Constraint) -> Constraint:
    if isinstance(chosen, Constraint):
        return chosen
    found = find(chosen)
    if not isinstance(found, Constraint):
        known = ", ".join(rule.id for rule in constraints())
        raise UnknownRuleError(f"{chosen!r} is no constraint on ops; the constraints are {known}")
    return found


def _title(recorded: GraphRecording) -> str:
    """The function that was compiled, as far as the graph tells."""
    return next((op.frames[-1].function for op in recorded.recording.ops if op.frames), "")


class _Silence:
    """The `# inductor-debug: ignore[...]` comments of the files that findings point into."""

    def __init__(self, sources: SourceMap) -> None:
        self._sources = sources
        self._rules: dict[str, dict[int, tuple[str, ...]]] = {}

    def covers(self, finding: Finding) -> bool:
        if finding.path not in self._rules:
            text = self._sources.text(finding.path)
            found = ignores("\n".join(text.lines)) if text is not None else []
            self._rules[finding.path] = {comment.line: comment.rules for comment in found}
        rules = self._rules[finding.path].get(finding.range.start.line)
        return rules is not None and (not rules or finding.rule in rules)


def _warn(finding: Finding, profile: Profile) -> None:
    key = (finding.rule, finding.path, finding.range, profile.name)
    if key not in _warned:
        # Frames are compiled again and again; a place is told once.
        _warned.add(key)
        message = f"{_human_place(finding)}: {_words(finding)} (accelerator {profile.name!r})"
        warnings.warn_explicit(message, MockBackendWarning, finding.path, finding.range.start.line + 1)


_warned: set[tuple[Any, ...]] = set()


def _human_place(finding: Finding) -> str:
    start = finding.range.start
    return place_in_words(finding.path, finding.path, start.line, start.character)


def _words(finding: Finding) -> str:
    return f"[{finding.rule}] {finding.message}"


def _strict_by_environment() -> bool:
    return os.environ.get("MOCK_STRICT", "").strip() in ("1", "true", "True")


def _profile(accelerator: Accelerator | None) -> Profile:
    if accelerator is None:
        accelerator = _configured(Path.cwd()) or "mock"
    document = dict(accelerator) if isinstance(accelerator, Mapping) else load_document(os.fspath(accelerator))
    return read_profile(with_environment(document, os.environ))


def _configured(folder: Path) -> str | None:
    """The accelerator of the nearest `pyproject.toml` that has a table for this tool; paths are relative to it."""
    for candidate in (folder, *folder.parents):
        table = _tool_table(candidate / "pyproject.toml")
        if table is not None:
            name = table.get("accelerator")
            if not isinstance(name, str):
                return None
            return str(candidate / name) if name.endswith(".toml") else name
    return None


def _tool_table(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    toml = __import__("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        table = toml.loads(path.read_text(encoding="utf-8")).get("tool", {}).get("inductor-debug")
    except (OSError, ValueError) as error:
        raise ProfileError(f"cannot be read: {error}", path=str(path)) from None
    return table if isinstance(table, dict) else None
