"""Every setting there is, once: what it is called, what it may be, where it may stand, and what it means.

The server, the engine's ladder, the extension, its `package.json` and words, the README and the JSON Schema of
`[tool.inductor-debug]` are made of this table or held to it (`shared_schema/generate.py`, `tests/schema`). It reads no
configuration and checks no value: that is `engine.settings.setting_values`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class SettingKind(str, Enum):
    """What a value looks like."""

    FLAG = "flag"
    """True or false; not said where neither."""
    SWITCH = "switch"
    """Shown in the text or not; on, unless somebody says otherwise."""
    TEXT = "text"
    """A string that is not empty."""
    CHOICE = "choice"
    """One of `choices`."""
    TEXTS = "texts"
    """A list of strings."""
    CHOICES = "choices"
    """A list of `choices`, none twice."""
    NUMBER = "number"
    """A number above 0."""
    INTEGER = "integer"
    """A whole number above 0."""
    LEVELS = "levels"
    """A table from rules to one of `choices`."""
    TARGETS = "targets"
    """A table from `file.py::Name` to expressions for the constructor's arguments and the inputs."""


@dataclass(frozen=True)
class Choice:
    """A value that may be chosen, with a sentence where its name does not say enough."""

    value: str
    meaning: str = ""


@dataclass(frozen=True)
class Setting:
    """One setting.

    Args:
        name: the key in `pyproject.toml`; `editor_name` follows from it.
        kind: what its values look like.
        meaning: one sentence of Markdown.
        unset: a second one for the editor: what holds where nobody says anything.
        scope: VS Code's scope; empty where the editor cannot set it.
        project: whether it may stand in `pyproject.toml`.
        daemon: whether the daemon reads it; what it does not read is the extension's own.
        sent: whether the extension sends what was set; `interpreter` is found by a ladder of its own.
        path: whether it may be a path, so that variables in it are replaced.
        choices: the values of `CHOICE`, `CHOICES` and `LEVELS`.
        default: what the editor shows for one of its own that nobody set.
        example: a value as TOML, for the README; empty for what cannot stand there.
        remark: what stands beside the example.
    """

    name: str
    kind: SettingKind
    meaning: str
    unset: str = ""
    scope: str = ""
    project: bool = False
    daemon: bool = True
    sent: bool = True
    path: bool = False
    choices: tuple[Choice, ...] = ()
    default: str = ""
    example: str = ""
    remark: str = ""

    @property
    def editor_name(self) -> str:
        """The name in the editor, below `inductorDebug.`, as the server is sent it."""
        return re.sub(r"_([a-z])", lambda match: match[1].upper(), self.name)

    @property
    def editor_key(self) -> str:
        """The key in the editor's settings: switches are objects with `enabled`, as VS Code's own are."""
        return f"{self.editor_name}.enabled" if self.kind is SettingKind.SWITCH else self.editor_name


def _choices(*values: str) -> tuple[Choice, ...]:
    return tuple(map(Choice, values))


_RESOURCE = "resource"

