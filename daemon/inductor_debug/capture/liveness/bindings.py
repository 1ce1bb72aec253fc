"""Which variables of a call hold which tensors, and from when until when.

Nobody looked into the running frames: that would have kept their tensors alive. What a statement assigns is told by
what it made and left alive; what a function was given, by the recording for modules, and by the caller's text for
everything else. Where more than one answer is left, a tensor stays without a name.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from inductor_debug.capture.liveness.activations import Activations, FunctionRun, StatementRun
from inductor_debug.capture.liveness.code import FunctionCode, parameters_of
from inductor_debug.rules.recording.ops import Lifetimes, Recording

Targets = list[str]


@dataclass(slots=True)
class TensorBinding:
    """The variable `name` of a call holds a value from `since` ops on until `until` (None: until the call ends)."""

    call: int
    name: str
    value: int
    since: int
    until: int | None = None


class Bindings:
    """All bindings of a recording.

    Args:
        recording: what ran.
        lifetimes: when its tensors went away.
        activations: the calls and statements that it was cut into.
    """

    def __init__(self, recording: Recording, lifetimes: Lifetimes, activations: Activations) -> None:
        self._ops = recording.ops
        self._ends = lifetimes.values
        self._activations = activations
        self.found: list[TensorBinding] = []
        self._present: list[dict[str, TensorBinding]] = [{} for _ in activations.calls]
        inputs = {origin.name: value for value, origin in recording.origins.items() if origin.kind == "input"}
        for number, call in enumerate(activations.calls):
            if call.caller < 0:
                self._receive(number, call, _arguments(call) or inputs)
        for number, run in enumerate(activations.runs):  # in the order in which they began
            for called in run.calls:
                call = activations.calls[called]
                self._receive(called, call, _arguments(call) if call.own else self._passed(call, run))
            if not run.calls:
                self._assign(run)
            self._after(number)

    def named(self, call: int, name: str) -> int | None:
        """What a variable of a call holds now, while the bindings are made."""
        binding = self._present[call].get(name)
        return None if binding is None else binding.value

    def _after(self, number: int) -> None:
        """Statements that called functions of the user's assign once those have ended."""
        runs = self._activations.runs
        following = runs[number + 1].first if number + 1 < len(runs) else len(self._ops)
        caller = self._activations.calls[runs[number].call].caller
        while caller >= 0 and runs[caller].last <= following:
            self._assign(runs[caller])
            caller = self._activations.calls[runs[caller].call].caller

    def _bind(self, call: int, name: str, value: int, since: int) -> None:
        before = self._present[call].get(name)
        if before is not None and before.value == value:
            return
        if before is not None:
            before.until = since
        binding = TensorBinding(call, name, value, since)
        self._present[call][name] = binding
        self.found.append(binding)

    def _receive(self, number: int, call: FunctionRun, given: dict[str, int]) -> None:
        """Binds the parameters of a call."""
        for name, value in given.items():
            self._bind(number, name, value, call.first)

    def _passed(self, call: FunctionRun, run: StatementRun) -> dict[str, int]:
        """What the caller's text passes to a plain function."""
        if call.function is None:
            return {}
        path = self._activations.paths[call.first]
        frame = path[call.depth - 1]
        code = self._activations.code_of(frame.location.path)
        node = None if code is None else code.expression(frame.location.range)
        if code is None or not isinstance(node, ast.Call):
            return {}
        names = parameters_of(call.function)
        if names and isinstance(node.func, ast.Attribute) and names[0] in ("self", "cls"):
            names = names[1:]
        pairs = [*zip(names, node.args, strict=False), *((word.arg, word.value) for word in node.keywords)]
        found: dict[str, int] = {}
        for name, argument in pairs:
            if isinstance(argument, ast.Starred):
                break
            value = self._value_of(argument, code, run, call)
            if name is not None and value is not None:
                found[name] = value
        return found

    def _value_of(self, argument: ast.expr, code: FunctionCode, run: StatementRun, call: FunctionRun) -> int | None:
        if isinstance(argument, ast.Name):
            return self.named(run.call, argument.id)
        span, depth = code.range(argument), call.depth - 1
        for op in range(call.first - 1, run.first - 1, -1):
            path = self._activations.paths[op]
            if len(path) > depth and path[depth].location.range == span and self._ops[op].outputs:
                return self._ops[op].outputs[0].value
        return None

    def _assign(self, run: StatementRun) -> None:
        """Binds the variables that a statement assigns to what it made and left alive."""
        if run.statement is None:
            return
        targets, value = _assigned(run.statement.node)
        made = self._left_alive(run)
        if targets is None or value is None or not made:
            return
        if len(targets) == 1:
            self._bind(run.call, targets[0], made[-1][1], run.last)
            return
        results = self._results(run, value, made)
        if len(results) == len(targets):
            for name, one in zip(targets, results, strict=True):
                self._bind(run.call, name, one, run.last)

    def _results(self, run: StatementRun, value: ast.expr, made: list[tuple[int, int]]) -> list[int]:
        """What the parts of a sequence are: the results of its last op, or what a comprehension or a tuple made."""
        call = self._activations.calls[run.call]
        code = self._activations.code_of(call.frame.location.path)
        if code is None:
            return []
        paths = self._activations.paths
        spans = [(paths[op][call.depth].location.range, one) for op, one in made]
        if isinstance(value, ast.GeneratorExp | ast.ListComp):
            return [one for span, one in spans if span == code.range(value.elt)]
        if isinstance(value, ast.Tuple):
            last_in = dict(spans)
            return [last_in[span] for part in _parts(value) if (span := code.range(part)) in last_in]
        return [one for op, one in made if op == made[-1][0]]

    def _left_alive(self, run: StatementRun) -> list[tuple[int, int]]:
        """The values, with their ops, that a statement made and that outlive it, in that order."""
        known: set[int] = set()
        found: list[tuple[int, int]] = []
        for index in range(run.first, run.last):
            op = self._ops[index]
            for meta in op.outputs:
                if meta.value in known or meta.value in op.mutates:
                    continue
                known.add(meta.value)
                if self._ends.get(meta.value, len(self._ops) + 1) > run.last:
                    found.append((index, meta.value))
        return found


def _arguments(call: FunctionRun) -> dict[str, int]:
    """What the recording says that a module was given."""
    return {} if call.module is None else call.module.arguments


def _assigned(node: ast.stmt) -> tuple[Targets | None, ast.expr | None]:
    """The variables and attributes that a statement assigns, in order, and what it assigns."""
    if isinstance(node, ast.Assign):
        names = [_names(target) for target in node.targets]
        return next((one for one in names if one), None), node.value
    if isinstance(node, ast.AnnAssign | ast.AugAssign):
        return _names(node.target), node.value
    return None, None


def _parts(value: ast.Tuple) -> list[ast.expr]:
    """The parts of a tuple that is written out, and of those in it."""
    return [inner for part in value.elts for inner in (_parts(part) if isinstance(part, ast.Tuple) else [part])]


def _names(target: ast.expr) -> Targets | None:
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, ast.Attribute):
        return [ast.unparse(target)]
    if isinstance(target, ast.Tuple | ast.List):
        inner = [_names(part) for part in target.elts]
        return None if None in inner else [name for part in inner if part for name in part]
    return None
