"""What constructors are given: an instance, calls in the project, defaults, configurations, annotations."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from pathlib import PurePath
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import torch
from torch import nn

from inductor_debug.capture.inference.construction import annotated, signatures
from inductor_debug.capture.inference.construction.call_sites import (
    CallSites,
    calls_in,
    calls_in_examples,
    calls_in_project,
    set_later,
)
from inductor_debug.capture.inference.construction.class_arguments import class_for, part_class
from inductor_debug.capture.inference.construction.class_tables import written_in_tables
from inductor_debug.capture.inference.construction.configuration_files import ConfigurationFiles, WrittenConfiguration
from inductor_debug.capture.inference.construction.demand import Demand
from inductor_debug.capture.inference.construction.demands import demands
from inductor_debug.capture.inference.construction.given_arguments import (
    BuiltSpec,
    Construction,
    fresh_value,
    numbers_in,
    sizes_in,
)
from inductor_debug.capture.inference.construction.handed_on import handed_on
from inductor_debug.capture.inference.construction.invention import (
    GuessedConfiguration,
    configuration_of,
    constructor_value,
    in_spaces,
    is_device,
)
from inductor_debug.capture.inference.construction.module_stand_ins import data_for, stand_in_for, tensor_for
from inductor_debug.capture.inference.construction.script_options import options_for, whole_options_for
from inductor_debug.capture.inference.specs.specs import ConstantSpec, SpecArgument
from inductor_debug.capture.inference.values.symbolic_values import (
    ConfigurationTable,
    Options,
    SymbolicValue,
    UnknownError,
    fresh,
    is_known,
    made,
    text_of,
)
from inductor_debug.capture.runtime import foreign

_DEEPEST = 6
_ALTERNATIVES = 3
_FEWEST_ITEMS = 2
_MOST_NAMED = 4
"""How many tables of files that name a class are tried."""
_LOADS_WEIGHTS = re.compile(r".*(pretrain|download).*", re.IGNORECASE)
_CONFIG = re.compile(r"(config|configuration|cfg|conf|args|hparams|params|opts?|options|settings|model_args)")


def constructions(
    kind: type, module: ModuleType, tree: ast.Module, path: str, project_root: str
) -> Iterator[Construction]:
    """Ways to build `kind`, most trustworthy first, each once.

    Of all calls that leave something open, what is invented for it is as usual before it is anything else. The last way
    is the first one without the weights that it would load from somewhere.
    """
    parameters = signatures.parameters(kind)
    if parameters is None:
        yield Construction()
        return
    parameters += handed_on(kind)
    builder = _Builder(module, calls_in(tree, module, path, project_root), kind, ConfigurationFiles(path, project_root))
    required = any(item.default is inspect.Parameter.empty for item in parameters) or signatures.takes_more(kind)[0]
    open_calls: list[_WrittenCall] = []
    seen: set[str] = set()
    calls: list[_WrittenCall] = []
    for call in _written_calls(builder, parameters, tree, required=required):
        calls.append(call)
        made = [builder.bound(parameters, *call)]
        if made[0].invented or any(map(builder.may_be_several, parameters)):
            open_calls.append(call)
        if call.is_empty and not required:
            made.insert(0, Construction(numbers=numbers_in({item.name: item.default for item in parameters})))
        yield from _new(made, seen)
    for builder.alternative in range(1, _ALTERNATIVES if required else 1):
        yield from _new([builder.bound(parameters, *call) for call in open_calls], seen)
    loads = [item for item in parameters if _LOADS_WEIGHTS.fullmatch(item.name)]
    if any(item.default is True for item in loads):
        without = {item.name: False for item in loads if type(item.default) is bool}
        yield from _new([builder.bound(parameters, *calls[0]).changed(without)], seen)


def _is_table(argument: SpecArgument) -> bool:
    """Whether an argument is data that was invented, a tensor or an array of NumPy."""
    return isinstance(argument.spec, BuiltSpec) and argument.spec.is_data


def _new(made: list[Construction], seen: set[str]) -> Iterator[Construction]:
    """Those that are not known by what they are given; they are known from then on."""
    for construction in made:
        if construction.label not in seen:
            seen.add(construction.label)
            yield construction


class _WrittenCall(NamedTuple):
    """What somebody gives a constructor, and who; `configuration` is the table of a file that it is."""

    args: list[Any]
    kwargs: dict[str, Any]
    source: str
    configuration: WrittenConfiguration | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nobody wrote it down."""
        return not self.args and not self.kwargs


