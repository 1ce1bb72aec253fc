"""`mock_backend`: a `torch.compile` backend that judges every graph against an accelerator, then runs it eagerly.

For people who compile in scripts of their own, without the daemon:

    torch.compile(model, backend=mock_backend)
    torch.compile(model, backend=mock_backend(strict=True, accelerator="spyre"))
    torch.compile(model, backend="inductor_debug_mock")          # no import needed

Importing this module, which torch does for the last form before it traces anything, hooks into Dynamo so that findings
have exact columns. The backend never changes what a graph computes, and a failure of its own never stops a compilation.
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from inductor_debug_schema import Finding, Severity, Stage
from torch.fx import GraphModule

from inductor_debug.accelerators.profile import Profile, ProfileError, load_document, read_profile, with_environment
from inductor_debug.capture import dynamo_positions
from inductor_debug.capture.comments import ignores
from inductor_debug.capture.graph_recording import GraphRecording, record_graph
from inductor_debug.capture.spans import SourceMap
from inductor_debug.rules.judge import judge

__all__ = ["MockBackendError", "MockBackendWarning", "inductor_debug_mock", "mock_backend"]

Accelerator = str | os.PathLike[str] | Mapping[str, Any]
Compiled = Callable[..., Any]

dynamo_positions.install()


class MockBackendWarning(UserWarning):
    """Something in a graph that the accelerator cannot do; located at the user's line."""


class MockBackendError(RuntimeError):
    """Raised in strict mode: everything in one graph that the accelerator cannot do. `findings` has the details."""

    def __init__(self, findings: list[Finding], profile: Profile) -> None:
        self.findings = findings
        count = f"{len(findings)} problem{'s' if len(findings) != 1 else ''}"
        lines = "\n".join(f"  {_human_place(finding)}: {_words(finding)}" for finding in findings)
        super().__init__(f"{count} on accelerator {profile.name!r}:\n{lines}")


def mock_backend(
    graph_module: GraphModule | None = None,
    example_inputs: list[Any] | None = None,
    *,
    strict: bool | None = None,
    accelerator: Accelerator | None = None,
    options: Mapping[str, Any] | None = None,
    **_: Any,
) -> Compiled:
    """A backend for `torch.compile`, or, called without a graph, a maker of such backends.

    Args:
        graph_module: the graph that Dynamo captured; None makes a backend with the other arguments.
        example_inputs: Dynamo's example inputs; not looked at.
        strict: raise one `MockBackendError` for a graph instead of one `MockBackendWarning` for each finding. By
            default the environment decides: `MOCK_STRICT=1`.
        accelerator: a built-in profile's name, the path of a TOML profile, or such a document. By default what the
            nearest `pyproject.toml` says, else "mock".
        options: `strict` and `accelerator` as given to `torch.compile(..., options={...})`.

    Returns:
        The graph's own forward function; or a backend.

    Raises:
        MockBackendError: strict, and the graph has findings.
        ProfileError: there is no such accelerator, or its profile is broken.
    """
    options = options or {}
    strict = options.get("strict", strict)
    accelerator = options.get("accelerator", accelerator)
    if graph_module is None:
        return _configured_backend(strict, accelerator)
    profile = _profile(accelerator)
    strict = _strict_by_environment() if strict is None else strict
    found = _findings(graph_module, profile)
    problems = [finding for finding in found if finding.severity in (Severity.ERROR, Severity.WARNING)]
    if strict and problems:
        raise MockBackendError(problems, profile)
    for finding in found:
        _warn(finding, profile)
    return graph_module.forward


def _configured_backend(strict: bool | None, accelerator: Accelerator | None) -> Compiled:
    @functools.wraps(mock_backend)
    def backend(graph_module: GraphModule, example_inputs: list[Any], **keywords: Any) -> Compiled:
        return mock_backend(graph_module, example_inputs, strict=strict, accelerator=accelerator, **keywords)

    return backend


def inductor_debug_mock(graph_module: GraphModule, example_inputs: list[Any], **keywords: Any) -> Compiled:
    """The backend under the name `"inductor_debug_mock"`, which torch finds by its entry point."""
    return mock_backend(graph_module, example_inputs, **keywords)


def _findings(graph_module: GraphModule, profile: Profile) -> list[Finding]:
    try:
        recorded = record_graph(graph_module)
        findings = judge(
            recorded.recording, profile, stage=Stage.MOCK, target=_title(recorded), fallback=recorded.fallback
        )
        silent = _Silence(recorded.sources)
        return [finding for finding in findings if not silent.covers(finding)]
    except Exception as error:
        # The user's compilation is worth more than our opinion of it.
        message = f"inductor-debug could not judge this graph ({type(error).__name__}: {error})"
        warnings.warn(message, MockBackendWarning, stacklevel=2)
        return []


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
    return f"{finding.path}:{start.line + 1}:{start.character + 1}"


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
