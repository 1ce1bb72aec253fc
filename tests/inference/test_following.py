"""Text that is only followed does nothing to what is there, be it values of the file or of a library."""

from __future__ import annotations

import ast
import sys
from types import ModuleType, SimpleNamespace

import pytest
from inductor_debug.capture.inference.values.following import Follower

pytestmark = pytest.mark.torch


def _follow(text: str, namespace: dict[str, object]) -> None:
    Follower(namespace, {}).run(ast.parse(text).body, {})


def test_what_a_script_does_to_the_search_path_is_not_done() -> None:
    """What it put there was a value that nobody knew: every later import of the process failed at it."""
    before = list(sys.path)
    _follow("sys.path.insert(1, os.path.join(sys.path[0], '..'))\nsys.path.append('elsewhere')", {"sys": sys})
    assert sys.path == before


@pytest.mark.parametrize(
    "text",
    [
        "settings.SIZES.append(4)",
        "settings.TABLE.update(depth=2)",
        "settings.TABLE['widths'].pop()",
        "settings.__dict__.setdefault('DEPTH', 2)",
        "settings.LONG.reverse()",
        "holder.sizes.append(4)",
    ],
)
def test_values_of_other_files_stay_as_they_are(text: str) -> None:
    settings = ModuleType("settings")
    held = {"SIZES": [1, 2], "TABLE": {"widths": [8]}, "LONG": list(range(10_001))}
    vars(settings).update({name: (value.copy()) for name, value in held.items()})
    holder = SimpleNamespace(sizes=[3])
    _follow(text, {"settings": settings, "holder": holder})
    assert {name: value for name, value in vars(settings).items() if name in held} == held
    assert holder.sizes == [3]
    assert not hasattr(settings, "DEPTH")