def _written_calls(
    builder: _Builder, parameters: list[inspect.Parameter], tree: ast.Module, *, required: bool
) -> Iterator[_WrittenCall]:
    """The calls of a class in its file and its project, and one that gives it nothing."""
    kind, files = builder.kind, builder.files
    nothing = _WrittenCall([], {}, "names and annotations")
    for args, kwargs in builder.sites.of(kind.__name__):
        yield _WrittenCall(args, kwargs, "a call in this file")
    if (written := builder.looked_up()) is not None:
        yield _WrittenCall([], dict(written.values), written.shown, written)
    if not required:
        yield nothing
    for args, kwargs in builder.sites.computed(kind) if required or builder.refuses_defaults(parameters) else ():
        yield _WrittenCall(args, kwargs, "a call in this file")
    for options in written_in_tables(kind, parameters, vars(builder.module)):
        yield _WrittenCall([], options, "a table in this file")
    takes = None if signatures.takes_more(kind)[1] else frozenset(item.name for item in parameters)
    for written in itertools.islice(files.arguments_of(kind, takes), _MOST_NAMED):
        yield _WrittenCall([], dict(written.values), written.shown, written)
    for args, kwargs in calls_in_examples(tree, files.path, files.root, kind.__name__, vars(builder.module)):
        yield _WrittenCall(args, kwargs, "an example")
    for args, kwargs in calls_in_project(files.root, files.path, kind.__name__, vars(builder.module)):
        yield _WrittenCall(args, kwargs, "a call in the project")
    if required:
        yield nothing


