"""Arguments for a class's constructor: from an instance, calls in the project, defaults, configurations, annotations.

`Construction.invented` names the arguments that nobody wrote down; sizes that follow from those are not the user's.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from torch import nn

from inductor_debug.capture.inference import naming
from inductor_debug.capture.inference.call_sites import (
    BuiltModule,
    UnknownError,
    calls_in,
    calls_in_project,
    options_of,
)
from inductor_debug.capture.inference.demands import Demand, demands
from inductor_debug.capture.inference.invention import GuessedConfiguration, constructor_value
from inductor_debug.capture.inference.specs import Argument, ConstantSpec

_CONFIG = re.compile(r"(config|configuration|cfg|conf|args|hparams|params|opts?|options|settings|model_args)")


@dataclass
class Construction:
    """One way to build a class. `text` are its arguments as a Python expression, empty where there are none."""

    arguments: tuple[Argument, ...] = ()
    invented: tuple[str, ...] = ()
    source: str = "defaults"
    numbers: tuple[int, ...] = ()

    def call(self, kind: Callable[..., Any]) -> Any:
        """Builds the class."""
        args = [_fresh(item.spec) for item in self.arguments if not item.keyword]
        return kind(*args, **{item.name: _fresh(item.spec) for item in self.arguments if item.keyword})


@dataclass(frozen=True, slots=True)
class MadeSpec(ConstantSpec):
    """A value that is made anew for each construction, as modules are not shared."""

    make: Callable[[], Any] = field(default=lambda: None, compare=False, hash=False)


def _fresh(spec: Any) -> Any:
    return spec.make() if isinstance(spec, MadeSpec) else spec.value


def constructions(
    kind: type, module: ModuleType, tree: ast.Module, path: str, project_root: str
) -> Iterator[Construction]:
    """Ways to build `kind`, most trustworthy first."""
    try:
        parameters = _parameters(kind)
    except (TypeError, ValueError):
        yield Construction()
        return
    builder = _Builder(module, tree, kind)
    required = [item for item in parameters if item.default is inspect.Parameter.empty]
    for args, kwargs in calls_in(tree, kind.__name__, vars(module)):
        yield builder.bound(parameters, args, kwargs, "a call in this file")
    if not required:
        yield Construction(numbers=_numbers({item.name: item.default for item in parameters}))
        return
    for args, kwargs in calls_in_project(project_root, path, kind.__name__):
        yield builder.bound(parameters, args, kwargs, "a call in the project")
    yield builder.bound(parameters, [], {}, "names and annotations")
    for alternative in (1, 2):
        builder.alternative = alternative
        yield builder.bound(parameters, [], {}, "names and annotations")


def _parameters(kind: type) -> list[inspect.Parameter]:
    signature = inspect.signature(kind)
    skipped = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [item for item in signature.parameters.values() if item.kind not in skipped]


class _Builder:
    """Fills in what a call of `kind` leaves open."""

    def __init__(self, module: ModuleType, tree: ast.Module, kind: type, depth: int = 0) -> None:
        self.module, self.tree, self.kind, self.depth = module, tree, kind, depth
        self.alternative = 0
        self._demands: dict[str, Demand] | None = None

    def bound(
        self, parameters: list[inspect.Parameter], args: list[Any], kwargs: dict[str, Any], source: str
    ) -> Construction:
        """One construction from a call's known arguments."""
        given = {item.name: value for item, value in zip(parameters, args, strict=False)} | kwargs
        arguments: list[Argument] = []
        invented: list[str] = []
        known: dict[str, Any] = {}
        by_name = False
        for item in parameters:
            value = given.get(item.name, UnknownError)
            if value is UnknownError and item.default is not inspect.Parameter.empty:
                known[item.name] = item.default
                by_name = True
                continue
            if value is UnknownError:
                spec: ConstantSpec = self.invent(item, known)
                if not isinstance(spec, MadeSpec) or spec.value is UnknownError:
                    invented.append(item.name)
                value = spec.value
            else:
                spec = self._written(value)
            known[item.name] = value
            by_name = by_name or item.kind is inspect.Parameter.KEYWORD_ONLY
            arguments.append(Argument(item.name, spec, by_name))
        return Construction(tuple(arguments), tuple(invented), source, _numbers(known))

    def invent(self, parameter: inspect.Parameter, known: dict[str, Any]) -> ConstantSpec:
        """A value for one argument that nobody wrote down: a configuration, or one by annotation, code and name."""
        name, annotation = parameter.name, self._annotation(parameter)
        kind = annotation if isinstance(annotation, type) and annotation is not inspect.Parameter.empty else None
        demand = self._demand(name)
        configuration = self._configuration(name, kind, demand)
        if configuration is not None:
            return configuration
        own = kind if kind is not None and issubclass(kind, nn.Module) else self._namesake(name) if not kind else None
        if own is not None:
            return self._module(own)
        text = parameter.annotation if isinstance(parameter.annotation, str) else _spelled(parameter.annotation)
        value = constructor_value(name, text, known, self.alternative, demand)
        if isinstance(value, type) and issubclass(value, nn.Module) and "factory" not in demand.roles:
            return MadeSpec(f"torch.nn.{value.__name__}()", UnknownError, make=value)
        return _constant(value)

    def _written(self, value: Any) -> ConstantSpec:
        """A value that the project wrote down."""
        if not isinstance(value, BuiltModule):
            return _constant(value)
        return self._built(value.kind, list(value.args), value.kwargs, value)

    def _demand(self, name: str) -> Demand:
        """What the class asks of one argument."""
        if self._demands is None:
            self._demands = demands(self.kind)
        return self._demands.get(name, Demand())

    def _annotation(self, parameter: inspect.Parameter) -> Any:
        annotation = parameter.annotation
        if isinstance(annotation, str):
            return vars(self.module).get(annotation.strip("'\"").partition("|")[0].strip())
        return annotation

    def _configuration(self, name: str, kind: type | None, demand: Demand) -> ConstantSpec | None:
        """A configuration class that needs no arguments: the annotated one, or the one that the file defines."""
        called_so = _CONFIG.fullmatch(name.lower()) is not None
        kinds = [kind] if kind is not None and _is_configuration(kind) else []
        if not kinds and called_so:
            own = [
                item
                for item in vars(self.module).values()
                if isinstance(item, type) and _is_configuration(item) and "config" in item.__name__.lower() + "args"
            ]
            kinds = sorted(own, key=lambda item: item.__module__ != self.module.__name__)
        for found in kinds:
            instances = [value for value in vars(self.module).values() if type(value) is found]
            if instances:
                label = next(key for key, value in vars(self.module).items() if value is instances[0])
                return MadeSpec(label, instances[0], make=lambda instance=instances[0]: instance)  # type: ignore[misc]
            if _needs_nothing(found):
                return MadeSpec(f"{found.__name__}()", None, make=found)
            if dataclasses.is_dataclass(found):
                return self._built(found, [], {}, UnknownError)
        asked = "configuration" in demand.roles and demand.fields and "module" not in demand.roles
        if kind is None and (asked or (called_so and "mapping" not in demand.roles)):
            return self._fields(demand)
        return None

    def _fields(self, demand: Demand) -> ConstantSpec:
        """A configuration of an unknown class: its fields as options of the file's command line, or by their names."""
        fields = {
            name: constructor_value(name, "", {}, self.alternative, inner) for name, inner in demand.fields.items()
        }
        known = options_of(self.tree, vars(self.module))
        fields = {name: known.get(name, value) for name, value in fields.items()}
        text = ", ".join(f"{name}={_text(_constant(value))}" for name, value in fields.items())
        written = bool(fields) and fields.keys() <= known.keys()
        return MadeSpec(
            f"__import__('types').SimpleNamespace({text})",
            None if written else UnknownError,
            make=lambda: GuessedConfiguration({**known, **fields}),
        )

    def _namesake(self, name: str) -> type[nn.Module] | None:
        """The class of the file that an argument is called after: `encoder` after `Encoder`."""
        plain = name.replace("_", "").lower()
        for kind in vars(self.module).values():
            own = isinstance(kind, type) and issubclass(kind, nn.Module) and kind.__module__ == self.module.__name__
            if own and kind.__name__.lower() == plain and kind is not self.kind:
                found: type[nn.Module] = kind
                return found
        return None

    def _module(self, kind: type[nn.Module]) -> ConstantSpec:
        """A module as an argument: as the file builds one, or by the same rules; not too deep."""
        if kind is nn.Module or self.depth > 3:
            return MadeSpec("torch.nn.Identity()", UnknownError, make=nn.Identity)
        calls = calls_in(self.tree, kind.__name__, vars(self.module))
        args, kwargs = next(calls, ([], {}))
        return self._built(kind, args, kwargs, UnknownError)

    def _built(self, kind: Any, args: list[Any], kwargs: dict[str, Any], value: Any) -> ConstantSpec:
        """An instance of a module or a dataclass, from what is known of its arguments."""
        builder = _Builder(self.module, self.tree, kind, self.depth + 1)
        builder.alternative = self.alternative
        if kind.__module__.startswith("torch.nn."):
            given = [Argument("", builder._written(item)) for item in args]
            given += [Argument(name, builder._written(item), True) for name, item in kwargs.items()]
            made = Construction(tuple(given))
        else:
            made = builder.bound(_parameters(kind), args, kwargs, "")
        written = ", ".join(
            f"{item.name}={_text(item.spec)}" if item.keyword or not args else _text(item.spec)
            for item in made.arguments
        )
        prefix = "torch.nn." if kind.__module__.startswith("torch.nn.modules") else ""
        return MadeSpec(f"{prefix}{kind.__name__}({written})", value, make=lambda: made.call(kind))


