"""What the other files of a project tell of a class: how they build it, what they call it, what they set on it."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from forked import Job, analyze
from inductor_debug.capture.inference.construction.project_files import names_of
from inductor_debug.capture.inference.values.following import Follower
from inductor_debug.capture.inference.values.symbolic_values import UnknownError, text_of
from inductor_debug_schema import FileStatus

pytestmark = pytest.mark.torch

NET = """
from torch import nn

class Net(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
"""


def analysed(folder: Path, files: dict[str, str]) -> Job:
    """The analysis of `model.py` in a project of these files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(dedent(text))
    return analyze(folder / "model.py", root=folder, accelerator="none")


def built(folder: Path, files: dict[str, str]) -> str:
    """The arguments that the one class of `model.py` is built with, none of which was made up."""
    (stage,) = analysed(folder, files).stages
    assert stage.inferred is not None
    assert stage.inferred.invented == []
    return stage.inferred.init


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(
            {"train.py": "from model import Net\nfrom settings import small as c\nnet = Net(c['width'], c['depth'])"}
            | {"settings.py": "small = {'width': 24, 'depth': 3}"},
            id="constants of a module that nothing imports",
        ),
        pytest.param(
            {"train.py": "from model import Net\nfrom data import *\nnet = Net(WIDTH, DEPTH)"}
            | {"data/__init__.py": "from .sizes import WIDTH, DEPTH", "data/sizes.py": "WIDTH = 24\nDEPTH = 3"},
            id="constants that a package hands on",
        ),
        pytest.param(
            {"train.py": "import data.sizes as sizes\nfrom model import Net\nnet = Net(sizes.WIDTH, sizes.DEPTH)"}
            | {"data/sizes.py": "WIDTH = DEPTH = 3\nWIDTH = 24"},
            id="a module under another name",
        ),
        pytest.param({"train.py": "from model import Net as Network\nnet = Network(24, 3)"}, id="another name"),
        pytest.param(
            {
                "nets/__init__.py": "from model import Net as small",
                "train.py": "from nets import *\nnet = small(24, 3)",
            },
            id="another name that a package gives it",
        ),
        pytest.param(
            {"README.md": "```sh\npip install net\n```\n```py\nfrom model import Net\nnet = Net(24, 3)\n```\n"},
            id="an example below another one that is no Python",
        ),
        pytest.param(
            {"train.py": "from model import Net\nnet = Net(24, 3)\nnet.cuda(async=True)"},
            id="a script from before `async` was a keyword",
        ),
        pytest.param(
            {"train.py": "import tables\nfrom model import Net\nnet = Net(*eval('tables.%s' % 'SMALL'))"}
            | {"tables.py": "SMALL = (24, 3)"},
            id="eval of a written name",
        ),
        pytest.param(
            {"train.py": "import tables\nfrom model import Net\nnet = Net(*getattr(tables, 'SMALL'))"}
            | {"tables.py": "SMALL = (24, 3)"},
            id="getattr of a written name",
        ),
        pytest.param(
            {"meta.py": "from model import Net\nclass Meta:\n    def __init__(self, w):\n        self.net = Net(w, 3)"}
            | {"train.py": "from meta import Meta\nmeta = Meta(24)"},
            id="what a class of another file is given in a third",
        ),
        pytest.param(
            {"meta.py": "from model import Net\nclass M:\n    def __init__(self, o):\n        self.net = Net(o.w, 3)"}
            | {
                "train.py": """
                import argparse
                from meta import M

                def main():
                    meta = M(args)

                if __name__ == "__main__":
                    parser = argparse.ArgumentParser()
                    parser.add_argument("--w", type=int, default=24)
                    args = parser.parse_args()
                    main()
                """
            },
            id="options that the main program of another file reads",
        ),
        pytest.param(
            {
                "settings.py": """
                import argparse

                def parse():
                    parser = argparse.ArgumentParser()
                    parser.add_argument("--width", type=int, default=24)
                    args = parser.parse_args()
                    return args
                """,
                "train.py": """
                from model import Net
                from settings import parse

                def main():
                    global args
                    args = parse()
                    net = Net(args.width, 3)
                """,
            },
            id="options that a function of another file reads",
        ),
    ],
)
def test_a_class_is_built_as_the_project_builds_it(files: dict[str, str], tmp_path: Path) -> None:
    assert built(tmp_path, {"model.py": NET, **files}) == "(24, 3)"