class _Builder:
    """Fills in what a call of `kind` leaves open."""

    def __init__(
        self,
        module: ModuleType,
        sites: CallSites,
        kind: Callable[..., Any],
        files: ConfigurationFiles,
        depth: int = 0,
    ) -> None:
        self.module, self.sites, self.kind, self.files, self.depth = module, sites, kind, files, depth
        self.alternative = 0
        self._demands: dict[str, Demand] | None = None

    def bound(
        self,
        parameters: list[inspect.Parameter],
        args: list[Any],
        kwargs: dict[str, Any],
        source: str,
        configuration: WrittenConfiguration | None = None,
    ) -> Construction:
        """One construction from a call's known arguments."""
        self.files.used = configuration
        positional = [item for item in parameters if item.kind is not inspect.Parameter.KEYWORD_ONLY]
        given = {item.name: value for item, value in zip(positional, args, strict=False)} | kwargs
        arguments: list[SpecArgument] = []
        invented: list[str] = []
        known: dict[str, Any] = {}
        by_name = False
        for item in parameters:
            value = given.get(item.name, UnknownError)
            demand = self._demand(item.name)
            if not self._can_be_made(value) or demand.refutes(value):
                value = UnknownError
            optional = item.default is not inspect.Parameter.empty
            single = self.alternative > 0 and self.may_be_several(item)
            if value is UnknownError and optional and not demand.refutes(item.default) and not single:
                known[item.name] = item.default
                by_name = by_name or item in positional
                continue
            if value is UnknownError:
                spec: ConstantSpec = self.invent(item, known)
                if not isinstance(spec, BuiltSpec) or spec.guessed:
                    invented.append(item.name)
                value = spec.value
            else:
                spec = self._written(item.name, value)
                if isinstance(spec, BuiltSpec) and spec.guessed:
                    invented.append(item.name)
            known[item.name] = value
            arguments.append(SpecArgument(item.name, spec, by_name or item not in positional))
        tables = [place for place, item in enumerate(arguments) if item.name in invented and _is_table(item)]
        for place in tables:
            arguments[place] = self._as_wide(arguments[place], known, arguments)
        rest = {name: value for name, value in kwargs.items() if name not in known}
        arguments += self._more(args[len(positional) :], rest, by_name)
        return Construction(tuple(arguments), tuple(invented), source, numbers_in(known), self.files.used)

    def may_be_several(self, parameter: inspect.Parameter) -> bool:
        """Whether a parameter has a number by default that the code takes the length of, perhaps in vain."""
        return type(parameter.default) in (int, float) and "sequence" in self._demand(parameter.name).roles

    def _as_wide(self, table: SpecArgument, known: dict[str, Any], others: list[SpecArgument]) -> SpecArgument:
        """A table that was invented, as wide as any argument says, those after it and configurations too."""
        made = [fresh_value(item.spec) for item in others if _CONFIG.fullmatch(item.name) and item is not table]
        inside = {str(place): dict(vars(item)) for place, item in enumerate(made) if hasattr(item, "__dict__")}
        data = data_for(self._demand(table.name), sizes_in({**known, **inside}), self.alternative, table.name)
        if data is None:
            return table
        return replace(table, spec=BuiltSpec(data.text, UnknownError, make=data.make, guessed=True, is_data=True))

    def _more(self, args: list[Any], kwargs: dict[str, Any], by_name: bool) -> list[SpecArgument]:
        """What a call gives beyond the parameters that have names; by position only where nothing goes by name."""
        positional, named = signatures.takes_more(self.kind)
        told = positional and not by_name and all(map(self._can_be_made, args))
        more = [SpecArgument("", self._written("", value)) for value in args if told]
        rest = {name: value for name, value in kwargs.items() if named and self._can_be_made(value)}
        return [*more, *(SpecArgument(name, self._written(name, value), True) for name, value in rest.items())]

    def looked_up(self) -> WrittenConfiguration | None:
        """A file's table that has all that is looked up among a constructor's other arguments: `kwargs["width"]`."""
        asked = self._demand(signatures.others_by_name(self.kind))
        return self.files.fitting(asked) if asked.fields else None

    def refuses_defaults(self, parameters: list[inspect.Parameter]) -> bool:
        """Whether the constructor cannot end with some default."""
        return any(self._demand(item.name).refutes(item.default) for item in parameters)

    def _can_be_made(self, value: Any) -> bool:
        """Whether nothing of a value remains unknown once it is made: what is not known may be invented."""
        if isinstance(value, SymbolicValue):
            parts = (*value.args, *value.kwargs.values())
            return self._own_parameters(value) is not None or all(map(self._can_be_made, parts))
        return isinstance(value, SimpleNamespace) or is_known(value)

    def _own_parameters(self, value: SymbolicValue) -> list[inspect.Parameter] | None:
        """What the constructor of an instance takes, where it may be given what is invented; else None."""
        owner = str(getattr(value.kind, "__module__", "torch"))
        if owner.startswith(("torch.", "builtins", "collections")) or self.depth > _DEEPEST:
            return None
        return signatures.known_parameters(value.kind)

    def invent(self, parameter: inspect.Parameter, known: dict[str, Any]) -> ConstantSpec:
        """A value for one argument that nobody wrote down: by annotation, by what the code asks of it, by its name."""
        name, said = parameter.name, annotated.said_by(parameter.annotation, vars(self.module))
        demand = self._demand(name)
        if said.is_class and annotated.is_of_project(said.kind):
            return self._constant(said.kind)
        if "factory" in demand.roles and (part := class_for(self.kind, name, demand, self.module)) is not None:
            return self._constant(part)
        if any(isinstance(item, type) and self._is_asked_for(item) for item in said.items):
            return self._several(said, name, known)
        kind = said.kind if isinstance(said.kind, type) and not said.is_class else None
        kind = kind or annotated.asserted_of(self.kind, name)
        data = data_for(demand, known, self.alternative, name) if kind is None else None
        if kind is torch.Tensor:
            data = tensor_for(demand, known, self.alternative, name)
        if data is not None:
            return BuiltSpec(data.text, UnknownError, make=data.make, guessed=True, is_data=True)
        configuration = self._configuration(name, kind, demand)
        if configuration is not None:
            return configuration
        if kind is not None and kind is not nn.Module and self._is_asked_for(kind):
            return self._instance(kind)
        if kind in (None, nn.Module):
            of_torch = "reduction" in demand.fields  # a loss that is wrapped: the file's own ones wrap others
            asked = demand if kind is None else Demand(["module"])
            own = None if of_torch else part_class(self.kind, name, asked, self.module)
            if own is None and (given := stand_in_for(demand)) is not None:
                return BuiltSpec(given.text, UnknownError, make=given.make, guessed=True)
            if own is not None:  # it is only called so
                return replace(self._module(own), guessed=True)
            if kind is not None:
                return self._module(kind)
        text = (
            parameter.annotation if isinstance(parameter.annotation, str) else signatures.spelled(parameter.annotation)
        )
        value = constructor_value(name, text, known, self.alternative, demand)
        if isinstance(value, type) and issubclass(value, nn.Module) and "factory" not in demand.roles:
            return BuiltSpec(f"torch.nn.{value.__name__}()", UnknownError, make=value, guessed=True)
        return self._constant(value)

    def _is_asked_for(self, kind: type) -> bool:
        """Whether an annotation with this class leaves no doubt about what is given."""
        if issubclass(kind, Enum | PurePath):
            return len(getattr(kind, "__members__", "_")) > 0
        own = annotated.is_of_project(kind) and not issubclass(kind, dict)
        abstract = inspect.isabstract(kind) or getattr(kind, "_is_protocol", False)
        return issubclass(kind, nn.Module) or (own and not abstract)

    def _instance(self, kind: type) -> ConstantSpec:
        """An instance of an annotated class."""
        if issubclass(kind, Enum):
            members = list(kind)
            return self._constant(members[min(self.alternative, len(members) - 1)])
        if issubclass(kind, PurePath):
            return self._constant(kind("."))
        if issubclass(kind, nn.Module):
            return self._module(kind)
        args, kwargs = next(self.sites.anywhere(kind.__name__), ([], {}))
        return self._built(SymbolicValue(kind, tuple(args), kwargs), True)

    def _several(self, said: annotated.Said, name: str, known: dict[str, Any]) -> ConstantSpec:
        """A list or a tuple of instances."""
        single = inspect.Parameter(name.rstrip("s") or name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        specs = [self.invent(single.replace(annotation=item), known) for item in said.items]
        shape = said.shape or list
        inside = ", ".join(spec.text for spec in specs)
        text = f"[{inside}]" if shape is list else f"({inside}{',' if len(specs) == 1 else ''})"
        return BuiltSpec(text, UnknownError, make=lambda: shape(map(fresh_value, specs)), guessed=True)

    def _constant(self, value: Any) -> ConstantSpec:
        return ConstantSpec(text_of(value, vars(self.module)), value)

    def _written(self, name: str, value: Any) -> ConstantSpec:
        """A value that the project wrote down; what is not known of an instance is filled in."""
        if isinstance(value, Options) or (isinstance(value, SimpleNamespace) and not is_known(value)):
            return self._fields(self._demand(name), {key: item for key, item in vars(value).items() if is_known(item)})
        if isinstance(value, SymbolicValue):
            whole, guessed = self._filled(value, self._demand(name))
            spec = self._built(whole, self._own_parameters(value) is not None)
            return replace(spec, guessed=True) if guessed or _lacks_more(value) else spec
        return BuiltSpec(text_of(value, vars(self.module)), value, make=lambda: fresh(value))

    def _filled(self, value: SymbolicValue, demand: Demand) -> tuple[SymbolicValue, bool]:
        """An instance with values for what is set on it afterwards and asked for, but not known; and whether any is."""
        unknown = [name for name, item in value.attributes.items() if not is_known(item) and name in demand.fields]
        made_up = {name: self._field(name, demand.fields[name], value.attributes) for name in unknown}
        return replace(value, attributes={**value.attributes, **made_up}), bool(made_up)

    def _demand(self, name: str) -> Demand:
        """What the class asks of one argument."""
        if self._demands is None:
            self._demands = demands(self.kind)
        return self._demands.get(name, Demand())

    def _configuration(self, name: str, kind: type | None, demand: Demand) -> ConstantSpec | None:
        """A configuration class that needs no arguments: the annotated one, or the one that the file defines."""
        called_so = _CONFIG.fullmatch(name.lower()) is not None
        kinds = [kind] if kind is not None and signatures.is_configuration(kind) else []
        if not kinds and called_so:
            known = [item for item in vars(self.module).values() if isinstance(item, type)]
            named = [item for item in known if "config" in item.__name__.lower() + "args"]
            defined = filter(signatures.is_configuration, named)
            kinds = sorted(defined, key=lambda item: item.__module__ != self.module.__name__)
        if not kinds and kind is None and demand.fields:
            kinds = [item for item in vars(self.module).values() if signatures.has_fields(item, demand)]
        if "mapping" in demand.roles:  # `config["width"]`, where the file also has a class of other configurations
            kinds = [found for found in kinds if hasattr(found, "__getitem__")]
        for found in kinds:
            instances = [value for value in vars(self.module).values() if type(value) is found]
            if instances:
                label = next(key for key, value in vars(self.module).items() if value is instances[0])
                return BuiltSpec(label, instances[0], make=lambda instance=instances[0]: instance)  # type: ignore[misc]
            own = annotated.is_of_project(found)
            later = set_later(self.files.root, self.files.path, found.__name__, self.sites, self.module) if own else {}
            if foreign.needs_no_arguments(found):
                plain = BuiltSpec(f"{found.__name__}()", SymbolicValue(found), make=found)
                return self._written(name, SymbolicValue(found, attributes=later)) if later else plain
            if own and signatures.known_parameters(found) is not None:
                args, kwargs = next(self.sites.anywhere(found.__name__), ([], {}))
                return self._written(name, SymbolicValue(found, tuple(args), kwargs, later))
        is_module = demand.has_weights or not {"module", "callable"}.isdisjoint(demand.roles)
        asked = "configuration" in demand.roles and demand.fields and not is_module
        table = kind is not None and annotated.is_of_project(kind) and issubclass(kind, dict)
        if (kind is None and (asked or (called_so and "mapping" not in demand.roles))) or (table and demand.fields):
            return self._options(demand, kind)
        if kind in (None, dict) and "mapping" in demand.roles and not is_module:
            if (written := self.files.fitting(demand)) is not None:
                return self._written_in(written, dict)
            scripted = whole_options_for(demand, self.files)
            return replace(self._written_in(scripted, dict), guessed=True) if scripted is not None else None
        return None

    def _options(self, demand: Demand, kind: type | None) -> ConstantSpec:
        """What a configuration has that no class says: the file's own options, a table of a file, a script's options.

        It is a `kind`, which is a dict, or of no known class. That the class is given the options of that script is a
        guess: nothing is its fault because of them.
        """
        options: Mapping[str, Any] = self.sites.options
        if not demand.fields.keys() <= options.keys():
            if (written := self.files.fitting(demand)) is not None:
                return self._written_in(written, kind)
            scripted = options_for(demand, self.files)
            if scripted is not None and len(demand.fields.keys() & options.keys()) < scripted.covered(demand):
                self.files.used = scripted
                return replace(self._fields(demand, scripted.values, kind), guessed=True)
        return self._fields(demand, options, kind)

    def _written_in(self, written: WrittenConfiguration, kind: type | None) -> BuiltSpec:
        """A configuration as a file of the project has it."""
        if kind is not None:
            text = f"{kind.__name__}({text_of(written.values, vars(self.module))})"
            return BuiltSpec(text, UnknownError, make=lambda: kind(fresh(written.values)))
        text = text_of(in_spaces(written.values), vars(self.module))
        return BuiltSpec(text, UnknownError, make=lambda: configuration_of(written.values))

    def _fields(self, demand: Demand, known: Mapping[str, Any], kind: type | None = None) -> BuiltSpec:
        """A configuration of an unknown class: its fields as options of the file's command line, or by their names."""
        known = {name: value for name, value in known.items() if not demand.asks_of(name).refutes(value)}
        fields = {
            name: self._field(name, inner, known) if name not in known else self._completed(known[name], inner)
            for name, inner in demand.fields.items()
        }
        shape = kind or GuessedConfiguration
        text = text_of(SimpleNamespace(**fields) if kind is None else fields, vars(self.module))
        return BuiltSpec(
            text if kind is None else f"{kind.__name__}({text})",
            UnknownError,
            make=lambda: shape({**known, **{name: fresh(value) for name, value in fields.items()}}),
            guessed=not fields or not fields.keys() <= known.keys(),
        )

    def _completed(self, value: Any, demand: Demand) -> Any:
        """A table that somebody wrote down, with what else is asked of it."""
        known = vars(value) if isinstance(value, ConfigurationTable) else demand.fields
        more = {name: self._field(name, inner, {}) for name, inner in demand.fields.items() if name not in known}
        return ConfigurationTable(**known, **more) if more else value

    def _field(self, name: str, demand: Demand, known: Mapping[str, Any]) -> Any:
        """A field that nobody wrote down: by what the code asks of it, another configuration perhaps.

        `known` are fields that somebody wrote down.
        """
        nested = "configuration" in demand.roles and demand.fields and "module" not in demand.roles
        item = demand.item or Demand()
        if (data := data_for(demand, known, 0, name)) is not None:
            return SymbolicValue(data.make, text=data.text)
        if (number := demand.number_given_back) is not None:
            return SymbolicValue(functools.partial, (int, constructor_value(name, "", {}, self.alternative, number)))
        if nested and "sequence" not in demand.roles and not is_device(name, demand):
            return SimpleNamespace(**{key: self._field(key, inner, known) for key, inner in demand.fields.items()})
        if "sequence" in demand.roles and (item.fields or "array" in item.roles):
            return [self._field(name.rstrip("s"), item, known)] * max(demand.count, _FEWEST_ITEMS)
        value = constructor_value(name, "", {}, self.alternative, demand)
        is_module = isinstance(value, type) and issubclass(value, nn.Module) and "factory" not in demand.roles
        return SymbolicValue(value) if is_module else value

    def _module(self, kind: type[nn.Module]) -> BuiltSpec:
        """A module as an argument: as the file builds one, or by the same rules; not too deep."""
        if kind is nn.Module or inspect.isabstract(kind) or self.depth > 3:
            return BuiltSpec("torch.nn.Identity()", UnknownError, make=nn.Identity, guessed=True)
        args, kwargs = next(self.sites.of(kind.__name__), ([], {}))
        return self._built(SymbolicValue(kind, tuple(args), kwargs), True)

    def _built(self, value: SymbolicValue, own: bool) -> BuiltSpec:
        """An instance from what is known of its arguments; of the project's own classes, the others are invented."""
        builder = _Builder(self.module, self.sites, value.kind, self.files, self.depth + 1)
        builder.alternative = self.alternative
        parameters = signatures.known_parameters(value.kind) if own and self.depth <= _DEEPEST else None
        if parameters is not None:
            inner = builder.bound(parameters, list(value.args), value.kwargs, "")
        else:
            given = [SpecArgument("", builder._written("", item)) for item in value.args]
            given += [SpecArgument(name, builder._written(name, item), True) for name, item in value.kwargs.items()]
            inner = Construction(tuple(given))
        written = ", ".join(
            f"{item.name}={item.spec.text}" if item.keyword or not value.args else item.spec.text
            for item in inner.arguments
            if isinstance(item.spec, ConstantSpec)
        )
        guessed = bool(inner.invented) or any(getattr(item.spec, "guessed", False) for item in inner.arguments)
        return BuiltSpec(
            value.text if value.text and not guessed else f"{text_of(value.kind, {})}({written})",
            value,
            make=lambda: made(value, *inner.given()),
            guessed=guessed,
        )


def _lacks_more(value: SymbolicValue) -> bool:
    """Whether an instance is given what nobody knows (`Part(**options)`), and is no configuration that has defaults.

    Those are what the file has where nobody gives it anything at all.
    """
    kind = value.kind
    defaults = isinstance(kind, type) and signatures.is_configuration(kind) and foreign.needs_no_arguments(kind)
    return value.more and not defaults