def _text(spec: Any) -> str:
    return str(spec.text)


def _spelled(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    return (
        annotation.__name__
        if isinstance(annotation, type) and not getattr(annotation, "__args__", None)
        else str(annotation)
    )


def _is_configuration(kind: type) -> bool:
    if dataclasses.is_dataclass(kind):
        return True
    return any(base.__name__ in ("PretrainedConfig", "PreTrainedConfig", "BaseModel") for base in kind.__mro__) or (
        kind.__name__.lower().endswith(("config", "args", "configuration")) and not issubclass(kind, nn.Module)
    )


def _needs_nothing(kind: type) -> bool:
    try:
        inspect.signature(kind).bind()
    except (TypeError, ValueError):
        return False
    return True


def _constant(value: Any) -> ConstantSpec:
    if isinstance(value, type) or (callable(value) and hasattr(value, "__name__")):
        owner = getattr(value, "__module__", "") or ""
        prefix = "torch.nn." if owner.startswith("torch.nn.modules") else "torch." if owner.startswith("torch") else ""
        return ConstantSpec(f"{prefix}{value.__name__}", value)
    return ConstantSpec(repr(value), value)


def _numbers(known: dict[str, Any]) -> tuple[int, ...]:
    """Integers among the arguments that say how large an input is."""
    found = []
    for name, given in known.items():
        value = given[0] if isinstance(given, tuple | list) and given else given
        if isinstance(value, int) and not isinstance(value, bool) and naming.is_extent(name) and value > 1:
            found.append(value)
    return tuple(found)
