"""An answer as data, so that the engine can keep it for the next job, and the keys of what it was inferred from.

One key is the text of the class and of everything in the file that it names, directly or not; the other only what
declares its inputs: signatures, docstrings and comments. What was inferred from the same declarations judges a text
that was edited since. A kept answer saves the search, never the proof: it is run before it is believed. Answers that
cannot be written down are not kept.
"""

from __future__ import annotations

import ast
import hashlib
import json
from dataclasses import dataclass
from typing import Any

import torch

from inductor_debug.capture.inference.classes import outline
from inductor_debug.capture.inference.construction.reconciling import Changes
from inductor_debug.capture.inference.search.dynamic_dims import Found
from inductor_debug.capture.inference.specs.specs import (
    ConstantSpec,
    Guess,
    MappingSpec,
    ObjectSpec,
    SequenceSpec,
    Spec,
    SpecArgument,
    TensorSpec,
)


def key_of(name: str, tree: ast.Module, text: str) -> str:
    """A digest of the definition `name` and all that it names in this file; empty where there is no such definition."""
    shape = outline(tree)
    if name not in shape.order:
        return ""
    wanted = {name, *shape.reachable([name])}
    lines = text.splitlines()
    digest = hashlib.blake2b(digest_size=16)
    for node in ast.walk(tree):
        if _name_of(node) in wanted and isinstance(node, ast.stmt):
            first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
            digest.update("\n".join([*lines[first - 1 : node.end_lineno], "\0"]).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def evidence_of(name: str, tree: ast.Module, text: str) -> str:
    """A digest of what the class `name` declares of its inputs; empty where there is no such class.

    These are the signatures of its constructor and its `forward`, its own or those of its bases in this file, their
    docstrings and comments. What the code computes is no declaration: an edit of it is judged with the inputs that ran.
    """
    shape = outline(tree)
    if name not in shape.classes:
        return ""
    lines, digest = text.splitlines(), hashlib.blake2b(digest_size=16)
    pending, seen = [name], {name}
    while pending:
        kind = shape.classes[pending.pop()]
        digest.update(_declared(kind, lines).encode("utf-8", "surrogatepass"))
        bases = [item.id for item in kind.bases if isinstance(item, ast.Name) and item.id in shape.classes]
        pending += [base for base in bases if base not in seen]
        seen.update(bases)
    return digest.hexdigest()


def _declared(kind: ast.ClassDef, lines: list[str]) -> str:
    methods = [node for node in kind.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    signatures = [
        f"{node.name}({ast.unparse(node.args)}) {ast.get_docstring(node)}"
        for node in methods
        if node.name in ("__init__", "forward")
    ]
    comments = [line.partition("#")[2] for line in lines[kind.lineno - 1 : kind.end_lineno] if "#" in line]
    told = [str(ast.get_docstring(kind)), *signatures, *filter(_may_tell_shape, comments)]
    return "\0".join([kind.name, *map(ast.unparse, kind.bases), *told])


def _may_tell_shape(comment: str) -> bool:
    return "(" in comment or "[" in comment


def _name_of(node: ast.AST) -> str:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return ""


@dataclass(frozen=True, slots=True)
class KeptInputs:
    """An answer of an earlier job.

    `way` numbers the way in which the model was built, `init` are the constructor's arguments on that way, as shown to
    users, of which `changes` are other ones than usual; `since` is when the inputs were inferred, in ISO 8601.
    """

    way: int
    init: str
    found: Found
    since: str
    changes: Changes = ()


def written(kept: KeptInputs) -> str:
    """The answer as JSON; empty where some value of it has no text that gives it back."""
    found = kept.found
    try:
        arguments = [[item.name, _packed(item.spec), item.keyword] for item in found.guess.arguments]
    except ValueError:
        return ""
    sizes, traced = found.guess.size_of(), found.traced.size_of()
    content = {"way": kept.way, "init": kept.init, "arguments": arguments, "free": sorted(found.free)}
    content["changes"] = kept.changes
    return json.dumps({**content, "sizes": sizes, "traced": traced, "since": kept.since})


def read(text: str) -> KeptInputs | None:
    """What `written` was given; None for what it did not write."""
    try:
        content = json.loads(text)
        arguments = tuple(SpecArgument(name, _unpacked(spec), keyword) for name, spec, keyword in content["arguments"])
        guess, traced = (Guess(arguments, tuple(sorted(content[key].items()))) for key in ("sizes", "traced"))
        found = Found(guess, frozenset(content["free"]), traced)
        changes = tuple((str(name), value) for name, value in content["changes"])
        return KeptInputs(int(content["way"]), str(content["init"]), found, str(content["since"]), changes)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _packed(spec: Spec) -> dict[str, Any]:
    if isinstance(spec, TensorSpec):
        return {"dims": spec.dims, "dtype": spec.dtype, "filled": spec.filled}
    if isinstance(spec, SequenceSpec):
        return {"items": [_packed(item) for item in spec.items], "list": spec.is_list}
    if isinstance(spec, MappingSpec):
        return {"keys": [[key, _packed(item)] for key, item in spec.items]}
    if isinstance(spec, ObjectSpec):
        raise ValueError(spec.text)
    try:
        _value(spec.text)
    except (SyntaxError, AttributeError) as error:
        raise ValueError(spec.text) from error
    return {"text": spec.text}


def _unpacked(packed: dict[str, Any]) -> Spec:
    if "dims" in packed:
        filled = packed["filled"]
        return TensorSpec(tuple(packed["dims"]), packed["dtype"], tuple(filled) if isinstance(filled, list) else filled)
    if "items" in packed:
        return SequenceSpec(tuple(map(_unpacked, packed["items"])), packed["list"])
    if "keys" in packed:
        return MappingSpec(tuple((key, _unpacked(item)) for key, item in packed["keys"]))
    return ConstantSpec(packed["text"], _value(packed["text"]))


def _value(text: str) -> Any:
    """The value of a literal or of `torch.relu`; no other expression is evaluated."""
    first, *rest = text.split(".")
    if first != "torch":
        return ast.literal_eval(text)
    value: Any = torch
    for name in rest:
        value = getattr(value, name)
    return value
