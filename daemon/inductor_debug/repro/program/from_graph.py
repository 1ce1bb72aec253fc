"""Graphs that Dynamo or a backend holds as programs: every node a step, every constant an input.

Bodies of higher-order operators that run once are taken in line, others become functions among the arguments. What has
no form as ordinary code (objects among the arguments) is refused with its name. Private names: `example_value` and
`val` in the metadata of nodes, torch 2.11 to 2.13.
"""

from __future__ import annotations

import dataclasses
import operator as python_operators
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket
from torch.fx import GraphModule, Node

from inductor_debug.capture.graphs.graph_arguments import GraphArgument
from inductor_debug.repro.program.literals import UnprintableError
from inductor_debug.repro.program.program import Body, CodeText, Input, Program, ProgramStep, Ref, StepKind
from inductor_debug.repro.program.program_execution import named, spec_of
from inductor_debug.repro.program.value_names import ValueNames

_RUNS_BODY_ONCE = frozenset({"tag_activation_checkpoint", "wrap_activation_checkpoint", "wrap", "invoke_subgraph"})
_HOMES = ("torch", "torch.nn.functional", "torch._C._nn", "torch._C._fft", "torch._C._linalg", "torch._C._special")


def program_of_graph(
    graph_module: GraphModule, example_inputs: Sequence[Any] = (), arguments: Sequence[GraphArgument] = ()
) -> Program:
    """The graph as a program.

    Args:
        graph_module: the graph.
        example_inputs: values of its placeholders, in order; without them the examples in its metadata are used.
        arguments: what the placeholders are to the user, in order, as far as it is known.

    Raises:
        UnprintableError: a node has no form as ordinary code; the message names it.
    """
    return _Conversion().run(graph_module, example_inputs, arguments)


def constants_of(graph_module: GraphModule) -> dict[str, torch.Tensor]:
    """The tensors that the graph carries with it, by the name of their node."""
    found = {}
    for node in graph_module.graph.nodes:
        if node.op == "get_attr":
            value = python_operators.attrgetter(str(node.target))(graph_module)
            if isinstance(value, torch.Tensor):
                found[node.name] = value
    return found


class _Conversion:
    def __init__(self) -> None:
        self._taken = ValueNames()
        self._values: dict[Node, Any] = {}
        self._inputs: list[Input] = []
        self._steps: list[ProgramStep] = []
        self._shared: dict[int, str] = {}

    def run(
        self, graph_module: GraphModule, example_inputs: Sequence[Any], arguments: Sequence[GraphArgument]
    ) -> Program:
        examples, told = iter(example_inputs), iter(arguments)
        for node in graph_module.graph.nodes:
            if node.op == "placeholder":
                self._placeholder(node, next(examples, _example(node)), next(told, None))
        outputs = self._body(graph_module)
        return Program(tuple(self._inputs), tuple(self._steps), tuple(dict.fromkeys(outputs)))

    def _placeholder(self, node: Node, value: Any, told: GraphArgument | None) -> None:
        plain = str(node.name).removeprefix("l_").removeprefix("self_").strip("_")
        name = self._taken.take(plain if told is None else told.name)
        origin = f"{told.role.value} {told.name}" if told is not None else f"input {name}"
        self._values[node] = Ref(name)
        if isinstance(value, torch.Tensor):
            if id(value) in self._shared:
                self._values[node] = Ref(self._shared[id(value)])
                return
            self._shared[id(value)] = name
            self._inputs.append(_input(name, node, value, origin))
        else:
            literal = int(value) if isinstance(value, torch.SymInt) else value
            self._inputs.append(Input(name, None, literal=literal, source=name))

    def _body(self, graph_module: GraphModule) -> list[str]:
        """Converts all nodes but placeholders, whose values are known; the names that the graph returns."""
        for node in graph_module.graph.nodes:
            if node.op == "output":
                return [ref.name for ref in _leaves(self._given(node.args[0])) if isinstance(ref, Ref)]
            if node.op == "get_attr":
                self._constant(node, graph_module)
            elif node.op != "placeholder":
                self._step(node)
        return []

    def _constant(self, node: Node, graph_module: GraphModule) -> None:
        value = python_operators.attrgetter(str(node.target))(graph_module)
        if isinstance(value, GraphModule):
            self._values[node] = value
            return
        if not isinstance(value, torch.Tensor):
            raise UnprintableError(f"the {type(value).__name__} that the graph calls {node.target}")
        name = self._taken.take(node.name)
        self._values[node] = Ref(name)
        self._inputs.append(_input(name, node, value, f"constant {name}"))

    def _step(self, node: Node) -> None:
        if isinstance(node.target, HigherOrderOperator):
            self._higher_order(node)
        else:
            self._call(node, *_target(node))

    def _call(self, node: Node, kind: StepKind, target: str) -> None:
        args = tuple(self._as_argument(item) for item in node.args)
        kwargs = tuple((name, self._as_argument(item)) for name, item in node.kwargs.items())
        name = self._taken.take(node.name)
        self._values[node] = Ref(name)
        example = _example(node)
        spec = spec_of(example) if isinstance(example, torch.Tensor) else None
        written = (args[0].name,) if _writes(node) and args and isinstance(args[0], Ref) else ()
        place, module = _origin(node)
        step = ProgramStep(kind, target, args, kwargs, (name,), (spec,), mutates=written, place=place, module=module)
        self._steps.append(dataclasses.replace(step, node=node.name))

    def _higher_order(self, node: Node) -> None:
        name = str(node.target)
        if name not in _RUNS_BODY_ONCE:
            target = f"torch.ops.higher_order.{name}"
            try:
                known = named(target) is node.target
            except LookupError:
                known = False
            if not known:
                raise UnprintableError(f"the higher-order operator {name}")
            self._call(node, StepKind.FUNCTION, target)
            return
        bodies = [item for item in map(self._given, node.args) if isinstance(item, GraphModule)]
        if len(bodies) != 1:
            raise UnprintableError(f"the higher-order operator {name}")
        placeholders = [item for item in bodies[0].graph.nodes if item.op == "placeholder"]
        operands = [item for item in map(self._given, node.args) if not isinstance(item, (GraphModule, str))]
        if len(operands) != len(placeholders):
            raise UnprintableError(f"the higher-order operator {name}")
        self._values.update(zip(placeholders, operands, strict=True))
        outputs = self._body(bodies[0])
        self._values[node] = tuple(Ref(item) for item in outputs)

    def _as_argument(self, value: Any) -> Any:
        """What a call is given: graphs as functions."""
        if isinstance(value, Node) and isinstance(self._values[value], GraphModule):
            return _function(self._taken.take(value.name), self._values[value])
        return self._given(value)

    def _given(self, value: Any) -> Any:
        if isinstance(value, Node):
            return self._values[value]
        if isinstance(value, (tuple, list)):
            items = [self._given(item) for item in value]
            return items if isinstance(value, list) else tuple(items)
        if isinstance(value, dict):
            return {name: self._given(item) for name, item in value.items()}
        return literal_of(value)


