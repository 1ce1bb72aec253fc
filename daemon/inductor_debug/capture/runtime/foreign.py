"""Looks at objects that are not ours without trusting them: whatever their methods raise, the answer is a plain one.

Modules that import themselves when asked for an attribute, dictionaries whose keys are attributes, proxies,
metaclasses: a file may hold any of them, and asking one of them something is running somebody else's code. Code that
walks through objects which it did not choose (names of a module, modules of the process, defaults, annotations) asks
here. What user code raises where it was meant to run is another matter, and told.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

if TYPE_CHECKING:
    from torch import nn

T = TypeVar("T")


def attribute(thing: Any, name: str, default: Any = None) -> Any:
    """The attribute `name` of an object; `default` where it has none, or where asking for it raises."""
    try:
        return getattr(thing, name, default)
    except BaseException:
        return default


def text_attribute(thing: Any, name: str) -> str:
    """The attribute `name` of an object where that is a string; else an empty one."""
    value = attribute(thing, name)
    return value if type(value) is str else ""


def is_a(thing: Any, kind: type[T]) -> TypeGuard[T]:
    """Whether an object is an instance of `kind` by its type; what its `__class__` claims is not asked for."""
    return issubclass(type(thing), kind)


def namespace(thing: Any) -> dict[str, Any]:
    """What a module, class or instance holds itself; empty where it holds nothing, or hides it."""
    try:
        return dict(type.__getattribute__(thing, "__dict__") if is_a(thing, type) else _own(thing))
    except BaseException:
        return {}


def members_of(module: Any) -> dict[str, Any]:
    """The attributes of a module of torch by name, parameters, buffers and parts too; no property is run.

    A constructor that has not ended may not have made the tables of these.
    """
    own = namespace(module)
    tables = (own.get(kind, {}) for kind in ("_parameters", "_buffers", "_modules"))
    return {**own, **{name: value for table in tables for name, value in table.items()}}


def parts_of(module: nn.Module) -> Iterator[nn.Module]:
    """A module and all inside of it, also where it keeps something of its own under the name `modules`."""
    from torch import nn  # here, as processes look at objects before they know that there is a torch

    return nn.Module.modules(module)


def children_of(module: nn.Module) -> Iterator[nn.Module]:
    """The modules that a module has itself, also where it keeps something of its own under the name `children`."""
    from torch import nn

    return nn.Module.children(module)


def _own(thing: Any) -> Any:
    getter = types.ModuleType if is_a(thing, types.ModuleType) else object
    return getter.__getattribute__(thing, "__dict__")


def module_name(thing: Any) -> str:
    """The name of the module that a class or function says it is of; empty where it says none."""
    return text_attribute(thing, "__module__")


def file_of(module: Any) -> str | None:
    """The file of a module; None where it has none or does not tell."""
    return text_attribute(module, "__file__") or None


def name_of(called: Any) -> str:
    """The name of a function or class; that of its type for anything else."""
    return text_attribute(called, "__name__") or type.__getattribute__(type(called), "__name__")


def representation(thing: Any) -> str:
    """What `repr` gives; the name of the type where that raises."""
    try:
        return repr(thing)
    except BaseException:
        return f"<{type.__getattribute__(type(thing), '__name__')}>"


def parameters(called: Any) -> list[inspect.Parameter] | None:
    """The parameters of something that can be called; None where they are not known."""
    signature = signature_of(called)
    return None if signature is None else list(signature.parameters.values())


def signature_of(called: Any) -> inspect.Signature | None:
    """The signature of something that can be called; None where there is none.

    A method that TorchScript compiled says what the function has that it was made of, and is bound all the same.
    """
    try:
        signature = inspect.signature(called)
        if type(called).__name__ == "ScriptMethod" and next(iter(signature.parameters), "") == "self":
            return signature.replace(parameters=list(signature.parameters.values())[1:])
        return signature
    except BaseException:
        return None


def needs_no_arguments(called: Any) -> bool:
    """Whether calling something with nothing fits its signature."""
    signature = signature_of(called)
    if signature is None:
        return False
    try:
        signature.bind()
    except TypeError:
        return False
    return True


def dress(wrapper: Any, wrapped: Any) -> None:
    """Gives a wrapper the name and the attributes of what it wraps, as far as that can be asked."""
    with contextlib.suppress(BaseException):
        functools.update_wrapper(wrapper, wrapped)


def plain_function(function: Any) -> Any:
    """The function inside of a bound method and of decorators that say what they wrap, as far as they can be asked."""
    function = attribute(function, "__func__", function)
    try:
        return inspect.unwrap(function)
    except BaseException:
        return function


def code_of(function: Any) -> types.CodeType | None:
    """The code of a Python function; None for anything else."""
    code = attribute(function, "__code__")
    return code if type(code) is types.CodeType else None


def globals_of(function: Any) -> dict[str, Any]:
    """The names that a Python function sees; none for anything else."""
    found = attribute(function, "__globals__")
    return found if type(found) is dict else {}


def annotations_of(thing: Any) -> dict[str, Any]:
    """The annotations of a function or class as they stand there; none where there are none."""
    found = attribute(thing, "__annotations__")
    return found if type(found) is dict else {}
