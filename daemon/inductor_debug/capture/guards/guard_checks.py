"""Which guards of an earlier graph a call breaks: all of them, each in a sentence.

Torch itself stops at the first. Every check is evaluated on its own, as torch does to explain the first one; for
tensors the metadata that the check names are compared, so that a different size and a different dtype are both told. A
check that cannot be evaluated (an object that is no longer there) is left to those that made it so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from inductor_debug.capture.guards.broken_conditions import in_words
from inductor_debug.capture.guards.guard_hooks import CacheEntry, GuardCheck
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.held_values import CONTAINERS

_TENSOR = re.compile(
    r"check_tensor\((?P<source>.*), (?P<type>\w+), DispatchKeySet\((?P<keys>[^)]*)\), torch\.(?P<dtype>\w+), "
    r"device=(?P<device>\w+), requires_grad=(?P<grad>\w+), size=\[(?P<size>[^\]]*)\], stride=\[(?P<stride>[^\]]*)\]\)"
)
"""How torch 2.11 to 2.13 write the guard on a tensor; sizes that are dynamic are None."""
_COMMENT = re.compile(r"\s{2,}# .*$", re.DOTALL)
_PLACE = re.compile(r"# (?P<file>[^#\s]+):(?P<line>\d+) in ")
_EQUALS = re.compile(r"^(?P<left>.+?) == (?P<right>.+)$", re.DOTALL)
_NAMED = re.compile(r"\b[LG]\['(\w+)'\]")
_KEPT = re.compile(r"\b___stack\d+\b")
"""What Dynamo calls a value that it carries over a graph break."""
_ITEM = re.compile(r"dict\.__getitem__\((?P<owner>[^\s,]+), list\(dict\.keys\((?P=owner)\)\)\[(?P<number>\d+)\]\)")
"""How torch finds an item of a dictionary: by the number of its key."""
_REGISTRY = re.compile(r"\._(?:modules|parameters|buffers)\['([^']+)'\]")
_SIZES = re.compile(r"\.(?:size|stride|storage_offset)\(\)")
_CONDITION = re.compile(r"\bL\[.*?(?:[<>=!]=|[<>]|%)|(?:[<>=!]=|[<>]|%).*?\bL\[")
"""A comparison of something that the function was given: what an epilogue lambda says of symbolic numbers."""
_LENGTH = re.compile(r"^(?:not (?P<empty>[^ ]+)|len\((?P<owner>.+)\) [!=]= (?P<length>\d+))$", re.DOTALL)
"""On how many items a container has; torch writes it as what is true, or, for some, as what is true of it now."""
_PRESENCE = re.compile(
    r"^(?:not )?(?:hasattr\((?P<object>.+), '(?P<attribute>\w+)'\)|___dict_contains\((?P<key>[^,]+), (?P<owner>.+)\))$",
    re.DOTALL,
)
"""On whether an object has an attribute, a dictionary a key."""
_IDENTITY = re.compile(
    r"___check_obj_id\((?P<of>.+?)(?P<code>\.__code__)?, \d+\), type=<(?:class|enum) '(?:\w+\.)*(?P<type>\w+)'>$"
)
"""On which object something is."""
_STATE = re.compile(r"GLOBAL_STATE changed: (?P<changed>[\w ]+)")
_RANK = " dimensions, not "
_LONGEST = 120
_MOST_MADE = 8
NOT_SAID = object()
"""Where a check compares with nothing that has a value of its own."""
ABSENT = object()
"""Where a check asks that something is not there."""
_PLAIN = (int, float, complex, str, bool, type(None), torch.dtype, torch.device)


@dataclass(frozen=True, slots=True)
class Broken:
    """A check that a call breaks. `text` is for people; `line` is its one-based source line, where only torch knows it.

    `source` and `kind` tell which guard it is. `expected` is the plain value, or the length, that it compares with.
    Of the size of a tensor in a `dimension`, `expected` is what it was, and `now` what it is. `item` is the source of
    what was not there, or is not there now; `made` are those of the items of what was empty.
    """

    text: str
    source: str
    kind: str
    file: str = ""
    line: int | None = None
    expected: object = NOT_SAID
    dimension: int | None = None
    now: int | None = None
    item: str = ""
    made: tuple[str, ...] = ()

    @property
    def guarded(self) -> str:
        """The source of what it is about: of the tensor's size, or of an item, where it is about that."""
        return self.item or (self.source if self.dimension is None else f"{self.source}.size()[{self.dimension}]")

    @property
    def size_name(self) -> str:
        """What people call the size."""
        return f"size {self.dimension} of `{readable(self.source)}`"


def broken_checks(entry: CacheEntry) -> list[Broken]:
    """All checks of `entry` that its scope breaks, in the order in which torch checks them."""
    found: list[Broken] = []
    unlike: list[str] = []
    for check in entry.checks:
        for part in check.parts:
            # With another number of dimensions everything about sizes and strides is another too.
            if not any(f"{source}.{what}()" in part for source in unlike for what in ("size", "stride")):
                found += _broken(check, part, entry.scope)
        unlike += [broken.source for broken in found[-1:] if _RANK in broken.text]
    if not found and entry.first:
        found.append(_said_first(entry))
    return found


