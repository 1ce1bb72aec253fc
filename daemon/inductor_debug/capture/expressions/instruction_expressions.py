"""Which expression an instruction belongs to, for Pythons that do not say (before 3.11).

The compiler emits the instructions of a line in the order in which it evaluates, and so does a post-order walk of the
syntax tree (`evaluation`): the n-th instruction of a kind on a line belongs to the n-th expression of that kind in its
scope. Where the counts differ, the answer is None and callers point at the whole line.

Code that Dynamo has rewritten has one instruction of the user's left, the one that broke the graph, and goes on in a
function whose name says where in the code that was there before.
"""

from __future__ import annotations

import dis
import linecache
import re
from functools import lru_cache
from types import CodeType

from inductor_debug.capture.expressions.evaluation import Key, read
from inductor_debug.capture.expressions.evaluation import SourcePositions as SourcePositions

RESUMED = re.compile(r"^torch_dynamo_resume_in_(?P<name>.+)_at_(?P<line>\d+)$|^__resume_at_\d+(_\d+)?$")
"""The names Dynamo gives the functions in which it goes on after a graph break (torch 2.11 to 2.13)."""
_CALLED_BY_DYNAMO = ("__compiled_fn_", "__resume_at_", "torch_dynamo_resume_in_")
"""What the names begin with of all that code calls which Dynamo has rewritten (torch 2.11 to 2.15)."""
_GOES_ON_AT = re.compile(r"^__resume_at_(?P<offset>\d+)(_\d+)?$")

_INSTRUCTION_KINDS = {
    "BINARY_SUBSCR": "subscript",
    "STORE_SUBSCR": "subscript",
    "DELETE_SUBSCR": "subscript",
    "BINARY_SLICE": "subscript",
    "BUILD_SLICE": "slice",
    "LOAD_ATTR": "attribute",
    "LOAD_METHOD": "attribute",
    "STORE_ATTR": "attribute",
    "DELETE_ATTR": "attribute",
    "COMPARE_OP": "compare",
    "IS_OP": "compare",
    "CONTAINS_OP": "compare",
    "LOAD_NAME": "name",
    "LOAD_FAST": "name",
    "LOAD_GLOBAL": "name",
    "LOAD_DEREF": "name",
    "LOAD_CLASSDEREF": "name",
    "RAISE_VARARGS": "raise",
    "IMPORT_NAME": "import",
    "IMPORT_FROM": "import",
    "IMPORT_STAR": "import",
}
_PREFIXES = {"CALL": "call", "BINARY_": "binary", "INPLACE_": "binary", "UNARY_": "unary"}
_OF_WHAT_PRECEDES = ("POP_JUMP_", "JUMP_IF_", "GET_ITER", "UNPACK_SEQUENCE", "FORMAT_VALUE", "SETUP_WITH")
"""Instructions that take what was evaluated last, and belong to its expression."""


def positions_at(code: CodeType, offset: int, text: str | None = None) -> SourcePositions | None:
    """Finds the expression that the instruction at byte `offset` of `code` evaluates.

    Args:
        code: the running code object.
        offset: `frame.f_lasti`, or the offset of an instruction of Dynamo's.
        text: the file's text, or None to ask `linecache`.

    Returns:
        The expression's positions, or None where the syntax tree and the bytecode do not match.
    """
    if any(name.startswith(_CALLED_BY_DYNAMO) for name in code.co_names):
        return _position_of_broken(code, offset, _text_of(code, text))
    located = _instructions(code).get(offset)
    if located is None:
        return None
    key, ordinal, count = located
    source = read(_text_of(code, text))
    resumed = RESUMED.match(code.co_name)
    if resumed:
        key = key._replace(scope_line=source.first_line(key.scope, key.line))
    nodes = source.expressions.get(key, [])
    if len(nodes) == count or (nodes and key.line in source.copied and count % len(nodes) == 0):
        return nodes[ordinal % len(nodes)]
    if resumed and resumed["line"] == str(key.line) and count - ordinal <= len(nodes):
        # Of the line that it goes on in, such a function has only the rest, after instructions of Dynamo's own.
        return nodes[ordinal - count]
    return None


