"""What the client on the other side can do, read once from `initialize`.

Every feature asks here and never digs in lsprotocol's optional-in-optional capabilities itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from inductor_debug import __version__


@dataclass(frozen=True, slots=True)
class Client:
    """The client's name and abilities, all False until it says otherwise.

    `pulls` is true where the client both asks for diagnostics and lets itself be told to ask again: results of a
    running analysis arrive later than the question, so without the second half (Neovim 0.11) pulling would show old
    findings, and pushing is the better service.

    `commands` are those that the client offers to run itself, where a code lens or code action names them
    (`clientCommands` of its initialization options).

    `newer` says that the client's `version`, of its initialization options, is a later minor one than ours: it may know
    options that we do not.
    """

    name: str = ""
    process_id: int | None = None
    pulls: bool = False
    related_information: bool = False
    code_description: bool = False
    diagnostic_data: bool = False
    unnecessary_tag: bool = False
    work_done_progress: bool = False
    configuration: bool = False
    watches_files: bool = False
    watches_configuration: bool = False
    action_literals: bool = False
    versioned_edits: bool = False
    commands: frozenset[str] = frozenset()
    markdown_hover: bool = False
    refreshes_code_lenses: bool = False
    refreshes_inlay_hints: bool = False
    newer: bool = False

    @classmethod
    def of(cls, params: types.InitializeParams) -> Client:
        """Reads the parameters of `initialize`."""
        capabilities = params.capabilities
        published = _at(capabilities, "text_document", "publish_diagnostics")
        pulled = _at(capabilities, "text_document", "diagnostic")
        return cls(
            name=_at(params, "client_info", "name") or "",
            process_id=params.process_id,
            pulls=pulled is not None and bool(_at(capabilities, "workspace", "diagnostics", "refresh_support")),
            related_information=bool(_at(published, "related_information") or _at(pulled, "related_information")),
            code_description=bool(
                _at(published, "code_description_support") or _at(pulled, "code_description_support")
            ),
            diagnostic_data=bool(_at(published, "data_support") or _at(pulled, "data_support")),
            unnecessary_tag=_dims(published) or _dims(pulled),
            work_done_progress=bool(_at(capabilities, "window", "work_done_progress")),
            configuration=bool(_at(capabilities, "workspace", "configuration")),
            watches_files=bool(
                _at(capabilities, "workspace", "did_change_watched_files", "dynamic_registration"),
            ),
            watches_configuration=bool(
                _at(capabilities, "workspace", "did_change_configuration", "dynamic_registration"),
            ),
            action_literals=bool(_at(capabilities, "text_document", "code_action", "code_action_literal_support")),
            versioned_edits=bool(_at(capabilities, "workspace", "workspace_edit", "document_changes")),
            commands=_commands(_option(params, "clientCommands")),
            markdown_hover=types.MarkupKind.Markdown
            in (_at(capabilities, "text_document", "hover", "content_format") or ()),
            refreshes_code_lenses=bool(_at(capabilities, "workspace", "code_lens", "refresh_support")),
            refreshes_inlay_hints=bool(_at(capabilities, "workspace", "inlay_hint", "refresh_support")),
            newer=_minor(_option(params, "version")) > _minor(__version__),
        )


def _option(params: types.InitializeParams, name: str) -> Any:
    """One of the initialization options, None where it is not among them."""
    options = params.initialization_options
    return options.get(name) if isinstance(options, Mapping) else None


def _minor(version: Any) -> tuple[int, int]:
    """Major and minor of a version, (0, 0) of anything else."""
    found = re.match(r"(\d{1,9})\.(\d{1,9})", version) if isinstance(version, str) else None
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _commands(named: Any) -> frozenset[str]:
    """The names of commands in a client's `clientCommands`."""
    return frozenset(name for name in named if isinstance(name, str)) if isinstance(named, list) else frozenset()


def _at(value: Any, *names: str) -> Any:
    for name in names:
        if value is None:
            return None
        value = getattr(value, name, None)
    return value


def _dims(diagnostics: Any) -> bool:
    """Whether the client dims what a diagnostic's tag calls unnecessary."""
    return types.DiagnosticTag.Unnecessary in (_at(diagnostics, "tag_support", "value_set") or ())
