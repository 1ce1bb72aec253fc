"""What each setting may be: reads one rung of the configuration ladder strictly, and names what is wrong with it.

The same readers serve pyproject.toml, the editor and the command line, so a value means the same everywhere. They read
no files; the profile that `accelerator` names is loaded elsewhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from inductor_debug_schema import Location, Severity, Stage, settings

from inductor_debug.accelerators.constraints import RULE_MARK
from inductor_debug.accelerators.suggestions import unknown
from inductor_debug.engine.settings.settings import ConfigurationError, Trigger
from inductor_debug.source.text_lines import line_range

ALLOWABLE = settings.values_of("allow")
"""What user code may be allowed to do while it is run; `capture.runtime.containment` refuses the rest."""
_LEVELS = {**{severity.value: severity for severity in Severity}, "off": None}


@dataclass
class SettingsRung:
    """What one place said.

    `source` and `path` say which, `text` is that of the file; `lines` maps dotted keys (with `prefix`) to zero-based
    lines. `folder` is what relative paths in it are relative to. `values` are checked.
    """

    source: str
    folder: str
    path: str | None = None
    text: str = ""
    lines: Mapping[str, int] = field(default_factory=dict)
    prefix: str = ""
    values: dict[str, Any] = field(default_factory=dict)

    def error(self, key: str, message: str) -> ConfigurationError:
        """The error for a key of this rung."""
        return ConfigurationError(
            message, source=self.source, path=self.path, key=self.prefix + key, line=self._line(key)
        )

    def at(self, key: str) -> Location | None:
        """The line that says a key, or the table that it is in; None where that has no file."""
        line = self._line(key)
        if self.path is None or line is None:
            return None
        return Location(self.path, line_range(self.text, line))

    def _line(self, key: str) -> int | None:
        dotted = self.prefix + key
        line = self.lines.get(dotted)
        while line is None and "." in dotted:
            dotted = dotted.rpartition(".")[0]
            line = self.lines.get(dotted)
        return line

    def read(self, said: Mapping[str, Any], allowed: tuple[str, ...], *, lenient: bool = False) -> SettingsRung:
        """Checks what was `said` into `values`. None means "not said"; `lenient` skips keys that are not ours.

        Raises:
            ConfigurationError: a key is unknown or its value unusable.
        """
        for name, value in said.items():
            key = _snake(name)
            if key not in allowed:
                if lenient:
                    continue
                raise self.error(name, unknown(name, allowed, "setting"))
            if value is not None:
                try:
                    self.values[key] = READERS[key](value)
                except _UnusableError as unusable:
                    raise self.error(".".join((name, *unusable.path)), unusable.message) from None
        return self


class _UnusableError(Exception):
    """A value cannot be used; `path` are the keys inside of it that lead to the fault."""

    def __init__(self, message: str, *path: str) -> None:
        super().__init__(message)
        self.message = message
        self.path = path


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda match: f"_{match[1].lower()}", name).replace("-", "_")


def _kind(value: object) -> str:
    names = {bool: "a boolean", int: "an integer", float: "a number", str: "a string", list: "a list", dict: "a table"}
    return names.get(type(value), type(value).__name__)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _UnusableError(
            f"must be a string that is not empty, not {_kind(value) if value != '' else 'an empty one'}"
        )
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _UnusableError(f"must be true or false, not {_kind(value)}")
    return value


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _UnusableError(f"must be a number of seconds, not {_kind(value)}")
    if not 0 < value < float("inf"):
        raise _UnusableError(f"must be a number of seconds above 0, not {value}")
    return float(value)


def _bytes(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _UnusableError(f"must be a number of bytes, not {_kind(value)}")
    if value <= 0:
        raise _UnusableError(f"must be a number of bytes above 0, not {value}")
    return value


def _strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise _UnusableError(f"must be a list of strings, not {_kind(value)}")
    for item in value:
        if not isinstance(item, str):
            raise _UnusableError(f"must be a list of strings, but has {_kind(item)} in it")
    return tuple(value)


def _allowed(value: Any) -> tuple[str, ...]:
    for name in _strings(value):
        if name not in ALLOWABLE:
            raise _UnusableError(unknown(name, list(ALLOWABLE), "permission"))
    return tuple(value)


def _stages(value: Any) -> tuple[Stage, ...]:
    known = {name: Stage(name) for name in settings.values_of("stages")}
    wanted = set()
    for name in _strings(value):
        if name not in known:
            raise _UnusableError(unknown(name, list(known), "stage"))
        wanted.add(known[name])
    if not wanted:
        raise _UnusableError(f"must name at least one stage of {', '.join(known)}")
    return tuple(stage for stage in Stage if stage in wanted)


def _trigger(value: Any) -> Trigger:
    known = [trigger.value for trigger in Trigger]
    if value not in known:
        raise _UnusableError(unknown(value, known, "trigger") if isinstance(value, str) else f"must be one of {known}")
    return Trigger(value)


def _severity(value: Any) -> dict[str, Severity | None]:
    if not isinstance(value, dict):
        raise _UnusableError(f'must be a table such as {{ dtype = "error" }}, not {_kind(value)}')
    levels: dict[str, Severity | None] = {}
    for rule, level in value.items():
        # What the rules of an adapter are called (`my_chip/even-batch`) is known where that is installed.
        if RULE_MARK not in rule and rule not in _known_rules():
            raise _UnusableError(unknown(rule, _known_rules(), "rule"), rule)
        if not isinstance(level, str):
            raise _UnusableError(f"must be one of {', '.join(_LEVELS)}, not {_kind(level)}", rule)
        if level not in _LEVELS:
            raise _UnusableError(unknown(level, list(_LEVELS), "severity"), rule)
        levels[rule] = _LEVELS[level]
    return levels


def _known_rules() -> list[str]:
    from inductor_debug.rules.registry import all_rules  # imported here: most projects set no severity

    return sorted(rule.id for rule in all_rules())


def _targets(value: Any) -> dict[str, dict[str, str]]:
    if not isinstance(value, dict):
        raise _UnusableError(f"must be a table, not {_kind(value)}")
    for name, target in value.items():
        file, separator, target_name = name.partition("::")
        if not separator or not file or not target_name:
            raise _UnusableError('must be named like "file.py::Name"', name)
        if not isinstance(target, dict):
            raise _UnusableError(f"must be a table with `init` and `inputs`, not {_kind(target)}", name)
        for key, expression in target.items():
            if key not in ("init", "inputs"):
                raise _UnusableError(unknown(key, ("init", "inputs"), "key"), name, key)
            if not isinstance(expression, str):
                raise _UnusableError(f"must be a Python expression in a string, not {_kind(expression)}", name, key)
    return value


def _entries(value: Any) -> tuple[str, ...]:
    for entry in _strings(value):
        file, separator, expression = entry.partition("::")
        if not file or not separator:
            raise _UnusableError(f'must be "file.py::EXPRESSION", not {entry!r}')
        try:
            ast.parse(expression.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise _UnusableError(
                f"{expression.strip()!r} is not a Python expression: {getattr(error, 'msg', error)}"
            ) from None
    return tuple(value)


READERS: dict[str, Callable[[Any], Any]] = {
    "accelerator": _text,
    "stages": _stages,
    "trigger": _trigger,
    "strict": _flag,
    "severity": _severity,
    "exclude": _strings,
    "include": _strings,
    "allow": _allowed,
    "timeout": _seconds,
    "memory_limit": _bytes,
    "interpreter": _text,
    "infer": _flag,
    "require_targets": _flag,
    "artifacts": _text,
    "targets": _targets,
    "entry": _entries,
    "follow_main": _flag,
    "argv": _strings,
}
PROJECT_KEYS = settings.names(project=True)
COMMAND_LINE_KEYS = tuple(name for name in settings.names() if name != "targets")