def qualified_name(code: CodeType, text: str | None = None) -> str:
    """What `co_qualname` is from Python 3.11 on; the plain name where the text has no such function."""
    return read(_text_of(code, text)).names.get((code.co_name, code.co_firstlineno), code.co_name)


def _position_of_broken(code: CodeType, offset: int, text: str) -> SourcePositions | None:
    """Where the instruction stands that broke the graph: code that Dynamo has rewritten has a line begin with it.

    Nothing but a `return` goes on where it stands.
    """
    line = next((number for start, _, number in code.co_lines() if start == offset != 0), None)
    before = _codes(text).get((code.co_name, code.co_firstlineno))
    if line is None or before is None:
        return None
    goes_on = [int(match["offset"]) for match in map(_GOES_ON_AT.match, code.co_names) if match is not None]
    if not goes_on:
        goes_on = [start for start in _returns(before) if _line_of(before, start) == line]
    return positions_at(before, goes_on[0] - 2, text) if len(goes_on) == 1 else None


def _returns(code: CodeType) -> list[int]:
    return [each.offset for each in dis.get_instructions(code) if each.opname == "RETURN_VALUE"]


def _line_of(code: CodeType, offset: int) -> int | None:
    return next((number for start, end, number in code.co_lines() if start <= offset < end), None)


@lru_cache(maxsize=16)
def _codes(text: str) -> dict[tuple[str, int], CodeType | None]:
    """The code of each function by name and first line, as it is before Dynamo; None where several are alike."""
    found: dict[tuple[str, int], CodeType | None] = {}
    try:
        waiting = [compile(text, "<text>", "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return found
    for code in waiting:
        key = code.co_name, code.co_firstlineno
        found[key] = None if key in found else code
        waiting += [each for each in code.co_consts if isinstance(each, CodeType)]
    return found


def _text_of(code: CodeType, text: str | None) -> str:
    return text if text is not None else "".join(linecache.getlines(code.co_filename))


def _instructions(code: CodeType) -> dict[int, tuple[Key, int, int]]:
    """Byte offset to (what it is, ordinal among those, how many there are)."""
    try:
        hash(code)
    except TypeError:  # code of Dynamo's may have constants such as dicts
        return _read_instructions.__wrapped__(code)
    return _read_instructions(code)


@lru_cache(maxsize=1024)
def _read_instructions(code: CodeType) -> dict[int, tuple[Key, int, int]]:
    found: list[tuple[int, Key, int]] = []
    counts: dict[Key, int] = {}
    resumed = RESUMED.match(code.co_name)
    scope = resumed["name"] if resumed and resumed["name"] else code.co_name
    last: tuple[Key, int] | None = None
    line = code.co_firstlineno
    starts = {start: number for start, _, number in code.co_lines() if number is not None}
    before = ""
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset, line)
        # The end of a `with` block calls what it has entered, with three times None.
        ends_a_block = before == "DUP_TOP" and instruction.opname == "CALL_FUNCTION"
        before = instruction.opname
        kind = None if ends_a_block else _kind_of(instruction)
        if kind is not None:
            key = Key(scope, code.co_firstlineno, line, kind)
            last = key, counts.get(key, 0)
            counts[key] = last[1] + 1
        elif not instruction.opname.startswith(_OF_WHAT_PRECEDES):
            last = None
        if last is not None:
            found.append((instruction.offset, *last))
    return {offset: (key, ordinal, counts[key]) for offset, key, ordinal in found}


def _kind_of(instruction: dis.Instruction) -> str | None:
    name = instruction.opname
    kind = _INSTRUCTION_KINDS.get(name)
    if kind == "name" and not str(instruction.argval).isidentifier():
        return None  # a comprehension's own argument
    if kind is not None or name.startswith("CALL_INTRINSIC"):
        return kind
    return next((kind for prefix, kind in _PREFIXES.items() if name.startswith(prefix)), None)
