"""What stands for what is not there: libraries that cannot be imported, extensions that a file has compiled.

It can be loaded, named and looked at, so that what does without it can be checked: while files are loaded it may also
be called, subclassed and used as a decorator, as the top of a file does. Whatever needs it after that is refused, with
its name; nothing is imitated. Imports inside of `try` go on to fail, for code that knows what to do then.

Public names of `torch.utils.cpp_extension`, torch 2.11 to 2.15: `load` and `load_inline`.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import importlib.util
import linecache
import sys
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib.machinery import SourceFileLoader
from types import FrameType, FunctionType, ModuleType, TracebackType
from typing import Any, NoReturn

import torch
from torch import nn

from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.audit import DeedRefusedError
from inductor_debug.capture.runtime.containment import RefusableDeed, RefusedError
from inductor_debug.capture.runtime.loading import is_installed, is_standard, run_user_code
from inductor_debug.source.syntax_tree import tree_of_file

_EXTENSIONS = "torch.utils.cpp_extension"
_NEEDED = frozenset((RefusableDeed.SUBPROCESS.value, RefusableDeed.WRITE.value))
"""What has to be allowed for an extension to be compiled."""
_MOST_ABSENT = 24
"""Imports of one file that may fail: there are hardly more libraries."""
_MOST_FRAMES = 40


IsLeft = Callable[[Exception, bool], bool]
"""Told what an import raised, and whether another order of the user's modules may help."""


class AbsentError(RefusedError):
    """Something was used that could not be imported."""

    def __init__(self, name: str) -> None:
        super().__init__(f"`{name}` could not be imported.", name.partition(".")[0])


class UnbuiltExtensionError(RefusedError):
    """A function was called that is in no library yet."""

    def __init__(self, function: str) -> None:
        super().__init__(
            f"`{function}` is of an extension that is compiled when the file is loaded, which a check does not do; "
            'allow it with `allow = ["subprocess", "write"]`.',
            RefusableDeed.SUBPROCESS.value,
        )


