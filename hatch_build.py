"""What is made while a wheel is built: the manual page, from the table of commands, so that it names what there is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_ROOT = Path(__file__).parent


class ManualPage(BuildHookInterface[Any]):
    """Puts `inductor-debug(1)` into wheels, where `man` finds it beside the command."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Writes the page; an editable install has none."""
        if version == "editable":
            return
        sys.path[:0] = [str(_ROOT / "daemon"), str(_ROOT / "shared_schema")]
        from inductor_debug.cli.support.manual_page import manual_page

        page = _ROOT / "build" / "inductor-debug.1"
        page.parent.mkdir(exist_ok=True)
        page.write_text(manual_page(), encoding="utf-8")
        build_data["shared_data"] = {str(page): "share/man/man1/inductor-debug.1"}
