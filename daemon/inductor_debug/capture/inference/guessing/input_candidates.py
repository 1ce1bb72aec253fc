"""Puts all evidence of one callable together: for each argument the values it may have, likeliest first.

Evidence, strongest first: shapes in annotations, how the code uses the argument (`usage`), shapes in docstrings and
comments, names. Nothing is run here but methods that make states (`made_states`).
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from torch import nn

from inductor_debug.capture.inference.guessing import object_arguments
from inductor_debug.capture.inference.guessing.constant_arguments import constants
from inductor_debug.capture.inference.guessing.extents import built_of, sized_plan
from inductor_debug.capture.inference.guessing.made_states import made_by
from inductor_debug.capture.inference.guessing.shaping import fits, ordered, tidy
from inductor_debug.capture.inference.guessing.spread_calls import HandedOn, handed_on, optional_keys
from inductor_debug.capture.inference.guessing.written_shapes import (
    WrittenShape,
    comments_of,
    definite_shape,
    input_shape,
    section_of,
    shape_in_annotation,
    shape_in_text,
)
from inductor_debug.capture.inference.specs import argument_names
from inductor_debug.capture.inference.specs.call_plan import GENERIC, CallPlan, Parameter
from inductor_debug.capture.inference.specs.specs import (
    Dimension,
    MappingSpec,
    ObjectSpec,
    SequenceSpec,
    Spec,
    TensorSpec,
)
from inductor_debug.capture.inference.usage.usage import IMAGE_RANK, Usage
from inductor_debug.capture.inference.usage.walk import usages
from inductor_debug.capture.inference.values.function_syntax import function_tree, source_lines
from inductor_debug.capture.runtime import foreign

_KINDS = inspect.Parameter
_OF_LABELS: dict[int, tuple[Dimension, ...]] = {2: ("B", "T"), 3: ("B", "H", "W"), 4: ("B", "F", "H", "W")}
_MOST_ELEMENTS = 16
_DEEPEST = 4
"""How often what is given is followed from one function to the next that it is handed on to."""


class NoSignatureError(TypeError):
    """Nobody can tell which arguments something takes."""


def plan_for(
    subject: Any,
    hints: tuple[int, ...] = (),
    given: Mapping[str, int] | None = None,
    image_sides: tuple[tuple[int, int], ...] = (),
) -> CallPlan:
    """The plan for a model or a function.

    Args:
        subject: the built model, or a function.
        hints: integers of the constructor that look like sizes of images or lengths.
        given: what the constructor was given, by name, which texts may call sizes by.
        image_sides: heights and widths of images that the constructor was given.

    Raises:
        NoSignatureError: it has no signature.
    """
    owner = subject if isinstance(subject, nn.Module) else None
    parameters, open_ended = _parameters(subject.forward if owner is not None else subject, owner, given or {})
    if not any(item.required for item in parameters) and parameters:
        _require_one(parameters)
    plan = sized_plan(parameters, owner, hints, image_sides)
    plan.open_ended = open_ended
    plan.built_of = built_of(subject, given or {})
    return plan


def _parameters(
    function: Any, owner: nn.Module | None, given: Mapping[str, int], deeper: int = _DEEPEST
) -> tuple[list[Parameter], bool]:
    """The arguments of a function, and whether there may be any number more.

    Raises:
        NoSignatureError: it has no signature.
    """
    signature = foreign.signature_of(function)
    if signature is None:
        raise NoSignatureError("it has no signature")
    reader = _Reader(function, owner, given)
    handed, others, others_more = _handed_on(reader, function, owner, given, deeper)
    parameters: list[Parameter] = []
    skipped = open_ended = False
    for item in signature.parameters.values():
        if item.kind is _KINDS.VAR_KEYWORD:
            parameters += reader.named(item)
            known = {parameter.name for parameter in parameters}
            by_name = handed is not None and handed.by_name
            parameters += [replace(other, keyword=True) for other in others if by_name and other.name not in known]
            continue
        required = item.default is _KINDS.empty
        if item.kind is _KINDS.VAR_POSITIONAL:
            if handed is not None and handed.by_position:
                parameters += [other for other in others if other.required and not other.keyword]
                open_ended = others_more
                continue
            open_ended = True
            if reader.takes_items(item.name) or not any(known.required for known in parameters):
                parameters += reader.variadic(item)
            continue
        keyword = item.kind is _KINDS.KEYWORD_ONLY or skipped
        made = tuple(made_by(owner, item.name)) if owner is not None else ()
        candidates = list(dict.fromkeys([*made, *reader.candidates(item)]))
        parameters.append(Parameter(item.name, candidates, keyword, required, made, reader.written(item.name)))
        skipped = skipped or not required
    return parameters, open_ended


def _handed_on(
    reader: _Reader, function: Any, owner: nn.Module | None, given: Mapping[str, int], deeper: int
) -> tuple[HandedOn | None, list[Parameter], bool]:
    """What is called with all that a function is given, what that takes besides, and whether it takes any number."""
    handed = handed_on(reader.tree, function, owner) if deeper else None
    if handed is None:
        return None, [], False
    try:
        takes, more = _parameters(handed.called, handed.owner, given, deeper - 1)
    except NoSignatureError:
        return None, [], False
    positional = [item for item in takes if not item.keyword][handed.before :]
    named = [item for item in takes if item.keyword]
    own = {item.arg for item in reader.tree.args.args} if reader.tree is not None else set()
    taken = handed.named | own
    return handed, [item for item in (*positional, *named) if item.name not in taken], more


def _require_one(parameters: list[Parameter]) -> None:
    """Where everything may be left out, the first argument that is a tensor is given."""
    tensors = [item for item in parameters if any(isinstance(spec, TensorSpec) for spec in item.candidates)]
    if tensors:
        tensors[0].required = True
        for item in parameters[: parameters.index(tensors[0])]:
            tensors[0].keyword = tensors[0].keyword or not item.required


class _Reader:
    """Reads the evidence of one callable."""

    def __init__(self, function: Any, owner: nn.Module | None, given: Mapping[str, int]) -> None:
        self.owner, self.given = owner, given
        self.tree = function_tree(function)
        self.usages = usages(function, owner)
        document = inspect.getdoc(function) or ""
        if owner is not None and "torch.nn" not in type(owner).__module__:
            document += "\n\n" + (type(owner).__doc__ or "")
        self.comments = comments_of(source_lines(function))
        self.document = document
        self.within: list[tuple[Any, Usage]] = []
        self.annotations = self._annotations()
        self.namespace = foreign.globals_of(foreign.plain_function(function))

    def _annotations(self) -> dict[str, ast.expr]:
        if self.tree is None:
            return {}
        arguments = self.tree.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        return {item.arg: item.annotation for item in every if item.annotation is not None}

    def candidates(self, parameter: inspect.Parameter) -> list[Spec]:
        """Values for one parameter, likeliest first; never empty."""
        name = parameter.name
        usage = self.usages.get(name, Usage())
        if self.owner is not None and name in self.owner._modules:
            usage = replace(usage, roles=[role for role in usage.roles if role != "callable"])  # `self.` was forgotten
        annotation = self.annotations.get(name)
        text = ast.unparse(annotation) if annotation is not None else ""
        plain = constants(parameter, usage, text)
        tensors = self._tensors(name, usage, annotation, text)
        with self._section(name):
            containers = [*self._objects(usage), *self._containers(name, usage, text)]
        said = text.strip("'\"") in ("int", "float", "bool", "str")
        shown = usage.specs or "tensor" in usage.roles or "Tensor" in text or self._told(name) is not None
        tensorless = plain and (said or not shown)
        ordered: list[Spec] = [*containers, *plain, *tensors] if tensorless else [*containers, *tensors, *plain]
        return list(dict.fromkeys([*ordered, *(() if containers else self._perhaps_several(name, usage))]))

    def _perhaps_several(self, name: str, usage: Usage) -> Iterator[Spec]:
        """A tuple of what is picked by its number, `targets[0]` and `targets[1]`, where a tensor may be as well."""
        picked = [key for key in usage.parts if isinstance(key, int)]
        if len(picked) > 1 and sorted(picked) == list(range(len(picked))):
            yield SequenceSpec(self._items(name, usage.elements(), min(len(picked), _MOST_ELEMENTS)))

    def written(self, name: str) -> tuple[str, ...] | None:
        """The shape that the text states for a parameter, where it leaves no doubt."""
        return definite_shape(name, self.document, self.annotations.get(name))

    def takes_items(self, name: str) -> bool:
        """Whether `*rest` must have something in it: `rest[0]` is read, and nobody asks whether it is there."""
        asked = [node.test for node in ast.walk(self.tree) if isinstance(node, ast.If | ast.IfExp)] if self.tree else []
        spoken_of = (node.id for test in asked for node in ast.walk(test) if isinstance(node, ast.Name))
        parts = self.usages.get(name, Usage()).parts
        return any(isinstance(key, int) for key in parts) and name not in spoken_of

    def variadic(self, parameter: inspect.Parameter) -> list[Parameter]:
        """Arguments for `*inputs`: as many as are unpacked, or one."""
        usage = self.usages.get(parameter.name, Usage())
        count = usage.count or (
            2 if usage.iterated else max([1, *(key + 1 for key in usage.parts if isinstance(key, int))])
        )
        found = []
        for index in range(count):
            part = usage.parts.get(index, usage.parts.get(0, Usage()))
            specs: list[Spec] = list(self._tensors(parameter.name, part, None, ""))
            found.append(Parameter(f"{parameter.name}[{index}]", specs, False, True))
        return found

    def named(self, parameter: inspect.Parameter) -> list[Parameter]:
        """Arguments for `**inputs`: those that are looked up in it."""
        parts = self.usages.get(parameter.name, Usage()).parts
        keys, optional = [key for key in parts if isinstance(key, str)], optional_keys(self.tree)
        return [Parameter(key, [self._element(key, parts[key])], True, key not in optional) for key in keys]

    def _tensors(self, name: str, usage: Usage, annotation: ast.expr | None, text: str) -> list[TensorSpec]:
        dtype = argument_names.dtype_in(text)
        written = shape_in_annotation(annotation)
        found: list[TensorSpec] = []
        if written is not None:
            found.append(self._named(name, written, usage, dtype))
        told = self._told(name)
        if told is not None:
            found.append(self._named(name, told, usage, dtype))
        state = self._state(name)
        if state is not None and not usage.specs:
            found.append(state)
        by_name = self._by_name(name, usage)
        said = by_name[0].dtype if by_name and usage.cast else None
        known = [_labels(spec, usage.minimum) for spec in ordered(usage, argument_names.specs_for(name))]
        found += [self._sized(name, replace(spec, dtype=said or spec.dtype)) for spec in known]
        integers = bool(by_name) and by_name[0].dtype == "int64"
        if integers and usage.specs and all(spec.dtype == "int64" for spec in usage.specs):
            found[:0] = [spec for spec in by_name if spec.dtype == "int64" and fits(spec, usage)][:1]
        elif not usage.specs or (by_name and by_name[0].dtype != "float32"):
            found += [spec for spec in by_name if fits(spec, usage)]
        if not usage.specs and IMAGE_RANK in usage.likely and by_name and len(by_name[0].dims) != IMAGE_RANK:
            found[:0] = [TensorSpec(("B", 1, "H", "W"))]  # a mask beside an image
        for rank in (*usage.ranks, *range(max(usage.minimum, 2), 5), 1):
            if rank in GENERIC:
                found.append(_with_names(TensorSpec(GENERIC[rank]), usage, self))
        found += by_name
        if dtype is not None:
            found = [replace(spec, dtype=dtype) for spec in found] + found
        if argument_names.is_lengths(name):
            found = [replace(spec, filled="T") if spec.dtype == "int64" else spec for spec in found]
        return [tidy(spec) for spec in dict.fromkeys(found)]

    def _told(self, name: str) -> WrittenShape | None:
        """The shape that prose gives an argument."""
        told = shape_in_text(name, self.document) or shape_in_text(name, self.comments)
        return input_shape(self.document) if told is None and name in ("x", "input", "inputs") else told

    def _by_name(self, name: str, usage: Usage) -> list[TensorSpec]:
        """What the name says; a target that is never used as an index is more likely compared with numbers."""
        found = argument_names.specs_for(name)
        if argument_names.is_target(name) and not usage.indexes and not usage.specs and self.owner is not None:
            found = [TensorSpec(("B", "K")), *found]
        return found

    def _sized(self, name: str, spec: TensorSpec) -> TensorSpec:
        """A last dimension that is unknown may be an attribute: `state_dim` for `state`."""
        if not spec.dims or not str(spec.dims[-1]).startswith("?") or self.owner is None:
            return spec
        for pattern in ("{}_dim", "{}_size", "{}_features", "{}_channels", "dim_{}", "n_{}", "num_{}"):
            size = foreign.attribute(self.owner, pattern.format(name))
            if isinstance(size, int) and size > 0:
                return replace(spec, dims=(*spec.dims[:-1], size))
        return spec

    def _named(self, name: str, written: WrittenShape, usage: Usage, dtype: str | None) -> TensorSpec:
        """A written shape with its names resolved, completed by what the code shows."""
        words = written.dims
        if words[0] in ("N", "n") and len(words) != 2:
            words = ("B", *words[1:])
        dims: list[Dimension] = [self.resolve(word) for word in words]
        known = next((spec for spec in usage.specs if len(spec.dims) == len(dims)), None)
        if known is not None:
            for index, dim in enumerate(known.dims):
                if isinstance(dim, int) and not isinstance(dims[index], int):
                    dims[index] = dim
        spoken = written.dtype or dtype or (known.dtype if known is not None and not usage.cast else None)
        if spoken is None and usage.specs and not usage.cast:
            spoken = usage.specs[0].dtype
        if spoken is None and not (argument_names.is_target(name) and words[-1].isdigit()):
            spoken = next((spec.dtype for spec in argument_names.specs_for(name) if len(spec.dims) == len(dims)), None)
        counted = "int64" if argument_names.is_lengths(name) else None
        return TensorSpec(tuple(dims), spoken or counted or "float32")

    def resolve(self, name: str) -> Dimension:
        """As written: a number, an attribute of the model, the name of a free size, an argument of the constructor."""
        if name.isdigit():
            return int(name)
        last = name.rpartition(".")[2]
        if not argument_names.is_batch(last):
            for source in (self.owner, foreign.attribute(self.owner, "config"), foreign.attribute(self.owner, "cfg")):
                for spelling in argument_names.spellings(last):
                    value = foreign.namespace(source).get(spelling)
                    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                        return value
        named = argument_names.canonical(last) or self.given.get(last)
        return named or (last if last.isidentifier() else "D")

    def _state(self, name: str) -> TensorSpec | None:
        """The state of the first recurrent module in the model."""
        if self.owner is None or not argument_names.is_state(name):
            return None
        for part in foreign.parts_of(self.owner):
            if isinstance(part, nn.RNNBase):
                layers = part.num_layers * (2 if part.bidirectional else 1)
                return TensorSpec((layers, "B", part.hidden_size))
            if isinstance(part, nn.RNNCellBase):
                return TensorSpec(("B", part.hidden_size))
        return None

    def _containers(self, name: str, usage: Usage, text: str) -> list[Spec]:
        keys = [key for key in usage.parts if isinstance(key, str)]
        if keys:
            every = tuple((key, self._element(key, usage.parts[key])) for key in keys)
            needed = tuple(item for item in every if item[0] not in usage.asked_keys)
            known: list[Spec] = [MappingSpec(needed or every), MappingSpec(every)]
            return list(dict.fromkeys(known))
        if usage.spread:
            return [MappingSpec(())]
        if usage.mapped:
            values = usage.elements() or [Usage()] * 2
            return [MappingSpec(tuple((str(number), self._element("", part)) for number, part in enumerate(values)))]
        if any(spec.dims[:1] == (usage.count,) for spec in argument_names.specs_for(name)):
            return []
        said = text.replace("typing.", "").replace("Optional[", "")
        is_list = said.lower().startswith(("list", "sequence", "iterable"))
        is_tuple = said.lower().startswith("tuple")
        in_code = usage.count is not None or usage.iterated or usage.holds_images()
        if not (in_code or is_list or is_tuple) or (usage.specs and usage.count is None):
            return []
        elements = usage.elements()
        count = len(elements) if usage.count or len(elements) > 1 else 2
        count = said.count("Tensor") if is_tuple and said.count("Tensor") > 1 else count
        items = self._items(name, elements, min(count, _MOST_ELEMENTS))
        return [SequenceSpec(items, is_list or (not is_tuple and (usage.iterated or usage.count is None)))]

    @contextlib.contextmanager
    def _section(self, name: str) -> Iterator[None]:
        """Meanwhile the docstring is what it says of one argument, for the parts of which names do not tell whose."""
        whole = self.document
        self.document = section_of(name, whole, self.usages.keys() - {name})
        try:
            yield
        finally:
            self.document = whole

    def _objects(self, usage: Usage) -> Iterator[Spec]:
        """Instances of a class of the project, or of nothing in particular, for what has attributes of its own."""
        for kind in object_arguments.kinds_for(usage, self.namespace):
            leaf = object_arguments.is_within(kind, usage, self.within)
            self.within.append((kind, usage))
            items = []
            for name in object_arguments.given_to(kind, usage, leaf=leaf):
                part = usage.fields.get(name, Usage())
                known = (object_arguments.ending(part) if leaf else None) or object_arguments.constant(kind, name, part)
                items.append((name, known or self._element(name, part)))
            self.within.pop()
            yield ObjectSpec(kind, tuple(items))

    def _items(self, name: str, elements: list[Usage], count: int) -> tuple[Spec, ...]:
        """The elements of a sequence; one of which the code shows nothing is like one of which it does."""
        first = elements[0] if elements else Usage()
        parts = [elements[index] if index < len(elements) else first for index in range(count)]
        state = self._state(name)
        items = [state if state is not None and not part.specs else self._element(part.called, part) for part in parts]
        pairs = list(zip(items, parts, strict=True))
        shown = next((item for item, part in pairs if part.is_shown() and isinstance(item, TensorSpec)), None)
        return tuple(shown if shown is not None and not part.is_shown() else item for item, part in pairs)

    def _element(self, name: str, usage: Usage) -> Spec:
        containers = itertools.chain(self._objects(usage), self._containers(name, usage, ""))
        found = next(containers, None)
        return found if found is not None else self._tensors(name, usage, None, "")[0]


def _labels(spec: TensorSpec, minimum: int) -> TensorSpec:
    """Labels of positions or pixels, where of labels more dimensions are asked than that there is one for an item."""
    is_label = spec.dims == ("B",) and spec.dtype == "int64"
    return replace(spec, dims=_OF_LABELS.get(minimum, spec.dims)) if is_label else spec


def _with_names(spec: TensorSpec, usage: Usage, reader: _Reader) -> TensorSpec:
    """The dimension names of `b, n, d = x.shape`, where the model has such an attribute."""
    if len(usage.names) != len(spec.dims):
        return spec
    dims = list(spec.dims)
    for index, name in usage.names.items():
        resolved = reader.resolve(name)
        if isinstance(resolved, int) or (resolved in argument_names.DEFAULT_SIZES and resolved not in dims):
            dims[index] = resolved
    return replace(spec, dims=tuple(dims))
