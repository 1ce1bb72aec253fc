"""Takes down how a program calls its models: the first call of each that is made from outside of any other model.

Modules are watched where Python calls them (`nn.Module.__call__`), which is public and the same for all of them. What a
model calls inside itself is its own business, and so are losses and activations of libraries, which hold nothing to
compile. The calls join those of what was given to `torch.compile`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch

from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.interception import CompiledCall, EagerModule, Interceptor
from inductor_debug.capture.runtime.loading import is_installed, is_standard


class ModuleCalls:
    """Watches the modules of one run.

    Args:
        interceptor: keeps the calls, and stops the program once it only repeats itself.
        file_of: the file that a class is defined in.
    """

    def __init__(self, interceptor: Interceptor, file_of: Callable[[type], str | None]) -> None:
        self._interceptor, self._file_of = interceptor, file_of
        self._known: dict[int, CompiledCall] = {}
        self._made: list[torch.nn.Module] = []
        self._reached: set[int] = set()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watches until it is left."""
        called, made = torch.nn.Module.__call__, torch.nn.Module.__init__
        watch = self

        def call(self: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            return watch._call(self, called, args, kwargs)

        def make(self: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
            watch._made.append(self)
            made(self, *args, **kwargs)

        torch.nn.Module.__call__ = call  # type: ignore[method-assign]
        torch.nn.Module.__init__ = make  # type: ignore[method-assign]
        try:
            yield
        finally:
            torch.nn.Module.__call__ = called  # type: ignore[method-assign]
            torch.nn.Module.__init__ = made  # type: ignore[method-assign]

    def models(self) -> tuple[list[str], list[str]]:
        """The classes of the models that the program made: of those that it called, and of those that it did not."""
        made = [module for module in self._made if self._is_model(module)]
        inner = {id(child) for module in made for child in list(foreign.parts_of(module))[1:]}
        whole = [module for module in made if id(module) not in inner]
        names = {True: list[str](), False: list[str]()}
        for module in whole:
            names[id(module) in self._reached].append(type(module).__name__)
        return names[True], names[False]

    def _call(self, module: torch.nn.Module, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        interceptor = self._interceptor
        self._reached.add(id(module))
        if interceptor.running or isinstance(module, EagerModule) or not self._is_model(module):
            return original(module, *args, **kwargs)
        candidate = self._known.get(id(module))
        if candidate is None:
            name = type(module).__name__
            candidate = self._known[id(module)] = CompiledCall(module, module, name, None, False, (), followed=True)
        return interceptor.call(
            candidate, lambda *given, **named: original(module, *given, **named), candidate, args, kwargs
        )

    def _is_model(self, module: torch.nn.Module) -> bool:
        """Whether there is something to compile in it that is the user's, or that the user is about to run."""
        if "_parameters" not in foreign.namespace(module):  # its constructor has not got that far
            return False
        file = self._file_of(type(module))
        own = file is not None and not is_installed(file) and not is_standard(file)
        return own or next(module.parameters(), None) is not None