def _function(name: str, graph_module: GraphModule) -> Body:
    """A graph as a function, which has nothing but its arguments.

    Raises:
        UnprintableError: it has constants of its own, or a node without a form as ordinary code.
    """
    conversion = _Conversion()
    program = conversion.run(graph_module, (), ())
    placeholders = [node for node in graph_module.graph.nodes if node.op == "placeholder"]
    if len(placeholders) != len(program.inputs):
        raise UnprintableError(f"the body {name} of a higher-order operator, which takes more than it says")
    (output,) = [node for node in graph_module.graph.nodes if node.op == "output"]
    return Body(name, program, conversion._given(output.args[0]))


def _target(node: Node) -> tuple[StepKind, str]:
    if node.op == "call_method":
        return StepKind.METHOD, str(node.target)
    if isinstance(node.target, OpOverload):
        return StepKind.OPERATOR, str(node.target)
    if isinstance(node.target, OpOverloadPacket) and list(node.target) == ["default"]:
        return StepKind.OPERATOR, str(node.target.default)  # an operator of the project's own, as Dynamo calls it
    if node.op == "call_function":
        return StepKind.FUNCTION, name_of(node.target)
    raise UnprintableError(f"the node {node.name} ({node.op})")


def name_of(function: Any) -> str:
    """The dotted name under which `function` is found again.

    Raises:
        UnprintableError: it is in no module under its own name, or not in torch or the standard library.
    """
    short = getattr(function, "__name__", "")
    if getattr(python_operators, short, None) is function:
        return f"operator.{short}"
    full = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', short)}"
    for candidate in (*(f"{home}.{short}" for home in _HOMES), full):
        try:
            found = named(candidate)
        except LookupError:
            continue
        if found is function and candidate.split(".")[0] in ("torch", "math", "operator", "_operator", "builtins"):
            return candidate
    raise UnprintableError(f"the function {full}, which is not torch's own")


def literal_of(value: Any) -> Any:
    """A plain value, dtype, device or slice as it stands in arguments.

    Raises:
        UnprintableError: it is none of these.
    """
    if isinstance(value, torch.SymInt):
        return int(value)
    if value is None or isinstance(value, (bool, int, float, complex, str, GraphModule)):
        return value
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
        return CodeText(str(value))
    if isinstance(value, torch.device):
        return CodeText(f'torch.device("{value}")')
    if value is Ellipsis:
        return CodeText("...")
    if isinstance(value, slice):
        parts = [literal_of(part) for part in (value.start, value.stop, value.step)]
        if all(part is None or isinstance(part, int) for part in parts):
            return CodeText(f"slice({parts[0]}, {parts[1]}, {parts[2]})")
    raise UnprintableError(f"a {type(value).__name__} among the arguments")


def _writes(node: Node) -> bool:
    name = str(node.target) if node.op == "call_method" else getattr(node.target, "__name__", "")
    if isinstance(node.target, OpOverload):
        return bool(node.target._schema.is_mutable)
    if node.kwargs.get("inplace") is True:
        return True
    return (name.endswith("_") and not name.endswith("__")) or name in ("setitem", "iadd", "imul", "isub", "itruediv")


def _example(node: Node) -> Any:
    value = node.meta.get("example_value")
    return node.meta.get("val") if value is None else value


def _input(name: str, node: Node, value: torch.Tensor, origin: str) -> Input:
    spec = spec_of(value)
    if spec is None:
        raise UnprintableError(f"the input {node.name}, a tensor without strides or with symbolic sizes")
    return Input(name, spec, source=name, origin=origin, bound=1)


def _leaves(value: Any) -> Iterable[Any]:
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    else:
        yield value


def _origin(node: Node) -> tuple[str, str]:
    """`model.py:12` and the dotted module path, as far as the node's metadata tell."""
    place = ""
    for line in str(node.meta.get("stack_trace") or "").splitlines():
        if line.strip().startswith('File "') and ", line " in line:
            path, _, rest = line.strip()[6:].partition('", line ')
            place = f"{path.replace(chr(92), '/').rsplit('/', 1)[-1]}:{rest.split(',')[0].strip()}"
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    return place, str(stack[-1][0]) if stack else ""
