"""Objects that raise whatever they are asked: a file that holds them is analysed all the same."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import pytest
from forked import analyze
from inductor_debug.capture.runtime import foreign
from inductor_debug_schema import FileStatus

pytestmark = pytest.mark.torch

ERRORS = ("ImportError", "KeyError", "RecursionError", "SystemExit")
METHODS = [
    "getattr", "getattribute", "eq", "ne", "hash", "bool", "len", "iter", "getitem", "contains", "repr", "str",
    "dir", "format", "index", "float", "fspath", "call", "next", "add", "lt", "deepcopy", "array", "torch_function",
    "instancecheck", "subclasscheck", "get",
]  # fmt: skip
PROPERTIES = [
    "module", "doc", "code", "wrapped", "signature", "annotations", "file", "func", "self", "globals", "defaults",
    "closure",
]  # fmt: skip
HOSTILE = """\
import sys, types
import torch
from torch import nn

def refuse(*args, **kwargs):
    raise {error}("hostile")

def hostile(base, name, value):
    return type("Hostile", (base,), {{name: value}})

def all_of(base):
    kinds = [hostile(base, f"__{{name}}__", refuse) for name in {methods}]
    return kinds + [hostile(base, f"__{{name}}__", property(refuse)) for name in {properties}]

def made(kind, *args):
    try:
        return kind(*args)
    except BaseException:
        return None  # too hostile to be made

for number, kind in enumerate(all_of(object) + all_of(dict)):
    globals()[f"thing{{number}}"] = made(kind)
for number, kind in enumerate(all_of(type)):
    globals()[f"Kind{{number}}"] = made(kind, f"Kind{{number}}", (), {{}})
for number, kind in enumerate(all_of(nn.Module)):
    globals()[f"part{{number}}"] = made(kind)
for number, kind in enumerate(all_of(types.ModuleType)):
    globals()[f"library{{number}}"] = sys.modules[f"library{{number}}"] = made(kind, f"library{{number}}")

@torch.compile
def double(x):
    return x * 2

class Net(nn.Module):
    def __init__(self, width=4, thing=thing3):
        super().__init__()
        self.linear = nn.Linear(width, 3)
        self.config = thing

    def forward(self, x):
        return double(self.linear(x))
"""


@pytest.mark.parametrize("error", ERRORS)
def test_hostile_objects_around_a_model_change_nothing(tmp_path: Path, error: str) -> None:
    text = HOSTILE.format(error=error, methods=METHODS, properties=PROPERTIES)
    job = analyze(tmp_path / "model.py", text)
    assert job.status is FileStatus.CLEAN, job.findings
    assert ("Net", "inferred") in job.targets


@pytest.mark.parametrize(
    "where", ["config = Config(width=4)", "config = None\ndef helper(value=Config(width=4)): return value"]
)
def test_a_dictionary_whose_keys_are_attributes_is_a_common_idiom(tmp_path: Path, where: str) -> None:
    text = f"""\
from torch import nn
class Config(dict):
    __getattr__ = dict.__getitem__
{where}
class Net(nn.Module):
    def __init__(self, config=Config(width=4)):
        super().__init__()
        self.linear = nn.Linear(config.width, 3)
        self.config = config
    def forward(self, x):
        return self.linear(x)
"""
    job = analyze(tmp_path / "model.py", text)
    assert job.status is FileStatus.CLEAN, job.findings
    assert [finished.report.state.value for finished in job.stages] == ["done"]


def test_a_forward_that_is_an_object_is_looked_at_like_any_other(tmp_path: Path) -> None:
    text = """\
import torch
from torch import nn
class Cached:
    def __init__(self, function): self.function = function
    def __call__(self, *args): return self.function(*args)
model = nn.Linear(4, 4)
model.forward = Cached(model.forward)
compiled = torch.compile(model)
compiled(torch.ones(2, 4))
"""
    job = analyze(tmp_path / "model.py", text)
    assert job.status is FileStatus.CLEAN, job.findings
    assert job.targets == [("model", "torch.compile")]


class Hostile:
    def __getattribute__(self, name: str) -> Any:
        raise KeyError(name)

    def __repr__(self) -> str:
        raise KeyError("repr")


def test_what_cannot_be_asked_has_a_plain_answer() -> None:
    thing = Hostile()
    assert foreign.attribute(thing, "anything", 3) == 3
    assert foreign.is_a(thing, Hostile)
    assert not foreign.is_a(thing, dict)
    assert foreign.representation(thing) == "<Hostile>"
    assert foreign.name_of(thing) == "Hostile"
    assert foreign.namespace(thing) == {}
    assert foreign.signature_of(thing) is None
    assert foreign.plain_function(thing) is thing


def test_what_can_be_asked_is_what_it_is() -> None:
    def function(a: int, *, b: str = "") -> None: ...

    module = types.ModuleType("library")
    module.__file__ = "/somewhere/library.py"
    assert foreign.namespace(module)["__name__"] == "library"
    assert foreign.file_of(module) == "/somewhere/library.py"
    assert foreign.annotations_of(function) == {"a": "int", "b": "str", "return": "None"}
    assert foreign.code_of(function) is function.__code__
    assert foreign.globals_of(function) is globals()
    assert not foreign.needs_no_arguments(function)
    assert foreign.needs_no_arguments(Hostile)