class Absent:
    """Stands for a module, or for something in one, that could not be imported.

    Nothing is an instance of it. As a base it gives a class that has no objects; a class of torch's modules that it
    decorates stays what it is, as those do that are put into a registry.
    """

    __slots__ = ("_absent_asked", "_absent_name")
    _absent_name: str
    _absent_asked: frozenset[str]
    """The names that are imported from it: it has those of them, too, that begin as Python's own do."""
    loading = False
    """Whether files are being loaded."""
    made = False
    """Whether there is any."""

    def __init__(self, name: str, asked: Sequence[str] = ()) -> None:
        Absent.made = True
        object.__setattr__(self, "_absent_name", name)
        object.__setattr__(self, "_absent_asked", frozenset((*asked, "__version__")))

    def __repr__(self) -> str:
        return f"<{self._absent_name}, which could not be imported>"

    def __getattr__(self, name: str) -> Absent:
        if name.startswith("__") and name not in self._absent_asked:
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        return self._used(f"{self._absent_name}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        self._used(f"{self._absent_name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What a call, or a decorator, gives while files are loaded.

        Raises:
            AbsentError: no file is being loaded.
        """
        made = self._used(self._absent_name)
        if len(args) != 1 or kwargs:
            return made
        decorated = args[0]
        if foreign.is_a(decorated, type) and issubclass(decorated, nn.Module):
            return decorated
        return _refused(decorated, self._absent_name) if foreign.is_a(decorated, FunctionType) else made

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type]:
        self._used(self._absent_name)
        name = self._absent_name
        kinds = [base for base in bases if foreign.is_a(base, type)]
        base = _AbsentBase if any(issubclass(kind, nn.Module) for kind in kinds) else _AbsentModule
        return (type(name.rpartition(".")[2], (base,), {"_absent_name": name, "__module__": base.__module__}),)

    def __instancecheck__(self, instance: Any) -> bool:
        return False

    def __subclasscheck__(self, subclass: Any) -> bool:
        return False

    def __getitem__(self, key: Any) -> Absent:
        return self._used(self._absent_name)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._used(self._absent_name)

    def __or__(self, other: Any) -> Absent:
        return self._used(self._absent_name)

    __ror__ = __or__

    def __enter__(self) -> Absent:
        return self._used(self._absent_name)

    def __exit__(self, *error: object) -> None:
        return None

    def __bool__(self) -> NoReturn:
        raise AbsentError(self._absent_name)

    __iter__ = __len__ = __index__ = __float__ = __int__ = __bool__

    def __add__(self, other: Any) -> NoReturn:
        raise AbsentError(self._absent_name)

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __add__
    __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __lt__ = __le__ = __gt__ = __ge__ = __matmul__ = __add__

    def _used(self, name: str) -> Absent:
        """What stands for the result of a use.

        Raises:
            AbsentError: no file is being loaded.
        """
        if not Absent.loading:
            raise AbsentError(name)
        return Absent(name)


class _AbsentBase:
    """A base class that could not be imported: nobody knows what its objects are."""

    _absent_name = ""

    def __new__(cls, *args: Any, **kwargs: Any) -> _AbsentBase:
        raise AbsentError(cls._absent_name)

    def __getattr__(self, name: str) -> NoReturn:  # also says that objects may have any attribute
        raise AbsentError(type(self)._absent_name)


class _AbsentModule(_AbsentBase, nn.Module):
    """The same where no other base says what the class is: where it has a `forward` it is listed among the models."""


class _Partly(ModuleType):
    """A module that is there, and has not all that is imported from it."""

    def __init__(self, real: ModuleType) -> None:
        super().__init__(real.__name__)
        self._real = real

    def __getattr__(self, name: str) -> Any:
        if hasattr(self._real, name) or (name.startswith("__") and name.endswith("__")):
            return getattr(self._real, name)
        return Absent(f"{self.__name__}.{name}")


def _refused(function: FunctionType, decorator: str) -> Any:
    """A function that something absent decorates: what it does now, nobody knows."""

    @functools.wraps(function)
    def refused(*_: Any, **__: Any) -> NoReturn:
        raise AbsentError(decorator)

    return refused


def absent_use(error: BaseException) -> BaseException:
    """`error`, or that something absent was used, where it was raised by code that holds such a thing."""
    if not Absent.made or isinstance(error, RefusedError):
        return error
    owner = foreign.attribute(error, "obj") if isinstance(error, AttributeError) else None
    if foreign.is_a(owner, type) and issubclass(owner, _AbsentBase):  # the class may have it of a base that is absent
        return _instead(error, f"{owner._absent_name}.{foreign.text_attribute(error, 'name')}")
    for frame, _ in list(traceback.walk_tb(error.__traceback__))[-_MOST_FRAMES:]:
        for value in list(frame.f_locals.values()):
            if type(value) is Absent:
                return _instead(error, value._absent_name)
    return error


def _instead(error: BaseException, name: str) -> AbsentError:
    refusal = AbsentError(name).with_traceback(error.__traceback__)
    refusal.__cause__ = error
    return refusal


class AbsentImports:
    """The imports of one file, and of those of the user's that it imports, which fail, with stand-ins for the results.

    Only those are stood in for that nothing else takes care of: no `try` around the import, nor around that of the file
    it stands in. `failures` are what they raised, once for each thing that is absent, as if it had gone up to whoever
    loads the file.
    """

    def __init__(self) -> None:
        self.failures: list[Exception] = []
        self._told: set[str] = set()

    @contextlib.contextmanager
    def active(self, is_left: IsLeft) -> Iterator[None]:
        """While a file is loaded; failures are those since then.

        Args:
            is_left: whether a failure is to be raised as it is, for whoever loads the file can help it.
        """
        self.failures, self._told = [], set()
        before = builtins.__import__

        def import_(
            name: str,
            globals: Mapping[str, object] | None = None,
            locals: Mapping[str, object] | None = None,
            fromlist: Sequence[str] | None = (),
            level: int = 0,
        ) -> Any:
            __tracebackhide__ = True
            importer = sys._getframe(1)
            if not _is_users(importer.f_code.co_filename):
                return before(name, globals, locals, fromlist or (), level)
            try:
                module = before(name, globals, locals, fromlist or (), level)
            except Exception as error:
                if not self._stands_in(importer, error, lambda raised: is_left(raised, True)):
                    raise
                whole = _resolved(name, globals, level)
                root = sys.modules.get(whole.partition(".")[0])
                if fromlist:
                    return Absent(whole, fromlist)
                return Absent(whole.partition(".")[0]) if root is None else _Partly(root)
            lacking = _lacking(module, fromlist) if fromlist else None
            unfinished = _is_initialising(module)
            if lacking and self._stands_in(importer, lacking, lambda raised: is_left(raised, not unfinished)):
                return _Partly(module)
            return module

        builtins.__import__ = import_
        Absent.loading = True
        try:
            yield
        finally:
            builtins.__import__ = before
            Absent.loading = False

    def _stands_in(self, importer: FrameType, error: Exception, is_left: Callable[[Exception], bool]) -> bool:
        """Whether what an import that failed would give is stood in for; it is a failure then."""
        if isinstance(error, DeedRefusedError) or not (isinstance(error, ImportError) or _is_of_library(error)):
            return False
        statement = _import_at(importer.f_code.co_filename, importer.f_lineno)
        if statement is None or len(self._told) >= _MOST_ABSENT:
            return False
        frames = list(_up_to_loader(importer))
        if any(_is_tried(frame.f_code.co_filename, frame.f_lineno) for frame in frames):
            return False
        trace = error.__traceback__
        for frame in frames:
            trace = TracebackType(trace, frame, frame.f_lasti, frame.f_lineno)
        raised = error.with_traceback(trace)
        if is_left(raised):
            return False
        # What a file imports of its own package is told once: a copy of a part of a project lacks a dozen neighbours.
        relative = isinstance(statement, ast.ImportFrom) and statement.level > 0
        lacks = importer.f_code.co_filename if relative else _what_lacks(raised)
        if lacks not in self._told:
            self._told.add(lacks)
            self.failures.append(raised)
        return True


def _what_lacks(error: Exception) -> str:
    """What is absent: a module, a name of one, or a file of the user's that a library refuses whenever it is run."""
    if not isinstance(error, ImportError):
        files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
        return next((file for file in reversed(files) if _is_users(file)), "")
    missing = foreign.text_attribute(error, "name") if isinstance(error, ModuleNotFoundError) else ""
    return missing or str(error)


def _lacking(module: Any, names: Sequence[str]) -> ImportError | None:
    """What Python raises where a module has not all names that are imported from it.

    None of one that is half done and mentions the name, for it may have it later; nor of a package's module that is
    half done itself, as in a circle of imports: the package has it only afterwards, and Python takes it all the same.
    """
    if "*" in names:
        return None
    whole = str(foreign.attribute(module, "__name__"))
    missing = (name for name in names if _is_missing(module, name))
    name = next((name for name in missing if f"{whole}.{name}" not in sys.modules), None)
    file = foreign.file_of(module)
    if name is None or (_is_initialising(module) and name in "".join(linecache.getlines(file or ""))):
        return None
    return ImportError(
        f"cannot import name {name!r} from {whole!r} ({file or 'unknown location'})", name=whole, path=file
    )


def _is_missing(module: Any, name: str) -> bool:
    try:
        getattr(module, name)
    except AttributeError:
        return True
    except Exception:  # which the import raises, too
        return False
    return False


def _is_initialising(module: Any) -> bool:
    return bool(foreign.attribute(foreign.attribute(module, "__spec__"), "_initializing"))


def _up_to_loader(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames from an import up to what loads the file, innermost first; Python's and our own are left out."""
    while frame is not None and frame.f_code is not run_user_code.__code__:
        file = frame.f_code.co_filename
        if not file.startswith("<frozen") and not is_standard(file):
            yield frame
        frame = frame.f_back


@functools.cache
def _is_users(file: str) -> bool:
    return not file.startswith("<") and not is_installed(file) and not is_standard(file)


def _is_of_library(error: BaseException) -> bool:
    """Whether an exception was raised by an installed library's own code."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    files = [file for frame in frames if not is_standard(file := frame.f_code.co_filename) and not file.startswith("<")]
    return bool(files) and is_installed(files[-1])


def _import_at(file: str, line: int) -> ast.stmt | None:
    """The import in a line of a file, unless it is one of everything: nobody knows which names that gives."""
    tree = tree_of_file(file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Import | ast.ImportFrom) and node.lineno <= line <= (node.end_lineno or node.lineno):
            return None if any(item.name == "*" for item in node.names) else node
    return None


def _is_tried(file: str, line: int) -> bool:
    """Whether a line of a file stands where exceptions of imports are caught."""
    tree = tree_of_file(file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Try) and any(map(_catches, node.handlers)):
            body: Sequence[ast.stmt] = node.body
        elif isinstance(node, ast.With) and any("suppress" in ast.unparse(item.context_expr) for item in node.items):
            body = node.body
        else:
            continue
        if body[0].lineno <= line <= (body[-1].end_lineno or body[-1].lineno):
            return True
    return False


def _catches(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches what imports raise, as far as names tell."""
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    others = (KeyError, ValueError, TypeError, OSError, FileNotFoundError, IndexError, AttributeError, RuntimeError)
    return any(getattr(kind, "id", "") not in {other.__name__ for other in others} for kind in caught)


def _resolved(name: str, names: Mapping[str, object] | None, level: int) -> str:
    """The whole name of a module that is perhaps imported relatively."""
    package = str((names or {}).get("__package__") or "")
    with contextlib.suppress(ImportError):
        return importlib.util.resolve_name("." * level + name, package)
    return name


class _Unbuilt(ModuleType):
    """Stands for an extension, or for the operators that one registers under its name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return functools.partial(_refuse, f"{self.__name__}.{name}")


def _refuse(function: str, *_: Any, **__: Any) -> NoReturn:
    raise UnbuiltExtensionError(function)


def leave_unbuilt(allowed: Collection[str]) -> None:
    """From now on, for the rest of this process's life, extensions are not compiled.

    Args:
        allowed: values of `RefusableDeed` that are not refused. Where building is allowed, it is done.
    """
    if set(allowed) >= _NEEDED:
        return
    if (known := sys.modules.get(_EXTENSIONS)) is not None:
        _stand_in_for(known)
        return
    execute = SourceFileLoader.exec_module

    def exec_module(loader: SourceFileLoader, module: ModuleType) -> None:
        execute(loader, module)
        if module.__name__ == _EXTENSIONS:
            _stand_in_for(module)

    SourceFileLoader.exec_module = exec_module  # type: ignore[method-assign, assignment]


def _stand_in_for(module: ModuleType) -> None:
    for name in ("load", "load_inline"):
        if hasattr(module, name):
            setattr(module, name, functools.wraps(getattr(module, name))(_load))


def _load(name: str, *_: Any, is_python_module: bool = True, **__: Any) -> ModuleType:
    unbuilt = _Unbuilt(str(name))
    if not is_python_module:
        vars(torch.ops).setdefault(unbuilt.__name__, unbuilt)
    return unbuilt