SETTINGS = (
    Setting(
        "interpreter",
        SettingKind.TEXT,
        "Path of the Python that runs your models; it needs torch. `${workspaceFolder}`, `${userHome}` and "
        "`${env:NAME}` are replaced.",
        "Empty: the interpreter chosen in the Python extensions, then the workspace's `.venv`, then the first "
        "`python3` on the PATH.",
        scope="machine-overridable",
        sent=False,
    ),
    Setting(
        "import_strategy",
        SettingKind.CHOICE,
        "Which copy of the daemon runs.",
        scope="machine",
        daemon=False,
        choices=(
            Choice("useBundled", "The one that comes with the extension. Your interpreter needs nothing but torch."),
            Choice("fromEnvironment", "The package `inductor-debug` installed in the interpreter."),
        ),
        default="useBundled",
    ),
    Setting(
        "trigger",
        SettingKind.CHOICE,
        "When a file is checked.",
        scope=_RESOURCE,
        choices=(
            Choice(
                "onType",
                "As you type, while the edit stays inside functions; otherwise on save. Unsaved code outside of "
                "functions never runs.",
            ),
            Choice("onSave", "When a file is opened and when it is saved."),
            Choice("manual", "Only by the command *Check File*."),
        ),
        default="onType",
    ),
    Setting(
        "accelerator",
        SettingKind.TEXT,
        "The accelerator to check for: one that is built in (`h100`, `rtx-4090`, `mps`, `spyre`, …) or installed, the "
        "path of a profile (TOML), or `none` for what is true for everyone who compiles.",
        "Empty: what `[tool.inductor-debug]` in the nearest `pyproject.toml` says, otherwise the GPU that torch sees "
        "here, judged mildly, or `none`.",
        scope=_RESOURCE,
        project=True,
        path=True,
        example='"spyre"',
        remark='a name, the path of a profile, or "none"; by default the GPU of this machine',
    ),
    Setting(
        "stages",
        SettingKind.CHOICES,
        "How deep to look: `preview` runs the model on fake tensors, `mock` captures its graphs with `torch.compile`, "
        "`aot` makes forward and backward graphs of them, `inductor` kernels; `gradients` holds custom autograd "
        "functions against the derivative of what they compute, `export` asks whether `torch.export` takes them.",
        "Not set: what `pyproject.toml` says, otherwise the first two.",
        scope=_RESOURCE,
        project=True,
        choices=_choices("preview", "mock", "aot", "inductor", "gradients", "export"),
        example='["preview", "mock"]',
    ),
    Setting(
        "strict",
        SettingKind.FLAG,
        "Report what the accelerator cannot do as errors instead of warnings.",
        "Not set: what the environment or `pyproject.toml` says.",
        scope=_RESOURCE,
        project=True,
        example="false",
    ),
    Setting(
        "severity",
        SettingKind.LEVELS,
        'Severity of single rules, for example `{"layout": "hint", "recompile": "off"}`.',
        scope=_RESOURCE,
        project=True,
        choices=_choices("error", "warning", "information", "hint", "off"),
        example='{ layout = "information", rank = "off" }',
    ),
    Setting(
        "exclude",
        SettingKind.TEXTS,
        "Files and folders that are never checked; patterns as in `.gitignore`.",
        scope=_RESOURCE,
        project=True,
        example='["scratch", "tests/data/*"]',
    ),
    Setting(
        "include",
        SettingKind.TEXTS,
        "Files that are checked whatever they look like: set-up files, tests, files without a model. Patterns as for "
        "`exclude`.",
        scope=_RESOURCE,
        project=True,
        example='["tests/models.py"]',
        remark="files of folders that are checked whatever they look like",
    ),
    Setting(
        "allow",
        SettingKind.CHOICES,
        "What the code that is checked may do to the world: `network`, `write` (files outside of a scratch folder), "
        "`subprocess`. Everything else is refused, at the expression.",
        "Not set: what `pyproject.toml` says, otherwise nothing.",
        scope=_RESOURCE,
        project=True,
        choices=_choices("network", "write", "subprocess"),
        example="[]",
        remark='what checked code may do: "network", "write", "subprocess"',
    ),
    Setting(
        "timeout",
        SettingKind.NUMBER,
        "Seconds that one stage of a class may work, and what comes before the first; all of a file may take ten times "
        "as many. Waiting for a core that others have does not count (Linux). A class in which they run out is left "
        "out, and the rest of its file is looked at without it; where the symbols of free sizes may be what takes so "
        "long, it has half as many, and is run once more with numbers first.",
        "Not set: what `pyproject.toml` says, otherwise 120.",
        scope=_RESOURCE,
        project=True,
        example="60",
        remark="seconds of work for one stage of a class",
    ),
    Setting(
        "memory_limit",
        SettingKind.INTEGER,
        "Bytes of memory that the check of one file may use.",
        "Not set: what `pyproject.toml` says, otherwise 8 GiB.",
        scope=_RESOURCE,
        project=True,
        example="8589934592",
        remark="bytes that the process running a file may take",
    ),
    Setting(
        "infer",
        SettingKind.FLAG,
        "Infer example inputs for module classes that have none, so that they are checked, too.",
        "Not set: what `pyproject.toml` says, otherwise on.",
        scope=_RESOURCE,
        project=True,
        example="true",
        remark="inputs for classes that declare none",
    ),
    Setting(
        "require_targets",
        SettingKind.FLAG,
        "Whether a class that could not be checked ends `check` with exit code 2.",
        project=True,
        example="false",
        remark="true: a class that `check` could not check ends it with exit code 2",
    ),
    Setting(
        "artifacts",
        SettingKind.TEXT,
        "Where graphs, kernels and reports are kept: `cache` (your cache folder), `project` (`debug_artifacts` in the "
        "project), `off`, or the path of a folder.",
        "Empty: what `pyproject.toml` says, otherwise `cache`.",
        scope=_RESOURCE,
        project=True,
        path=True,
        example='"cache"',
        remark="where graphs and reports are kept: cache, project, off, or a folder",
    ),
    Setting(
        "targets",
        SettingKind.TARGETS,
        "How to build what cannot be built without help: expressions for the constructor's arguments (`init`) and the "
        'inputs (`inputs`), by `"file.py::Name"`.',
        project=True,
    ),
    Setting(
        "entry",
        SettingKind.TEXTS,
        "Python expressions that build what is to be checked in a file, as `file.py::EXPRESSION`: each gives a module, "
        "a function, or a pair of it and its inputs.",
        project=True,
        example='["m.py::build(Cfg())"]',
        remark="expressions that build what is to be checked in a file",
    ),
    Setting(
        "follow_main",
        SettingKind.FLAG,
        'Whether what stands under `if __name__ == "__main__":` runs, too, up to where it repeats itself.',
    ),
    Setting(
        "argv",
        SettingKind.TEXTS,
        "The command line that a file sees while it runs, its own name left out.",
    ),
    Setting(
        "code_lens",
        SettingKind.SWITCH,
        "Show what is known of a target or a model class above it.",
        "`#editor.codeLens#` switches all of them.",
        scope=_RESOURCE,
    ),
    Setting(
        "hover",
        SettingKind.SWITCH,
        "Show shape, data type, size and device layout when hovering over an expression.",
        scope=_RESOURCE,
    ),
    Setting(
        "inlay_hints",
        SettingKind.SWITCH,
        "Show shapes and data types behind expressions.",
        "`#editor.inlayHints.enabled#` switches all of them.",
        scope=_RESOURCE,
    ),
    Setting(
        "not_run",
        SettingKind.SWITCH,
        "Dim code that the check did not run (branches not taken, methods not called), with why in its hover.",
        scope=_RESOURCE,
    ),
    Setting(
        "heat",
        SettingKind.SWITCH,
        "Show heat on lines: errors that are larger than was to be expected, or what a graph or a chart draws as heat: "
        "bytes, operations, bounds, compile time, measured time.",
        "Signs in the gutter say the level without colour.",
        scope="window",
    ),
    Setting(
        "show_notifications",
        SettingKind.CHOICE,
        "Which pop-up messages may appear.",
        "Everything is in the output, too.",
        scope="machine-overridable",
        daemon=False,
        choices=(
            Choice("off", "None."),
            Choice("onError", "Only problems that keep the tool from working."),
            Choice("always", "Warnings and information, too."),
        ),
        default="onError",
    ),
    Setting(
        "trace.server",
        SettingKind.CHOICE,
        "Write the messages between editor and daemon to the output.",
        "Needs the output's log level set to Trace.",
        scope="window",
        daemon=False,
        choices=_choices("off", "messages", "verbose"),
        default="off",
    ),
)


def names(*, project: bool = False) -> tuple[str, ...]:
    """Names of the settings that the engine reads; with `project` of those that may stand in `pyproject.toml`."""
    return tuple(
        setting.name
        for setting in SETTINGS
        if setting.daemon and setting.kind is not SettingKind.SWITCH and (setting.project or not project)
    )


def values_of(name: str) -> tuple[str, ...]:
    """What may be chosen for a setting."""
    return tuple(choice.value for setting in SETTINGS if setting.name == name for choice in setting.choices)
