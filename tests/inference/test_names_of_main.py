"""Names that only a main program sets are known to the classes above it, without running it."""

from __future__ import annotations

import ast
import os
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from inductor_debug.capture.entry.main_names import names_of_main

ABOVE = """\
import re
def batch(): return [words[n] for n in SENTENCES]
class Net:
    def __init__(self): self.sizes = width, depth, len(letters), known, unset, model, half, Fraction(1), os
known = 1
"""
MAIN = """\
if __name__ == "__main__":
    import os.path
    from fractions import Fraction
    from no_such_library import half
    import no_other_library
    width = depth = 4 * 2
    known = 2
    unread = 3
    letters = {c: i for i, c in enumerate([c for c in "abc"])}
    words = dict(zip(re.sub("[.,]", "", "one, two.").split(), range(2)))
    unset = input()
    model = Net()
    open("should never be opened", "w")
"""


def names(text: str) -> dict[str, Any]:
    module = ModuleType("script")
    exec(compile(ABOVE, "script.py", "exec"), vars(module))
    return names_of_main(ast.parse(text), module)


def test_what_is_read_above_and_set_by_plain_statements_alone_is_known() -> None:
    assert names(ABOVE + MAIN) == {
        "width": 8,
        "depth": 8,
        "letters": {"a": 0, "b": 1, "c": 2},
        "words": {"one": 0, "two": 1},
        "Fraction": Fraction,
        "os": os,
    }


def test_a_file_without_a_main_program_has_none() -> None:
    assert names(ABOVE + "def main():\n    width = 4\n") == {}


def test_a_module_that_ends_the_program_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "leaves_at_once.py").write_text("import sys\nwidth = 3\nsys.exit('nothing to do')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = ABOVE + 'if __name__ == "__main__":\n    from leaves_at_once import width\n    depth = 4\n'
    assert names(text) == {"depth": 4}
