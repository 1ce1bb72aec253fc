"""Sizes of one document's targets that the user has set, and what is told of the targets with them.

They are kept for the session, whatever the text becomes, and written to no file. Nothing is run here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from inductor_debug_schema import SizeSetting

from inductor_debug.engine.results.merge import Results
from inductor_debug.engine.settings.settings import Settings

if TYPE_CHECKING:
    from inductor_debug.engine.whatif.changed_sizes import ResizedResults, SizeTrials


class DocumentSizes:
    """The sizes that are set, by target and name."""

    def __init__(self) -> None:
        self._given: dict[str, dict[str, int]] = {}
        self._trials: SizeTrials | None = None

    def give(self, target: str, values: Mapping[str, int]) -> None:
        """The user has set sizes of a target, all others of it are as usual again."""
        self._given = {name: sizes for name, sizes in {**self._given, target: dict(values)}.items() if sizes}

    def settings(self) -> list[SizeSetting]:
        """What a run has to know of them."""
        return [SizeSetting(target, *size) for target, given in self._given.items() for size in given.items()]

    def tried(self, results: Results, target: str, settings: Settings) -> ResizedResults | None:
        """What is known of a target with its sizes as they are now; None where it has to be run with them."""
        if self._trials is None:
            # Imported when somebody asks: an editor waits while the server starts.
            from inductor_debug.engine.whatif.changed_sizes import SizeTrials

            self._trials = SizeTrials()
        return self._trials.tried(results, target, self._given.get(target, {}), settings)
