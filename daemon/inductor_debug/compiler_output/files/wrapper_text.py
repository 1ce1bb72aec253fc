"""Inductor's wrapper, `output_code.py`: kernels that it defines, where it calls them, and what comments say of them.

The text is parsed as Python and never run. Read against torch 2.11 to 2.13, with the kernels of its own back ends and
those that torch-spyre defines with `async_compile.sdsc`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container
from dataclasses import dataclass, field

from inductor_debug.compiler_output.files.confined_files import FileFaultError
from inductor_debug.compiler_output.files.python_text import python_tree

_LANGUAGES = {
    "cpp": "cpp",
    "cpp_pybinding": "cpp",
    "triton": "triton",
    "sdsc": "python",
    "cutedsl": "python",
    "pallas": "python",
}
_HANDLES = re.compile(r"^\s*# \[Provenance debug handles\] (?P<handles>.+)$")
_MAPPING_START = "# Source node to ATen node mapping:"
_MAPPING = re.compile(r"^#\s+(?P<before>\S+) => (?P<after>.+)$")
_MOST_COMMENTS = 50
"""Lines of comments before a call that may say what it is."""
_AOT_ID = re.compile(r"^# AOT ID: \['(?P<id>[^']{1,80})'\]", re.MULTILINE)
_EXTERN = ("extern_kernels.", "torch.ops.", "aten.")


@dataclass(frozen=True, slots=True)
class WrapperKernel:
    """A kernel that the wrapper defines. Lines are zero-based, the end exclusive; `arguments` are the definition's.

    `mapping` has, for nodes before AOTAutograd, the nodes that Inductor lowered, as a comment before the kernel says.
    """

    name: str
    language: str
    source: str
    line: int
    end_line: int
    arguments: list[ast.expr] = field(default_factory=list)
    mapping: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A call of a kernel: zero-based lines, names among the arguments, and the `name:number` that it is known by."""

    name: str
    line: int
    end_line: int
    arguments: list[str]
    handles: list[str]


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A wrapper; `id` is that of AOTAutograd (`0_forward`, `1_inference`), "" where it says none.

    `renamed` has the older name of a buffer whose memory goes on under a new one; `returned` are the buffers that its
    function `call` returns, what is None left out.
    """

    text: str
    id: str
    kernels: dict[str, WrapperKernel]
    calls: list[KernelCall]
    renamed: dict[str, str] = field(default_factory=dict)
    returned: list[str] = field(default_factory=list)

    def makers(self, inputs: Container[str]) -> dict[str, int]:
        """For each buffer, and older names of its memory, the number of the first call that is given it: its maker."""
        found: dict[str, int] = {}
        for number, call in enumerate(self.calls):
            for argument in call.arguments:
                for name in self.names_of(argument, inputs):
                    found.setdefault(name, number)
        return found

    def names_of(self, buffer: str, inputs: Container[str]) -> list[str]:
        """A buffer and the older names of its memory; none for what is an input."""
        found: list[str] = []
        while buffer not in inputs and buffer not in found:
            found.append(buffer)
            buffer = self.renamed.get(buffer, buffer)
        return found


def read_wrapper(text: str) -> Wrapper:
    """Reads a wrapper.

    Raises:
        FileFaultError: it is none.
    """
    tree = python_tree(text)
    if isinstance(tree, SyntaxError):
        raise FileFaultError(f"it is no Python: {tree.msg} (line {tree.lineno})")
    lines = text.split("\n")
    kernels = {kernel.name: kernel for each in ast.walk(tree) if (kernel := _kernel(each, lines, text)) is not None}
    calls = [call for each in ast.walk(tree) if (call := _call(each, kernels, lines)) is not None]
    if not calls and "async_compile" not in text and "def call(" not in text:
        raise FileFaultError("it is no wrapper of Inductor's")
    match = _AOT_ID.search(text)
    renamed = dict(names for each in ast.walk(tree) if (names := _renamed(each)) is not None)
    calls.sort(key=lambda call: call.line)
    return Wrapper(text, match["id"] if match is not None else "", kernels, calls, renamed, _returned(tree))


def _kernel(node: ast.AST, lines: list[str], text: str) -> WrapperKernel | None:
    """`name = async_compile.triton('name', '''…''')`."""
    if not (
        isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name)
    ):
        return None
    made = node.value.func
    if not (isinstance(made, ast.Attribute) and isinstance(made.value, ast.Name) and made.value.id == "async_compile"):
        return None
    texts = [each.value for each in node.value.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    longest = max(texts, key=len, default="")
    end = node.end_lineno or node.lineno
    source = longest.removeprefix("\n") if "\n" in longest else "\n".join(lines[node.lineno - 1 : end]) + "\n"
    return WrapperKernel(
        node.targets[0].id,
        _LANGUAGES.get(made.attr, "python"),
        source,
        node.lineno - 1,
        end,
        node.value.args,
        _mapping_before(lines, node.lineno - 1),
    )


def _mapping_before(lines: list[str], line: int) -> dict[str, list[str]]:
    """The mapping in the block of comments right before a zero-based line."""
    start = line
    while start > 0 and lines[start - 1].startswith("#"):
        start -= 1
    block = lines[start:line]
    if _MAPPING_START not in block:
        return {}
    found: dict[str, list[str]] = {}
    for each in block[block.index(_MAPPING_START) + 1 :]:
        match = _MAPPING.match(each)
        if match is None:
            break
        found[match["before"]] = [name for name in re.split(r",\s*", match["after"].strip()) if name]
    return found


def _returned(tree: ast.Module) -> list[str]:
    """The buffers of `return (buf5, reinterpret_tensor(buf2, …), None)`."""
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each.name == "call"]
    values = [each.value for function in functions for each in ast.walk(function) if isinstance(each, ast.Return)]
    if len(values) != 1 or not isinstance(values[0], ast.Tuple):
        return []
    buffers = [_buffer(each) for each in values[0].elts if not (isinstance(each, ast.Constant) and each.value is None)]
    return [name or "" for name in buffers]


def _buffer(value: ast.expr) -> str | None:
    """The buffer that an expression is, or looks at."""
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id == "reinterpret_tensor"
        and value.args
    ):
        value = value.args[0]
    return value.id if isinstance(value, ast.Name) else None


def _renamed(node: ast.AST) -> tuple[str, str] | None:
    """`buf2 = buf1`, `buf4 = reinterpret_tensor(buf3, …)`."""
    if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
        return None
    older = _buffer(node.value)
    return (node.targets[0].id, older) if older is not None else None


def _call(node: ast.AST, kernels: dict[str, WrapperKernel], lines: list[str]) -> KernelCall | None:
    """`kernel(…)`, `kernel.run(…)`, or the call of an operator outside of Inductor."""
    if not isinstance(node, ast.Call):
        return None
    called = ast.unparse(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else ""
    name = called.removesuffix(".run")
    if name not in kernels and not called.startswith(_EXTERN):
        return None
    arguments = [
        each.id for part in [*node.args, *node.keywords] for each in ast.walk(part) if isinstance(each, ast.Name)
    ]
    handles: list[str] = []
    first = node.lineno - 1
    for line in range(first - 1, max(first - _MOST_COMMENTS, 0) - 1, -1):
        match = _HANDLES.match(lines[line])
        if match is not None:
            handles = [each.strip() for each in match["handles"].split(",")]
            first = line
        elif not lines[line].lstrip().startswith("#"):
            break
    return KernelCall(name, first, node.end_lineno or node.lineno, arguments, handles)
