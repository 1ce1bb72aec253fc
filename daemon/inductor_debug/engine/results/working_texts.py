"""The last text of a file with which each of its targets ran, so that a fix can go back to what worked.

A text ran for a target when its preview came to the end and nothing found in it is an error. Texts that were saved
outlive the daemon: a file that is opened broken was usually closed whole. It reads and changes no document.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from inductor_debug_schema import FileReport, Severity, Stage, StageState, TargetReport

from inductor_debug.engine.results.remembered_files import Place, RecentFiles
from inductor_debug.source.parsing import LARGEST_PARSED

CAPACITY = 256
"""Files whose texts are kept; the least recently used go first."""
_Texts = dict[str, str]
"""The last text that ran, by target."""


class WorkingTexts:
    """What ran last.

    Args:
        folder: where saved texts that ran are written down; nowhere without one.
        capacity: of how many files texts are kept, in memory and in the folder.
    """

    def __init__(self, folder: Path | None = None, capacity: int = CAPACITY) -> None:
        self._files = RecentFiles(folder, capacity, _texts)

    def keep(self, place: Place, text: str, report: FileReport, *, saved: bool) -> None:
        """Takes in what an analysis of a text showed, for those of its targets that ran.

        Args:
            place: the file.
            text: its text.
            report: what was found in it.
            saved: whether that is the text on disk.
        """
        ran = [target.name for target in report.targets if _ran(target, report)]
        if not ran or len(text) > LARGEST_PARSED:
            return
        texts = self._files.to_change(place)
        before = dict(texts)
        texts.update(dict.fromkeys(ran, text))
        if saved and texts != before:
            self._files.write(place, _document(texts))

    def of(self, place: Place, target: str) -> str | None:
        """The last text with which a target ran, "" for any of the file's; None where none is known."""
        texts = self._files.of(place)
        return texts.get(target) if target else next(reversed(list(texts.values())), None)


def _ran(target: TargetReport, report: FileReport) -> bool:
    preview = next((each for each in target.stages if each.stage is Stage.PREVIEW), None)
    return (
        preview is not None
        and preview.state is StageState.DONE
        and not any(each.severity is Severity.ERROR and each.target == target.name for each in report.findings)
    )


def _document(texts: _Texts) -> dict[str, list[object]]:
    """Each text once, with the targets that ran with it."""
    targets: dict[str, list[str]] = {}
    for target, text in texts.items():
        targets.setdefault(text, []).append(target)
    return {"ran": [{"text": text, "targets": names} for text, names in targets.items()]}


def _texts(document: object) -> _Texts:
    """The texts of a document that may have been written by anybody."""
    entries = document.get("ran") if isinstance(document, dict) else None
    found: _Texts = {}
    for entry in entries if isinstance(entries, list) else ():
        text, targets = (entry.get("text"), entry.get("targets")) if isinstance(entry, dict) else (None, None)
        if isinstance(text, str) and isinstance(targets, Iterable):
            found.update({name: text for name in targets if isinstance(name, str)})
    return found
