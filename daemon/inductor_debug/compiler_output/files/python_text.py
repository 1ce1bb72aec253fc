"""Python that a compiler wrote, as a syntax tree and never as anything that runs."""

from __future__ import annotations

import ast

from inductor_debug.compiler_output.files.confined_files import FileFaultError
from inductor_debug.source.syntax_tree import tree_of

LONGEST_PYTHON = 8_000_000
"""Characters of a text that is parsed."""


def python_tree(text: str) -> ast.Module | SyntaxError:
    """The tree, or where the text stops being Python.

    Raises:
        FileFaultError: it is too long or nested too deeply to be parsed.
    """
    if len(text) > LONGEST_PYTHON:
        raise FileFaultError(f"it has {len(text):,} characters, more than the {LONGEST_PYTHON:,} that are parsed")
    try:
        return tree_of(text)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError) as error:
        raise FileFaultError(f"it cannot be parsed: {str(error) or 'it is nested too deeply'}") from None