def _said_first(entry: CacheEntry) -> Broken:
    """What torch says of a guard that it checks in a way of its own."""
    code = _COMMENT.sub("", entry.first)
    broken = _said(GuardCheck("", "", ()), entry.first, _of_everything(entry.first))
    return _of_length(broken, code, entry.scope) or broken


def _of_everything(said: str) -> str:
    """What torch says of a guard on no object; in words of ours where it is on the mode of gradients."""
    if (state := _STATE.match(said)) is not None and state["changed"].split() == ["grad_mode"]:
        return f"torch records {'' if torch.is_grad_enabled() else 'no '}gradients here, unlike before"
    code = _COMMENT.sub("", said)
    if (match := _IDENTITY.match(code)) is not None:
        return f"`{readable(match['of'])}` is another {'function' if match['code'] else match['type']} than before"
    return readable(code)


def size_conditions(check: GuardCheck) -> list[Broken]:
    """The conditions on symbolic sizes and numbers among the parts of a check, as they are written, none broken."""
    if check.kind == "TENSOR_MATCH":
        return []
    codes = [(part, _COMMENT.sub("", part).strip()) for part in check.parts]
    return [
        _said(GuardCheck(check.kind, "", ()), part, readable(code))
        for part, code in codes
        if _SIZES.search(code) or (check.kind == "LAMBDA_GUARD" and _CONDITION.search(code))
    ]


def readable(source: str) -> str:
    """A source as the user would write it: `L['self']._modules['a']._parameters['weight']` is `self.a.weight`."""
    named = _REGISTRY.sub(lambda match: f".{match[1]}", _NAMED.sub(lambda match: match[1], source))
    return _KEPT.sub("value from before the graph break", named)


def _broken(check: GuardCheck, part: str, scope: dict[str, Any]) -> list[Broken]:
    tensor = _TENSOR.match(part)
    if tensor is not None:
        differences = [_said(check, part, text) for text in _differences(tensor, check, scope)]
        return differences + _resized(tensor, check, part, scope, strides=not differences)
    code = _COMMENT.sub("", part).strip()
    try:
        holds = eval(code, {}, scope)
    except Exception:
        # Not code, or it depends on something that another check misses.
        return []
    if _is_true(holds) and not (check.kind == "EQUALS_MATCH" and _is_of_other_type(code, scope)):
        return []
    said = replace(_said(check, part, _in_words(code, scope)), expected=_expected(code))
    return [_of_presence(said, code, scope) or _of_length(said, code, scope) or said]


def _of_presence(broken: Broken, code: str, scope: dict[str, Any]) -> Broken | None:
    """A broken check on whether something is there; None of another one."""
    match = _PRESENCE.match(code)
    if match is None:
        return None
    owner, attribute, key = match["object"] or match["owner"], match["attribute"], match["key"]
    item = f"{owner}.{attribute}" if attribute is not None else f"{owner}[{key}]"
    was_there = not code.startswith("not ")
    text = f"`{_short(readable(with_keys(item, scope)))}` is {'not there' if was_there else 'there'}, unlike before"
    return replace(broken, text=text, item=item, expected=NOT_SAID if was_there else ABSENT)


def _of_length(broken: Broken, code: str, scope: dict[str, Any]) -> Broken | None:
    """A broken check on how many items a container has; None of another one."""
    owner, before = _length_asked(code)
    if before is None:
        return None
    try:
        container = eval(owner, {}, scope)
        items = "item" if len(container) == 1 else "items"
    except Exception:
        return None
    if not isinstance(container, (*CONTAINERS, tuple, frozenset)) or len(container) == before:
        return None
    keys = (
        [foreign.representation(key) for key in container if type(key) in _PLAIN] if isinstance(container, dict) else []
    )
    made = tuple(f"{owner}[{key}]" for key in keys[:_MOST_MADE]) if not before else ()
    if len(made) == len(container) == 1:
        text = f"`{_short(readable(made[0]))}` is there, unlike before"
    else:
        text = f"`{_short(readable(with_keys(owner, scope)))}` has {len(container)} {items}, not {before}"
    return replace(broken, text=text, source=broken.source or owner, expected=before, made=made)


def _is_true(holds: Any) -> bool:
    """What a check came to; None is no answer. A tensor's comparison is a tensor, and no guard on a constant holds."""
    if holds is None or isinstance(holds, bool):
        return holds is not False
    try:
        return not isinstance(holds, torch.Tensor) and bool(holds)
    except Exception:
        # An array of several values, or an object of the user's own.
        return False


def _is_of_other_type(code: str, scope: dict[str, Any]) -> bool:
    """Whether two sides that are equal (`4.0 == 4`) are of different types, which torch tells apart."""
    match = _EQUALS.match(code)
    if match is None:
        return False
    try:
        return type(eval(match["left"], {}, scope)) is not type(ast.literal_eval(match["right"]))
    except Exception:
        # The right side is no literal.
        return False


