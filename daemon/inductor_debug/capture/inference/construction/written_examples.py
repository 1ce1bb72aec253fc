"""Examples of how a project's classes are used, as people write them down: in docstrings, and in its README.

Only code is taken, where it is marked as such (`>>> model = Net(64)`, a fenced block), and read as syntax; what is no
Python is left out. Nothing is run.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from functools import lru_cache

from inductor_debug.capture.inference.construction.project_files import text_of_file

_FENCED = re.compile(r"^[ \t]*```[ \t]*(\w*)[^\n]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
_PYTHON = ("", "python", "python3", "py", "pycon")
_PROMPTED = re.compile(r"^[ \t]*(>>>|\.\.\.) ?(.*)$", re.MULTILINE)
_READMES = ("README.md", "readme.md", "Readme.md", "README.rst")
_MOST_BLOCKS = 60


def examples_in_docstrings(tree: ast.Module) -> Iterator[ast.Module]:
    """The examples in the docstrings of a file, behind prompts or fenced."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            document = ast.get_docstring(node) or ""
            if ">>>" in document:
                yield from _parsed(_prompted(document))
            for block in _blocks(document):
                yield from _parsed(block)


@lru_cache(maxsize=4)
def examples_in_readmes(path: str, root: str) -> tuple[ast.Module, ...]:
    """The examples in the READMEs of the folders around the file at `path`, the nearest first."""
    found: list[ast.Module] = []
    folder = os.path.dirname(path)
    while True:
        text = next(filter(None, (text_of_file(os.path.join(folder, name)) for name in _READMES)), "")
        for block in _blocks(text)[:_MOST_BLOCKS]:
            found += _parsed(block)
        above = os.path.dirname(folder)
        if folder == root or above == folder or not folder.startswith(root):
            return tuple(found)
        folder = above


def _blocks(text: str) -> list[str]:
    """The fenced blocks of a text that may be Python, without prompts."""
    codes = (item.group(2) for item in _FENCED.finditer(text) if item.group(1).lower() in _PYTHON)
    return [_prompted(code) if code.lstrip().startswith(">>>") else code for code in codes]


def _prompted(text: str) -> str:
    """The code behind prompts."""
    return "\n".join(line.group(2) for line in _PROMPTED.finditer(text))


def _parsed(code: str) -> Iterator[ast.Module]:
    try:
        yield ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return