def test_a_library_that_only_a_script_imports_is_asked_for_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "site-packages"
    (library / "zoo_of_nets").mkdir(parents=True)
    (library / "zoo_of_nets" / "__init__.py").write_text("")
    (library / "zoo_of_nets" / "nets.py").write_text("WIDTHS = {'small': 24}\ndef block():\n    pass\n")
    monkeypatch.syspath_prepend(library)
    text = "import zoo_of_nets.nets as nets\nfrom zoo_of_nets import nets as same\nimport torch_that_is_not_there"
    names = names_of(ast.parse(text))
    assert "zoo_of_nets.nets" not in sys.modules
    follower = Follower(names, {})

    def value(expression: str) -> object:
        return follower.or_unknown(ast.parse(expression, mode="eval").body, {})

    assert value("same.WIDTHS['small']") == value("nets.__dict__['WIDTHS']['small']") == 24
    assert text_of(value("nets.block"), names) == "__import__('zoo_of_nets.nets', fromlist=['_']).block"
    assert value("nets.missing") is value("torch_that_is_not_there.x") is UnknownError


def test_a_method_is_followed_without_making_what_it_is_called_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "made_nets.py").write_text(
        dedent("""
        import contextlib

        MADE = []

        class Net:
            def __init__(self, width):
                MADE.append(width)
                self.width = width

            def doubled(self, number):
                return self.same(number) * 2

            def same(self, number):
                return number

            def widths(self):
                return [self.width, self.width + 1]

            @contextlib.contextmanager
            def guarded(self):
                yield
        """)
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "made_nets", raising=False)
    nets = importlib.import_module("made_nets")
    names: dict[str, object] = {}
    text = "net = Net(8)\na = net.doubled(3)\nb = net.guarded()\n"
    follower = Follower(vars(nets), {})
    follower.run(ast.parse(text).body, names)
    assert (names["a"], names["b"], nets.MADE) == (6, UnknownError, [])
    follower.run(ast.parse("c = net.widths()\nd = net.widths()\n").body, names)
    assert (names["c"], names["d"], nets.MADE) == ([8, 9], [8, 9], [8])
    follower.run(ast.parse("net.width = 16\ne = net.widths()\n").body, names)
    assert (names["e"], nets.MADE) == ([16, 17], [8, 8])


def test_arguments_without_names_are_those_of_a_call(tmp_path: Path) -> None:
    """Without them the layer would be called a fault of the class: `transpose` wants two."""
    model = """
    from torch import nn

    class Transpose(nn.Module):
        def __init__(self, *dims, contiguous=False):
            super().__init__()
            self.dims, self.contiguous = dims, contiguous

        def forward(self, x):
            return x.transpose(*self.dims)
    """
    files = {"model.py": model, "train.py": "from model import Transpose\nlayer = Transpose(1, 2)"}
    assert built(tmp_path, files) == "(1, 2)"


@pytest.mark.parametrize("text", ["from torch import nn\nx = nn.Sequential(nn.ReLU())", "from torch.nn import *"])
def test_a_class_of_torch_is_no_class_of_the_project_that_is_called_so(text: str, tmp_path: Path) -> None:
    own = """
    class Sequential(nn.Module):
        def __init__(self, blocks):
            super().__init__()
            self.blocks = blocks

        def forward(self, x):
            for first, second in self.blocks:
                x = second(first(x))
            return x
    """
    job = analysed(tmp_path, {"model.py": f"{text}\nfrom torch import nn\n{dedent(own)}"})
    assert job.findings == []


def test_arguments_that_are_handed_on_by_position_are_those_of_the_base(tmp_path: Path) -> None:
    model = f"""{NET}
class Wide(Net):
    def __init__(self, *args):
        super().__init__(*args, depth=2)
"""
    job = analysed(tmp_path, {"model.py": model, "train.py": "from model import Wide\nnet = Wide(48)"})
    assert [stage.inferred.init for stage in job.stages if stage.target == "Wide" and stage.inferred] == ["(48,)"]


