"""Where in the source a root cause is shown: the primary place, and the further places that explain it.

The primary place is the innermost frame inside the user's project; where no frame lies there (a layer of torch's that
another one calls), the expression that declares the module. Library frames and callers are related. Nothing here reads
files.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from inductor_debug_schema import Location, Related

from inductor_debug.rules.recording.ops import Frame

_MOST_RELATED = 5
_INSTALLED = ("site-packages", "dist-packages")


class FindingPlaces:
    """Chooses places for one target; `fallback` is shown where nothing of the project has to do with it.

    `declarations` maps dotted names of modules to the frames that declare them.
    """

    def __init__(self, fallback: Location, declarations: Mapping[str, tuple[Frame, ...]] | None = None) -> None:
        self._fallback = fallback
        self._declarations = declarations or {}

    def primary(self, frames: tuple[Frame, ...], module: str = "") -> Location:
        """The innermost expression of the project that was running, or that declares `module`."""
        for frame in frames:
            if frame.in_project:
                return frame.location
        while module:
            for frame in self._declarations.get(module, ()):
                if frame.in_project:
                    return frame.location
            module = module.rpartition(".")[0]
        return self._fallback

    @staticmethod
    def has_project_frame(frames: tuple[Frame, ...]) -> bool:
        """Whether any of the frames lies in the project."""
        return any(frame.in_project for frame in frames)


def library_frames(frames: tuple[Frame, ...]) -> list[Related]:
    """The innermost frame of library code under the primary place, if there is one."""
    for frame in frames:
        if frame.in_project:
            return []
        return [_related(frame, f"inside {library_name(frame.location.path)}, in `{frame.function}`")]
    return []


def callers(frames: tuple[Frame, ...]) -> list[Related]:
    """The project's own frames above the primary place, innermost first."""
    own = [frame for frame in frames if frame.in_project]
    return [_related(frame, f"called from here, in `{frame.function}`") for frame in own[1:]]


def use(frames: tuple[Frame, ...], message: str) -> list[Related]:
    """The place where an op uses something, told by `message`."""
    for frame in frames:
        if frame.in_project:
            return [_related(frame, message)]
    return [_related(frames[0], f"{message}, inside {library_name(frames[0].location.path)}")] if frames else []


def limited(primary: Location, candidates: list[Related]) -> list[Related]:
    """The first few of `candidates`, each place once and none of them the primary one."""
    seen = {primary}
    kept: list[Related] = []
    for related in candidates:
        location = Location(related.path, related.range)
        if location not in seen:
            seen.add(location)
            kept.append(related)
    return kept[:_MOST_RELATED]


def library_name(path: str) -> str:
    """What a person calls the library a file belongs to: `transformers`; the file's name where that is unclear."""
    parts = PurePath(path).parts
    for folder in _INSTALLED:
        if folder in parts[:-1]:
            return parts[parts.index(folder) + 1].removesuffix(".py")
    return parts[-1] if parts else path


def _related(frame: Frame, message: str) -> Related:
    return Related(frame.location.path, frame.location.range, message)
