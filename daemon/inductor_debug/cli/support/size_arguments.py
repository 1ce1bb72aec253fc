"""`--size NAME=N`: whether there are such sizes, which is known only when the targets have been run."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import FileReport, SizeSetting

from inductor_debug.accelerators.suggestions import unknown
from inductor_debug.cli.support.console import CommandError


class UnknownSizeArgumentError(CommandError):
    """No target has a free size of that name; the message says which there are."""


def require_sizes(wanted: Sequence[SizeSetting], reports: Sequence[FileReport]) -> None:
    """Refuses sizes that nothing has.

    Raises:
        UnknownSizeError: there is one.
    """
    known = {size.name for report in reports for target in report.targets for size in target.sizes}
    for size in wanted:
        if size.name not in known:
            there = unknown(size.name, known, "size") if known else f"unknown size {size.name!r}; no size is free here"
            raise UnknownSizeArgumentError(f"--size {size.name}={size.value}: {there}")