def test_what_a_script_sets_on_its_model_is_there(tmp_path: Path) -> None:
    model = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.linear = nn.Linear(width, width)

        def forward(self, x):
            if self.drop_path_prob > 0.0:
                x = x * (1 - self.drop_path_prob)
            return self.linear(x) * self.scale
    """
    script = """
    from model import Net
    from elsewhere import read

    def main():
        net = Net(24)
        net.scale = read()
        for epoch in range(3):
            net.drop_path_prob = 0.2 * (epoch + 1) / 3
    """
    job = analysed(tmp_path, {"model.py": model, "train.py": script})
    assert (job.status, job.findings) == (FileStatus.CLEAN, [])
    assert [stage.report.state.value for stage in job.stages] == ["done"]
    alone = tmp_path / "alone"
    assert "capture-error" in {finding.rule for finding in analysed(alone, {"model.py": model}).findings}


def test_options_are_what_the_script_makes_of_them_once_they_are_read(tmp_path: Path) -> None:
    model = """
    import torch
    from torch import nn

    class Generator(nn.Module):
        def __init__(self, args):
            super().__init__()
            self.blocks = nn.Sequential(*[Block(64, args.rates) for _ in range(args.block_num)])
        def forward(self, x):
            return self.blocks(x)

    class Block(nn.Module):
        def __init__(self, dim, rates):
            super().__init__()
            self.branches = nn.ModuleList(
                nn.Sequential(nn.ReflectionPad2d(rate), nn.Conv2d(dim, dim // 4, 3, dilation=rate)) for rate in rates
            )
            self.fuse = nn.Conv2d(dim, dim, 3, padding=1)
        def forward(self, x):
            return self.fuse(torch.cat([branch(x) for branch in self.branches], 1))
    """
    options = """
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--block_num", type=int, default=2)
    parser.add_argument("--rates", type=str, default="1+2+4+8")
    args = parser.parse_args()
    args.rates = list(map(int, args.rates.split("+")))
    """
    job = analysed(tmp_path, {"model.py": model, "options.py": options})
    assert (job.status, job.findings) == (FileStatus.CLEAN, [])
    assert {stage.report.state.value for stage in job.stages} == {"done"}


def test_a_class_that_would_download_its_weights_is_built_without_them(tmp_path: Path) -> None:
    model = """
    import urllib.request
    from torch import nn

    class Segmenter(nn.Module):
        def __init__(self, classes, pretrained_base=True):
            super().__init__()
            self.layer = nn.Conv2d(3, classes, 3)
            if pretrained_base:
                urllib.request.urlretrieve("http://127.0.0.1:9/weights.pth", "weights.pth")
        def forward(self, x):
            return self.layer(x)
    """
    script = "from model import Segmenter\n\ndef get_segmenter(**kwargs):\n    return Segmenter(21, **kwargs)\n"
    job = analysed(tmp_path, {"model.py": model, "factory.py": script})
    assert (job.status, job.findings) == (FileStatus.CLEAN, [])
    (stage, *_) = job.stages
    assert stage.inferred is not None
    assert "'pretrained_base': False" in stage.inferred.init


def test_what_a_constructor_lacks_nobody_else_can_have_set(tmp_path: Path) -> None:
    model = """
    from torch import nn

    class Pyramid(nn.Module):
        def __init__(self, in_channels, sizes=(1, 2)):
            super().__init__()
            self.pools = nn.ModuleList()
            for size in sizes:
                self.pool.append(nn.AdaptiveAvgPool2d(size))
        def forward(self, x):
            return [pool(x) for pool in self.pools]
    """
    other = "def change(model):\n    model.pool = None\n"
    (finding,) = analysed(tmp_path, {"model.py": model, "other.py": other}).findings
    assert (finding.rule, finding.severity.value) == ("capture-error", "error")
    assert "`Pyramid` has no `pool`; did you mean `pools`?" in finding.message


def test_a_call_in_a_branch_that_is_not_taken_is_given_another_value_than_the_one_that_keeps_from_it(
    tmp_path: Path,
) -> None:
    model = """
    from torch import nn

    class Residual(nn.Module):
        def __init__(self, channels=3, kind="Conv2d"):
            super().__init__()
            self.layer = getattr(nn, kind)(channels, 8, 1)

        def forward(self, x):
            return self.layer(x)

    class Plain(nn.Module):
        def __init__(self, channels=3):
            super().__init__()
            self.layer = nn.Conv2d(channels, 8, 1)

        def forward(self, x):
            return self.layer(x)

    class Whole(nn.Module):
        def __init__(self, channels=3, kind="plain"):
            super().__init__()
            if "Conv" in kind:
                self.net = Residual(channels=channels, kind=kind)
            else:
                self.net = Plain(channels)

        def forward(self, x):
            return self.net(x)
    """
    job = analysed(tmp_path, {"model.py": model})
    assert (job.status, job.findings) == (FileStatus.CLEAN, [])


def test_a_checkpoint_that_is_not_there_is_left_out(tmp_path: Path) -> None:
    model = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(8, 8)
            state = torch.load("weights/net.pth", map_location="cpu")
            self.load_state_dict({name[7:]: value for name, value in state["state_dict"].items()})

        def forward(self, x):
            return self.linear(x)

    class Table(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding.from_pretrained(torch.load("table.pt"))

        def forward(self, x):
            return self.table(x)
    """
    job = analysed(tmp_path, {"model.py": model})
    assert [(stage.target, stage.report.state.value) for stage in job.stages] == [("Net", "done"), ("Table", "skipped")]
    assert any("net.pth" in note for note in job.stages[0].report.notes), job.stages
    assert "No such file or directory: 'table.pt'" in " ".join(job.stages[1].report.notes)


@pytest.mark.parametrize(
    ("forward", "signature"),
    [
        pytest.param(
            "return self.table[t] * 2",
            "t i64[batch]",
            id="an index of a table",
        ),
        pytest.param(
            "a, b = list(t.values())\n        return self.layer(a) + self.layer(b)",
            "t {0: f32[batch, 8], 1: f32[batch, 8]}",
            id="a mapping that is gone through",
        ),
    ],
)
def test_what_the_code_does_with_an_argument_says_what_it_is(forward: str, signature: str, tmp_path: Path) -> None:
    model = f"""
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 8)
            self.register_buffer("table", torch.zeros(100, 8))

        def forward(self, t):
            {forward}
    """.replace("\n        return self.layer", "\n            return self.layer")
    (stage,) = analysed(tmp_path, {"model.py": model}).stages
    assert stage.inferred is not None
    assert stage.inferred.signature == signature


def test_a_list_of_tensors_is_given_where_items_are_asked_for_their_device(tmp_path: Path) -> None:
    model = """
    import torch
    from torch import nn

    class Convolution(nn.Module):
        def __init__(self, order, polynomials, width):
            super().__init__()
            self.order, self.polynomials = order, polynomials
            self.device = polynomials[0].device
            self.linear = nn.Linear(width, width).to(self.device)

        def forward(self, x):
            return sum(self.linear(self.polynomials[k] @ x) for k in range(self.order))
    """
    job = analysed(tmp_path, {"model.py": model})
    assert [stage.report.state.value for stage in job.stages] == ["done"]


def test_what_a_machine_without_gpus_makes_of_a_class_is_not_its_fault(tmp_path: Path) -> None:
    model = """
    import torch
    from torch import nn

    class Shared(nn.Module):
        def __init__(self, width=8):
            super().__init__()
            self.linear = nn.Linear(width, width)
            self.buffers_of = [torch.zeros(width) for _ in range(torch.cuda.device_count())]
            self.first = self.buffers_of[0]

        def forward(self, x):
            return self.linear(x) + self.first
    """
    job = analysed(tmp_path, {"model.py": model})
    assert job.findings == []
    assert [stage.report.state.value for stage in job.stages] == ["skipped"]
    assert [finding.rule for finding in analysed(tmp_path, {"model.py": model.replace("device_count", "ipc")}).findings]
