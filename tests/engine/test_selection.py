"""Which files of a folder are run, from their text alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from inductor_debug.engine.selection.effects import TopLevelEffect
from inductor_debug.engine.selection.selection import Selector, Skip, SkipReason, tally, words
from inductor_debug.engine.settings.settings import Settings
from inductor_debug_schema import TargetSetting

MODEL = "import torch.nn as nn\nclass Net(nn.Module):\n    def forward(self, x): return x\n"
LAYERS = {"layers.py": "from torch import nn\nclass Layer(nn.Module): ...\n", "plain.py": "class Layer: ...\n"}


def skip_of(folder: Path, name: str, text: str, others: dict[str, str] | None = None, **said: object) -> Skip | None:
    for path, content in {**(others or {}), name: text}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    settings = Settings(str(folder), **said)  # type: ignore[arg-type]
    return Selector(str(folder)).skip(str(folder / name), str(folder), settings)


MODELS = {
    "a module by its full name": "import torch\nclass Net(torch.nn.Module): ...\n",
    "a module under another name": "import torch.nn as layers\nclass Net(layers.Sequential): ...\n",
    "a base that is assigned": "import torch\nBase = torch.nn.Module\nclass Net(Base): ...\n",
    "a generic module": "from torch import nn\nfrom typing import Generic\nclass Net(Generic[T], nn.Module): ...\n",
    "a class inside of try": "from torch import nn\ntry:\n    class Net(nn.Module): ...\nexcept ImportError: ...\n",
    "a base of the project": "from layers import Layer\nclass Net(Layer): ...\n",
    "a base through a star": "from layers import *\nclass Net(Layer): ...\n",
    "all of torch.nn": "from torch.nn import *\nclass Net(Module): ...\n",
    "a model of a library named after torch": "import torchvision\nclass Net(torchvision.models.ResNet): ...\n",
    "a foreign base and a part of its forward": (
        "import torch\nfrom timm.models import vit\nclass Net(vit.ViT):\n    def forward_features(self, x): return x\n"
    ),
    "a foreign base and a forward": (
        "from lightning import LightningModule\nclass Net(LightningModule):\n    def forward(self, x): return x\n"
    ),
    "a foreign base and layers": (
        "import torch\nfrom timm import Base\nclass N(Base):\n    def __init__(self): self.a = torch.nn.Linear(1, 1)\n"
    ),
    "a compiled function": "import torch\n@torch.compile\ndef f(x): return x\n",
    "a compiled function with options": "from torch import compile as c\n@c(dynamic=True)\ndef f(x): return x\n",
    "a compiled model": "import torch\nfrom layers import Layer\nmodel = torch.compile(Layer())\n",
    "its own compile": "import torch\nfrom layers import Layer\nmodel = Layer()\nmodel.compile()\n",
    "compiled where main() is called": "import torch\ndef main(): torch.compile(len)\nmain()\n",
    "inputs beside an imported model": "from layers import Layer\ndef example_inputs(): ...\n",
    "a directive": "from layers import build\n# inductor-debug: inputs=(1,)\nmodel = build()\n",
    "syntax that is broken": "import torch\nclass Net(torch.nn.Module:\n",
}


@pytest.mark.parametrize("text", MODELS.values(), ids=MODELS)
def test_what_defines_or_compiles_a_model_is_checked(tmp_path: Path, text: str) -> None:
    assert skip_of(tmp_path, "file.py", text, LAYERS) is None


OTHERS = {
    "nothing": ("", SkipReason.WITHOUT_TORCH),
    "no torch": ("import numpy as np\nclass A(dict): ...\n", SkipReason.WITHOUT_TORCH),
    "not Python": ("print 'hello'\n", SkipReason.WITHOUT_TORCH),
    "torch through the project": ("from layers import Layer\nx = Layer\n", SkipReason.WITHOUT_MODEL),
    "a base of the project that is none": ("import torch\nfrom plain import Layer\nclass A(Layer): ...\n", None),
    "a data set": ("import torch\nclass A(torch.utils.data.Dataset): ...\n", None),
    "a parameter": ("from torch import nn\nclass A(nn.Parameter): ...\n", None),
    "a gradient": ("import torch\nclass A(torch.autograd.Function):\n    def forward(c, x): return x\n", None),
    "a configuration": ("import torch\nfrom pydantic import BaseModel\nclass A(BaseModel): ...\n", None),
    "another framework": (
        "import caffe\nclass A(caffe.Layer):\n  def forward(s, x): ...\n",
        SkipReason.WITHOUT_TORCH,
    ),
    "a base that is its own": ("import torch\nclass A(A): ...\n", None),
    "bases in a circle": ("import torch\nfrom file import B\nclass A(B): ...\nclass B(A): ...\n", None),
    "a regular expression": ("import re, torch\npattern = re.compile('a')\n", None),
    "a class in a function": ("from torch import nn\ndef f():\n    class A(nn.Module): ...\n", None),
    "compiled by hand only": (
        "import torch\nif __name__ == '__main__':\n    torch.compile(len)\n",
        None,
    ),
}


@pytest.mark.parametrize(("text", "reason"), OTHERS.values(), ids=OTHERS)
def test_what_does_not_is_passed_over(tmp_path: Path, text: str, reason: SkipReason | None) -> None:
    assert skip_of(tmp_path, "file.py", text, LAYERS) == Skip(reason or SkipReason.WITHOUT_MODEL)


PATHS = {
    "setup.py": SkipReason.SET_UP,
    "deep/conftest.py": SkipReason.SET_UP,
    "docs/conf.py": SkipReason.SET_UP,
    "conf.py": None,
    "test_net.py": SkipReason.TEST,
    "net_test.py": SkipReason.TEST,
    "test.py": None,
    "tests/nets.py": SkipReason.TEST,
    "a/unit_tests/nets.py": SkipReason.TEST,
    "app/migrations/0001.py": SkipReason.MIGRATION,
    "contest/net.py": None,
}


@pytest.mark.parametrize(("path", "reason"), PATHS.items(), ids=PATHS)
def test_set_up_files_tests_and_migrations_are_passed_over(
    tmp_path: Path, path: str, reason: SkipReason | None
) -> None:
    assert skip_of(tmp_path, path, MODEL) == (None if reason is None else Skip(reason))


OPTIONS = (
    "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument({})\narguments = parser.parse_args()"
)
MAIN = "\nif __name__ == '__main__':\n    print(arguments)"
EFFECTS = {
    "with open('log.txt', 'w') as file: ...": TopLevelEffect.WRITES,
    "from pathlib import Path\nPath('out').mkdir()": TopLevelEffect.WRITES,
    "open('notes.txt').read()": None,
    "import os\nif True:\n    os.makedirs('runs')": TopLevelEffect.WRITES,
    "import torch\ntorch.save({}, 'a.pt')": TopLevelEffect.WRITES,
    "from torch import save as keep\nkeep({}, 'a.pt')": TopLevelEffect.WRITES,
    "def keep():\n    open('a', 'w')": None,
    "def main():\n    open('a', 'w')\nmain()": TopLevelEffect.WRITES,
    "class Log:\n    def __init__(self): open('a', 'w')\nlog = Log()": TopLevelEffect.WRITES,
    "if __name__ == '__main__':\n    open('a', 'w')": None,
    "if __name__ == '__main__':\n    ...\nelse:\n    open('a', 'w')": TopLevelEffect.WRITES,
    "keep = lambda: open('a', 'w')": None,
    "try:\n    import re\nexcept ImportError:\n    import os\n    os.system('pip install re')": None,
    "import requests\nrequests.get('http://a')": TopLevelEffect.NETWORK,
    "from torchvision.datasets import MNIST\ndata = MNIST('.', download=True)": TopLevelEffect.NETWORK,
    "import subprocess as s\nCOMMIT = s.check_output(['git'])": TopLevelEffect.PROCESS,
    "import argparse\narguments = argparse.ArgumentParser().parse_args()": TopLevelEffect.COMMAND_LINE,
    OPTIONS.format('"--width", default=3') + MAIN: None,
    OPTIONS.format('"--width", required=True') + MAIN: TopLevelEffect.COMMAND_LINE,
    OPTIONS.format('"width"') + MAIN: TopLevelEffect.COMMAND_LINE,
    OPTIONS.format('"width", nargs="?"') + MAIN: None,
    OPTIONS.format('"width", nargs="+"') + MAIN: TopLevelEffect.COMMAND_LINE,
    OPTIONS.format('"--width"'): TopLevelEffect.COMMAND_LINE,
    "from options import parser\narguments = parser.parse_args()" + MAIN: TopLevelEffect.COMMAND_LINE,
    "import sys\nsys.exit(main())": TopLevelEffect.EXITS,
    "import torch\nweights = torch.load('a.pt')": TopLevelEffect.LOADS,
    "for step in range(3):\n    loss.backward()": TopLevelEffect.TRAINS,
    "loss.backward()": None,
    "from torch.utils.data import DataLoader\nd = DataLoader([])\nfor i, x in enumerate(d): ...": TopLevelEffect.TRAINS,
    "for width in (1, 2): ...": None,
}


@pytest.mark.parametrize(("code", "effect"), EFFECTS.items(), ids=EFFECTS)
def test_scripts_that_touch_the_world_when_they_are_loaded_are_passed_over(
    tmp_path: Path, code: str, effect: TopLevelEffect | None
) -> None:
    skip = skip_of(tmp_path, "file.py", MODEL + code + "\n")
    if effect is None:
        assert skip is None
    else:
        assert skip is not None
        assert skip.deed is not None
        assert (skip.reason, skip.deed.effect) == (SkipReason.SCRIPT, effect)
        assert skip.deed.line >= 3


DEEP = {
    "a long sum": "x = " + "+".join(["1"] * 3000),
    "many branches": "import sys\nif sys.argv == 0: ...\n" + "elif sys.argv == 1: ...\n" * 2000,
    "many brackets": "x = " + "[" * 150 + "]" * 150,
    "calls of calls": "def f(): return g()\ndef g(): return f()\nf()",
    "nothing but a comment": "# nothing",
    "a byte order mark": "\ufeffx = 1",
}


@pytest.mark.parametrize("code", DEEP.values(), ids=DEEP)
def test_odd_files_are_judged_like_others(tmp_path: Path, code: str) -> None:
    text = code + "\n" + MODEL if code.startswith("\ufeff") else MODEL + code + "\n"
    assert skip_of(tmp_path, "file.py", text) is None


def test_the_project_may_keep_its_packages_in_src_and_import_relatively(tmp_path: Path) -> None:
    others = {
        "src/pkg/__init__.py": "from .nets.base import Base\n",
        "src/pkg/nets/__init__.py": "",
        "src/pkg/nets/base.py": MODEL + "class Base(Net): ...\n",
    }
    assert skip_of(tmp_path, "examples/a.py", "import pkg\nclass A(pkg.Base): ...\n", others) is None
    assert skip_of(tmp_path, "src/pkg/nets/b.py", "from .. import Base\nclass B(Base): ...\n", others) is None
    assert skip_of(tmp_path, "src/pkg/c.py", "from .nets import base\nclass C(base.Base): ...\n", others) is None


def test_what_the_user_declares_or_includes_is_checked_whatever_it_is(tmp_path: Path) -> None:
    assert skip_of(tmp_path, "tests/test_a.py", MODEL, include=("test_a.py",)) is None
    assert skip_of(tmp_path, "tests/test_a.py", MODEL, include=("tests/*",)) is None
    assert skip_of(tmp_path, "tests/test_a.py", MODEL, include=("test_b.py",)) is not None
    assert skip_of(tmp_path, "setup.py", "x = 1\n", targets=(TargetSetting("x", None, "()"),)) is None
    assert skip_of(tmp_path, "tests/test_a.py", "# inductor-debug: inputs=(1,)\ndef f(x): ...\n") is None


def test_what_parity_bench_has_made_is_no_test(tmp_path: Path) -> None:
    listed = f"from _paritybench_helpers import _mock_config\n{MODEL}TESTCASES = []\n"
    assert skip_of(tmp_path, "generated/test_a.py", listed) is None
    told = skip_of(tmp_path, "generated/test_a.py", f"# as _paritybench_helpers has it\n{MODEL}")
    assert told == Skip(SkipReason.TEST)


def test_a_folder_of_tests_that_is_named_is_no_test(tmp_path: Path) -> None:
    skip_of(tmp_path, "tests/nets.py", MODEL)
    selector = Selector(str(tmp_path))
    assert selector.skip(str(tmp_path / "tests/nets.py"), str(tmp_path / "tests"), Settings(str(tmp_path))) is None


def test_reasons_are_told_in_words_and_counted(tmp_path: Path) -> None:
    script = skip_of(tmp_path, "train.py", MODEL + "open('log', 'w')\n")
    assert script is not None
    assert words(script) == "writes files when it is loaded, in line 4"
    others = [Skip(SkipReason.TEST), Skip(SkipReason.TEST), Skip(SkipReason.SET_UP), Skip(SkipReason.WITHOUT_TORCH)]
    assert tally([script, *others]) == "2 tests, 1 set-up, 1 script, 1 without torch"
