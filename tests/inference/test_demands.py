"""Constructor arguments that nobody gave us: as the project writes them, as the code uses them, as they are called."""

from __future__ import annotations

import ast
import linecache
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

pytestmark = pytest.mark.torch

HEAD = "import torch, argparse\nfrom torch import nn\nimport numpy as np\n"

WRITTEN = {
    "(30, __import__('numpy').array([5, 7]))": """
        class Model(nn.Module):
            def __init__(self, width, sizes): ...
        def build(width, sizes, **rest):
            return Model(width, sizes, **rest)
        def small():
            return build(30, np.array([5, 7]))
    """,
    "(17, 3)": """
        SETTINGS = {"model": {"width": 17, "depth": 3}}
        class Model(nn.Module):
            def __init__(self, width, depth): ...
        Model(SETTINGS["model"]["width"], len([1, 2, 3]))
    """,
    "(Part(9), torch.nn.Sequential(torch.nn.Linear(9, 2)))": """
        class Part(nn.Module):
            def __init__(self, width): ...
        class Model(nn.Module):
            def __init__(self, part, head): ...
        def main():
            part = Part(9)
            Model(part, nn.Sequential(nn.Linear(9, 2)))
    """,
    "(__import__('types').SimpleNamespace(width=48, rate=0.1),)": """
        class Model(nn.Module):
            def __init__(self, args):
                self.fc, self.drop = nn.Linear(args.width, args.width), nn.Dropout(args.rate)
        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("--width", type=int, default=48)
            parser.add_argument("--rate", type=float, default=0.1)
            Model(parser.parse_args())
    """,
}

WRITTEN |= {
    "(Settings(size=8, part=Part(3)),)": """
        class Part:
            def __init__(self, width): self.width = width
        class Settings:
            def __init__(self, size, part): self.size, self.part = size, part
        class Model(nn.Module):
            def __init__(self, settings): ...
        def settings(size):
            part = Part(3)
            return Settings(size=size * 2, part=part)
        def main():
            Model(settings(4))
    """,
    "(__import__('types').SimpleNamespace(width=5, sizes=[5, 10], deep=True),)": """
        from types import SimpleNamespace
        class Model(nn.Module):
            def __init__(self, config): ...
        def config(deep=False):
            made = SimpleNamespace()
            made.width = 5
            made.sizes = []
            for number in (1, 2):
                made.sizes.append(number * made.width)
            made.deep = deep
            return made
        def main():
            given = config()
            given.deep = True
            Model(given)
    """,
    "(body(), 7, torch.nn.Tanh)": """
        def body():
            made = nn.Linear(4, 5)
            made.width = 5
            return made
        def act(name):
            return {"tanh": nn.Tanh, "relu": nn.ReLU}[name]
        class Model(nn.Module):
            def __init__(self, body, classes, act): ...
        def main():
            Model(body(), 7, act("tanh"))
    """,
    "(3, 10, [1, 2], [8, 16])": """
        KINDS = {"tiny": dict(depths=[1, 2], widths=[8, 16]), "base": dict(depths=[2, 2], widths=[32, 64])}
        class Model(nn.Module):
            def __init__(self, inputs, classes, depths, widths): ...
        def create(kind, classes=1000):
            return Model(3, classes, **KINDS[kind])
        def tiny():
            return create("tiny", 10)
    """,
}

ASKED = {
    "a list where it is walked through": ("for width in given: pass", "[32, 64, 128]"),
    "a pair where it is unpacked": ("height, width = given", "(64, 64)"),
    "a pair where what keeps it is unpacked": ("self.kept, self.other = given, 1; a, b = self.kept", "(64, 64)"),
    "a list as long as its last index": ("given[2]", "[64, 64, 64]"),
    "a whole number where it is counted to": ("for _ in range(given): pass", "64"),
    "the first text that it is compared with": ("given in ['LSTM', 'GRU']", "'LSTM'"),
    "a key of the table that it is looked up in": ("{'relu': 1, 'gelu': 2}[given]", "'relu'"),
    "a dict of what is asked of it": ("nn.Linear(given['width'], given['depth'])", "{'width': 64, 'depth': 2}"),
    "a configuration": (
        "nn.Linear(given.width, given.depth)",
        "__import__('types').SimpleNamespace(width=64, depth=2)",
    ),
    "what another class asks of it": ("Other(given)", "[64, 64, 64]"),
}


def first(tmp_path: Path, text: str) -> str:
    from inductor_debug.capture.inference.construction import constructions
    from inductor_debug.capture.inference.rendering import arguments_of

    path, module = str(tmp_path / "model.py"), ModuleType("model")
    text = HEAD + dedent(text)
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    exec(compile(text, path, "exec"), vars(module))
    return arguments_of(
        next(constructions(module.Model, module, ast.parse(text), path, str(tmp_path))).arguments  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("written", WRITTEN)
def test_arguments_are_those_that_the_file_writes(written: str, tmp_path: Path) -> None:
    text = WRITTEN[written].replace("Model(SETTINGS", "wanted = lambda: Model(SETTINGS")
    text = text.replace("): ...", "): super().__init__()")
    assert first(tmp_path, text) == written


@pytest.mark.parametrize("what", ASKED)
def test_arguments_are_what_the_code_asks_of_them(what: str, tmp_path: Path) -> None:
    code, wanted = ASKED[what]
    name = "sizes" if wanted == "[32, 64, 128]" else "given"
    other = "class Other(nn.Module):\n    def __init__(self, pair):\n        self.pair = pair\n        pair[1:]\n"
    text = f"{other}class Model(nn.Module):\n    def __init__(self, {name}):\n        {code.replace('given', name)}\n"
    assert first(tmp_path, text) == f"({wanted},)"


CALLED = """
    import os, sys
    def settings():
        open({path!r}, "w").close()
        return 12
    def endless():
        while True:
            pass
        return 7
    def huge():
        return [0] * 10 ** 9
    class Model(nn.Module):
        def __init__(self, width, depth, table): super().__init__()
    def main():
        Model(settings(), endless(), huge())
"""


def test_functions_of_the_file_are_followed_and_never_called(tmp_path: Path) -> None:
    written = tmp_path / "written"
    assert first(tmp_path, CALLED.replace("{path!r}", repr(str(written)))) == "(12, 7, 64)"
    assert not written.exists()
