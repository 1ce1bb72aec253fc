"""What kernels were compiled to: an edit changes few of them, so only those whose text is new are compiled again.

A kernel is known by its text, by the GPU that it is for and by the interpreter whose Triton compiled it. Kernels that
could not be compiled are not kept: what was missing may have been installed since. Nothing here compiles.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace

from inductor_debug_schema import GraphDocument, KernelBuild

from inductor_debug.engine.settings.settings import Settings

MOST_CHARACTERS = 24 << 20
"""Of machine code and such that are kept; the kernels that nobody asked for the longest go first."""
_Key = tuple[str, str, str]


class KnownKernels:
    """The builds of kernels, across documents."""

    def __init__(self, most_characters: int = MOST_CHARACTERS) -> None:
        self._most = most_characters
        self._builds: OrderedDict[_Key, KernelBuild] = OrderedDict()
        self._characters = 0

    def take(self, settings: Settings, documents: Iterable[GraphDocument], builds: Iterable[KernelBuild]) -> None:
        """Keeps what became of kernels of these documents."""
        sources = {(kernel.graph, kernel.name): kernel.source for one in documents for kernel in one.kernels}
        for build in builds:
            source = sources.get((build.graph, build.kernel))
            if source is not None and not build.problem:
                self._keep(_key(settings, source), build)

    def of(self, settings: Settings, documents: Iterable[GraphDocument]) -> list[KernelBuild]:
        """The builds of those kernels of the documents whose text was compiled before."""
        found = []
        for document in documents:
            for kernel in document.kernels:
                key = _key(settings, kernel.source)
                if key in self._builds:
                    self._builds.move_to_end(key)
                    found.append(replace(self._builds[key], kernel=kernel.name, graph=kernel.graph))
        return found

    def _keep(self, key: _Key, build: KernelBuild) -> None:
        before = self._builds.pop(key, None)
        self._characters += _size(build) - (_size(before) if before is not None else 0)
        self._builds[key] = build
        while self._characters > self._most:
            _, oldest = self._builds.popitem(last=False)
            self._characters -= _size(oldest)


def _key(settings: Settings, source: str) -> _Key:
    return settings.interpreter, settings.accelerator, source


def _size(build: KernelBuild) -> int:
    return sum(len(text.text) for text in build.texts)