def _expected(code: str) -> object:
    """What a check compares with."""
    match = _EQUALS.match(code)
    try:
        return ast.literal_eval(match["right"]) if match is not None else NOT_SAID
    except (ValueError, SyntaxError):
        return NOT_SAID


def _said(check: GuardCheck, part: str, text: str) -> Broken:
    place = _PLACE.search(part)
    return Broken(
        text,
        check.source,
        check.kind,
        place["file"] if place else "",
        int(place["line"]) if place is not None else None,
    )


def _in_words(code: str, scope: dict[str, Any]) -> str:
    match = _EQUALS.match(code)
    if match is not None:
        try:
            now = eval(match["left"], {}, scope)
        except Exception:
            now = _in_words
        if isinstance(now, _PLAIN):
            name = _short(readable(with_keys(match["left"], scope)))
            return f"`{name}` is {now!r}, not {_short(readable(match['right']))}"
        if now is not _in_words and _is_literal(match["right"]):
            kind = "a tensor" if isinstance(now, torch.Tensor) else _a(type(now).__name__)
            return f"`{_short(readable(match['left']))}` is {kind}, not {_short(readable(match['right']))}"
    said = in_words(code, lambda part: eval(part, {}, scope), lambda part: readable(with_keys(part, scope)))
    return said or f"`{_short(readable(code))}` does not hold"


def with_keys(code: str, scope: dict[str, Any]) -> str:
    """Items of dictionaries by their keys, which torch knows by number: `counts['calls']`."""

    def item(match: re.Match[str]) -> str:
        try:
            key = list(dict.keys(eval(match["owner"], {}, scope)))[int(match["number"])]
        except Exception:
            return match[0]
        return f"{match['owner']}[{foreign.representation(key)}]"

    return _ITEM.sub(item, code)


def _length_asked(code: str) -> tuple[str, int | None]:
    """The source of a container, and how many items a check asks for, or has the set that it is to equal."""
    if (match := _LENGTH.match(code)) is not None:
        return match["empty"] or match["owner"], int(match["length"] or 0)
    match = _EQUALS.match(code)
    if match is None or not match["right"].startswith(("{", "set()")):
        return "", None
    try:
        return match["left"], len(ast.literal_eval(match["right"]))
    except (ValueError, SyntaxError, TypeError):
        return "", None


def _is_literal(code: str) -> bool:
    try:
        ast.literal_eval(code)
    except (ValueError, SyntaxError):
        return False
    return True


def _differences(expected: re.Match[str], check: GuardCheck, scope: dict[str, Any]) -> list[str]:
    try:
        tensor = eval(check.source or expected["source"], {}, scope)
    except Exception:
        return []
    name = f"`{readable(check.source or expected['source'])}`"
    if not isinstance(tensor, torch.Tensor):
        return [f"{name} is {_a(type(tensor).__name__)}, not a tensor"]
    said = []
    if str(tensor.dtype) != f"torch.{expected['dtype']}":
        said.append(f"{name} is {str(tensor.dtype).removeprefix('torch.')}, not {expected['dtype']}")
    if str(tensor.requires_grad) != expected["grad"]:
        said.append(f"{name} {'needs' if tensor.requires_grad else 'needs no'} gradient, unlike before")
    device = "None" if tensor.device.index is None else str(tensor.device.index)
    if device != expected["device"]:
        said.append(f"{name} is on {tensor.device}, not on index {expected['device']}")
    sizes = _numbers(expected["size"])
    if len(sizes) != tensor.dim():
        return [*said, f"{name} has {tensor.dim()}{_RANK}{len(sizes)}"]
    return said


def _resized(
    expected: re.Match[str], check: GuardCheck, part: str, scope: dict[str, Any], *, strides: bool
) -> list[Broken]:
    """The sizes that a tensor of as many dimensions does not have any more; else, where asked for, its strides."""
    try:
        tensor = eval(check.source or expected["source"], {}, scope)
    except Exception:
        return []
    before = _numbers(expected["size"])
    if not isinstance(tensor, torch.Tensor) or tensor.dim() != len(before):
        return []
    name = f"`{readable(check.source or expected['source'])}`"
    sizes = _unequal(tensor.shape, before)
    others = _unequal(tensor.stride(), _numbers(expected["stride"])) if strides and not sizes else []
    return [
        replace(
            _said(check, part, f"{name} has {what} {now} in dimension {index}, not {known}"),
            expected=known,
            dimension=index if what == "size" else None,
            now=now if what == "size" else None,
        )
        for what, unequal in (("size", sizes), ("stride", others))
        for index, now, known in unequal
    ]


def _unequal(now: Sequence[Any], before: list[int | None]) -> list[tuple[int, Any, int]]:
    """The dimensions that differ: each with what it is, and what it was."""
    return [
        (index, actual, known)
        for index, (actual, known) in enumerate(zip(now, before, strict=True))
        if known is not None and actual != known
    ]


def _numbers(text: str) -> list[int | None]:
    return [int(item) if item.strip().lstrip("-").isdigit() else None for item in text.split(",") if item.strip()]


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
