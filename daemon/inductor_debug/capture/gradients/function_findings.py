"""Findings about custom autograd functions, at what their `backward` returns, or where `forward` keeps a tensor."""

from __future__ import annotations

import ast

from inductor_debug_schema import Finding, FunctionGradient, GradientFault, Location, Severity, Stage

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.gradients.derivatives import WrongGradient
from inductor_debug.capture.gradients.function_calls import FunctionCall
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime import foreign
from inductor_debug.rules.words.gradient_words import sentence_of

_RULE = "autograd-function"
_FORWARDS = ("setup_context", "forward")


def gradient_finding(call: FunctionCall, judged: WrongGradient, target: BuiltTarget, sources: SourceMap) -> Finding:
    """The gradient of one argument, which is not the derivative of what `forward` computes."""
    facts = FunctionGradient(call.function.__name__, judged.fault, _name_of(call, judged.argument), judged.factor)
    place = _returned(call, judged.argument, sources) or target.location
    return _finding(facts, place, target)


def kept_findings(call: FunctionCall, target: BuiltTarget, sources: SourceMap, stage: Stage) -> list[Finding]:
    """The tensors that are kept as attributes of the context."""
    name = call.function.__name__
    return [
        _finding(
            FunctionGradient(name, GradientFault.KEPT, kept),
            _assigned(call, kept, sources) or target.location,
            target,
            stage,
        )
        for kept in call.kept
    ]


def _finding(facts: FunctionGradient, place: Location, target: BuiltTarget, stage: Stage = Stage.GRADIENTS) -> Finding:
    meant = facts.gradient_fault in (GradientFault.STRAIGHT_THROUGH, GradientFault.KEPT)
    return Finding(
        rule=_RULE,
        severity=Severity.INFORMATION if meant else Severity.WARNING,
        message=sentence_of(facts),
        path=place.path,
        range=place.range,
        stage=stage,
        target=target.name,
        facts=facts,
    )


def _name_of(call: FunctionCall, number: int) -> str:
    """What `forward` calls an argument of `apply`."""
    code = foreign.code_of(foreign.attribute(call.function, "forward"))
    own = foreign.namespace(call.function).get("setup_context") is not None
    names = code.co_varnames[: code.co_argcount] if code is not None else ()
    at = number if own else number + 1
    return names[at] if at < len(names) else f"argument {number + 1}"


def _returned(call: FunctionCall, number: int, sources: SourceMap) -> Location | None:
    """The expression that is the gradient, in the last `return` of `backward`; else the name of the method."""
    found = _method(call, "backward", sources)
    if found is None:
        return None
    path, method = found
    returns = [node.value for node in ast.walk(method) if isinstance(node, ast.Return) and node.value is not None]
    if not returns:
        return sources.location_of(path, method)
    last = max(returns, key=lambda node: node.lineno)
    if isinstance(last, ast.Tuple) and number < len(last.elts):
        last = last.elts[number]
    return sources.location_of(path, last)


def _assigned(call: FunctionCall, name: str, sources: SourceMap) -> Location | None:
    for method_name in _FORWARDS:
        found = _method(call, method_name, sources)
        for node in ast.walk(found[1]) if found is not None else ():
            if isinstance(node, ast.Assign) and any(
                isinstance(each, ast.Attribute) and each.attr == name for each in node.targets
            ):
                return sources.location_of(found[0], node) if found is not None else None
    return None


def _method(call: FunctionCall, name: str, sources: SourceMap) -> tuple[str, ast.FunctionDef] | None:
    code = foreign.code_of(foreign.attribute(call.function, name))
    tree = sources.tree(code.co_filename) if code is not None else None
    if code is None or tree is None:
        return None
    named = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name)
    last = code.co_firstlineno
    return next(((code.co_filename, node) for node in named if _begins(node) <= last <= node.lineno), None)


def _begins(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])
