"""Constructor arguments that nobody gave us: as the project writes them, as the code uses them, as they are called."""

from __future__ import annotations

import ast
import linecache
import sys
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
    "(__import__('easydict', fromlist=['_']).EasyDict({'width': 8, 'head': {'classes': 5}, 'depth': 3}),)": """
        class EasyDict(dict):
            __getattr__ = dict.__getitem__
            def __setattr__(self, name, value): self[name] = value
        EasyDict.__module__ = "easydict"
        CONFIGS = {"small": EasyDict(width=8, head=EasyDict(classes=2))}
        class Model(nn.Module):
            def __init__(self, config):
                for _ in range(config.depth): nn.Linear(config.width, config.head.classes)
        def main():
            config = CONFIGS["small"]
            config.head.classes = 5
            config.depth = 3
            Model(config)
    """,
    "(Settings(size_or_file=32, rate=0.2),)": """
        class Settings:
            def __init__(self, size_or_file, rate=0.1): self.size, self.rate = size_or_file, rate
            @classmethod
            def from_dict(cls, values):
                settings = Settings(-1)
                for key, value in values.items():
                    settings.__dict__[key] = value
                return settings
        class Other(nn.Module):
            def __init__(self, settings):
                '''An example.
                ```python
                settings = Settings(size_or_file=32, rate=0.2)
                ```
                '''
        class Model(nn.Module):
            def __init__(self, settings: Settings): nn.Linear(settings.size, 2)
    """,
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

WRITTEN |= {
    "(24, 'cpu')": """
        class Model(nn.Module):
            def __init__(self, width, device): ...
        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("--device", default="auto")
            args = parser.parse_args()
            Model(24, torch.device(args.device))  # which raises a RuntimeError
    """,
    "(__import__('numpy').array([1, 2]), 3)": """
        class Model(nn.Module):
            def __init__(self, sizes, depth): ...
        def main():
            for depth in (3, 4):
                Model(np.array([1, 2]), depth)
    """,
    "([1, 2], 5, 64)": """
        class Model(nn.Module):
            def __init__(self, widths, depth, size): ...
        def main():
            widths, sizes = [], []
            for width in range(1, 9):
                if width > 2:
                    depth = 5
                    break
                widths.append(width)
            while unknown():
                sizes.append(1)
            Model(widths, depth, len(sizes))
    """,
    "([13, 17],)": """
        class Model(nn.Module):
            def __init__(self, kernels): ...
        class Whole(nn.Module):
            def __init__(self, config, kernels=[12, 16, 17]):
                super().__init__()
                odd, others = [], []
                for kernel in kernels:
                    if kernel % 2 == 0:
                        odd.append(kernel + 1)
                        others.append(config.length // kernel)
                    else:
                        others.append(kernel)
                self.part = Model(odd)
    """,
    "(30, 2, 7)": """
        class Model(nn.Module):
            def __init__(self, width, depth, classes): ...
            @classmethod
            def from_settings(cls, settings, *, classes):
                return cls(settings["width"], depth=settings["depth"], classes=classes)
            @classmethod
            def tiny(cls):
                return cls.from_settings({"width": 30, "depth": 2}, classes=7)
    """,
    "(300, 10)": """
        MODELS = {}
        def register(kind):
            MODELS[kind.__name__] = kind
            return kind
        @register
        class Model(nn.Module):
            def __init__(self, width, classes): ...
        def build(name, **rest):
            return MODELS[name](**rest)
        def main():
            build("Model", width=300, classes=10)
    """,
    "(12, 3)": """
        class Registry:
            def __init__(self):
                self.known = {}
            def register(self, kind):
                self.known[kind.__name__] = kind
                return kind
            def build(self, config):
                config = dict(config)
                return self.known[config.pop("type")](**config)
        MODELS = Registry()
        @MODELS.register
        class Model(nn.Module):
            def __init__(self, width, depth): ...
        def main():
            MODELS.build(dict(type="Model", width=12, depth=3))
    """,
    "(64, 128, torch.nn.Conv2d(64, 128, 1, 2))": """
        class Model(nn.Module):
            def __init__(self, inputs, planes, down): ...
        class Whole(nn.Module):
            def __init__(self, block, widths):
                super().__init__()
                self.inputs = widths[0]
                self.first = self.stage(block, widths[1], 2)
            def stage(self, block, planes, stride):
                return block(self.inputs, planes, nn.Conv2d(self.inputs, planes, 1, stride))
        def whole():
            return Whole(Model, [64, 128])
    """,
    "(96, 12)": """
        class click:
            command = option = staticmethod(lambda *args, **rest: lambda function: function)
        class Model(nn.Module):
            def __init__(self, width, classes): ...
        @click.command()
        @click.option("--hidden-dim", default=96)
        @click.option("--out", "classes", default=12)
        def main(hidden_dim, classes):
            Model(hidden_dim, classes)
    """,
    "(72, 'gelu')": """
        class flags:
            FLAGS = None
            DEFINE_integer = DEFINE_enum = staticmethod(lambda *args: None)
        flags.DEFINE_integer("width", 72, "how wide")
        flags.DEFINE_enum("kind", "gelu", ["relu", "gelu"], "which")
        class Model(nn.Module):
            def __init__(self, width, kind): ...
        def main(argv):
            Model(flags.FLAGS.width, flags.FLAGS.kind)
    """,
    "(80, __import__('functools').partial(torch.nn.LayerNorm, eps=1e-06))": """
        from functools import partial
        class typer:
            Option = staticmethod(lambda *args, **rest: args[0])
        class Model(nn.Module):
            def __init__(self, width, norm): ...
        def main(width: int = typer.Option(80, help="how wide")):
            Model(width, norm=partial(nn.LayerNorm, eps=1e-6))
    """,
    "(Settings(4, 9),)": """
        import dataclasses
        @dataclasses.dataclass
        class Settings:
            width: int
            depth: int = 1
        class Model(nn.Module):
            def __init__(self, settings): ...
        def main():
            Model(dataclasses.replace(Settings(4), depth=9))
    """,
}

WRITTEN |= {
    "(12, 2)": """
        class Kind(type):
            def __call__(cls, *args, **kwargs):
                return super().__call__(*args, **kwargs)
        class Model(nn.Module, metaclass=Kind):
            def __init__(self, width, depth): ...
        def main():
            Model(12, 2)
    """,
    "(7, 3)": """
        class Model(nn.Module):
            def __init__(self, *widths): ...
        def main():
            Model(7, 3)
    """,
    "{'width': 5, 'depth': 2}": """
        class Model(nn.Module):
            def __init__(self, width, **rest): ...
        def main():
            Model(width=5, depth=2)
    """,
}

WRITTEN |= {
    "(30, [1, 2], 1.0)": """
        class Model(nn.Module):
            def __init__(self, width, depths, scale): ...
        def small(pretrained=False, **rest):
            return Model(30, [1, 2], rest.get("scale", 1.0), **rest)
    """,
}

ANNOTATED = {
    "Kind": "Kind.FIRST",
    "Optional[Kind]": "Kind.FIRST",
    "'Kind | None'": "Kind.FIRST",
    "Path": "__import__('pathlib').Path('.')",
    "Row": "Row(width=64, depth=2)",
    "List[Row]": "[Row(width=64, depth=2), Row(width=64, depth=2)]",
    "Tuple['Row', Kind]": "(Row(width=64, depth=2), Kind.FIRST)",
    "Type[Encoder]": "Encoder",
    "Encoder": "Encoder()",
}

ASKED = {
    "a list where it is walked through": ("for width in given: pass", "[32, 64, 128]"),
    "a pair where it is unpacked": ("height, width = given", "(64, 64)"),
    "a pair where what keeps it is unpacked": ("self.kept, self.other = given, 1; a, b = self.kept", "(64, 64)"),
    "a list as long as its last index": ("given[2]", "[64, 64, 64]"),
    "few of what is counted to": ("for _ in range(given): pass", "2"),
    "the least number that meets a condition": ("assert (given - 4) % 60 == 0; nn.Linear(given, 2)", "64"),
    "a number of which a share is left": ("[nn.Linear(2, 2) for _ in range((given - 2) // 9)]", "65"),
    "the least number that is not refused": ("if given % 48: raise ValueError", "96"),
    "the only number that is not refused": (
        "if given != 9:\n            w = 'nine'\n            raise ValueError(w)",
        "9",
    ),
    "a share where a function drops it": ("nn.functional.dropout(torch.ones(2), given)", "0.1"),
    "a parameter where it becomes the weight of a layer": (
        "self.out = nn.Linear(2, 2); self.out.weight = given",
        "torch.nn.Parameter(torch.zeros(1000, 64))",
    ),
    "a matrix where it is multiplied with one": (
        "torch.matmul(given, torch.ones(64, 3))",
        "torch.zeros(1000, 64)",
    ),
    "what makes a layer of any arguments": (
        "self.part = given(4, 2)",
        "torch.nn.Identity",
    ),
    "what is spread is a dict": ("nn.Linear(2, 2, **given)", "{}"),
    "a layer where it is a module": ("given.register_buffer('u', None)", "torch.nn.Linear(64, 64)"),
    "few of each where its items are counted to": ("[n for n in range(2, given[1] + 1)]", "[2, 2, 2]"),
    "the first text that it is compared with": ("given in ['LSTM', 'GRU']", "'LSTM'"),
    "a word that it is compared with in small letters": ("given.lower() == 'relu'", "'relu'"),
    "a key of the table that it is looked up in": ("{'relu': 1, 'gelu': 2}[given]", "'relu'"),
    "a dict of what is asked of it": ("nn.Linear(given['width'], given['depth'])", "{'width': 64, 'depth': 2}"),
    "a dict where only a dict will do": ("[given[2]] + [int(key) for key, value in given.items()]", "{}"),
    "a dict that is looked up by what it goes round": (
        "for key in sorted(given):\n            self.add_module(key, nn.Conv2d(2, given[key], 1))",
        "{'given': 64}",
    ),
    "a configuration": (
        "nn.Linear(given.width, given.depth)",
        "__import__('types').SimpleNamespace(width=64, depth=2)",
    ),
    "what another class asks of it": ("Other(given)", "[64, 64, 64]"),
    "what a function of the file asks of it": ("other(given)", "[64, 64, 64]"),
    "a number where a part hands others on to its base": ("Scaled(given, 3)", "64"),
    "a collection where something is looked for in it": ("2 ** 3 in given", "[64, 64, 64]"),
    "one number where it is counted with, whatever its name": ("3 * given", "64"),
    "a number that can be divided as it is": ("nn.Linear(given // 48, given // 5)", "240"),
    "a share where it is how much is dropped": ("nn.Dropout(given)", "0.1"),
    "nothing where parts are made of it if there is any": ("nn.Linear(2, 2) if not given else given(2, 2, 2)", "None"),
    "a layer with the attributes that are read": (
        "self.layer = given; self.layer(given.bias.data)",
        "torch.nn.Linear(64, 64)",
    ),
    "an object with the method that is called": ("given.logarithm(3)", "Prior(mean=64)"),
    "a tuple where a base is handed what came": ("Loose(sizes=given)", "(64, 64, 64)"),
    "the first of a sequence where it is an index": ("[2, 3][4:][given]", "0"),
    "a dict of what the part asks for that it is unpacked for": ("Part(3, **given)", "{'shift': 64}"),
    "a tuple where nothing else is allowed": ("Strict(given)", "(64, 64, 64)"),
    "a pair where a static method raises for what is no tuple": ("self.checked(given)", "(3, 3)"),
    "a text where it is asserted to be one": ("assert isinstance(given, str) and given", "'same'"),
    "a number where it is computed with, though a text takes its place at times": (
        "self.left = given; nn.Embedding(given, 4); print(1.0 / given); print(self.left == 'extra')",
        "64",
    ),
    "a list where either is allowed": ("assert isinstance(given, (list, tuple))", "[64, 64, 64]"),
    "a layer where its weights are read": (
        "nn.Linear(int(given.in_features * 0.5), given.out_features); given.weight.data.abs()",
        "torch.nn.Linear(64, 64)",
    ),
    "a text where a table is asked for what it has by that name": (
        "nn.Sequential({'batch': nn.BatchNorm1d}.get(given, None)(8))",
        "'batch'",
    ),
    "a tensor where it is used as one": ("given.to(given.device); given.shape[0]", "torch.zeros(64, 64)"),
}


CLASSES = {
    "(Plain, [2, 2, 2])": "block(planes, planes, stride=2); block.expansion",
    "(Bottleneck, [2, 2, 2])": "block(planes, planes // 4, down=None)",
    "(torch.nn.ReLU, [2, 2, 2])": "block()",
}
"""The class of the file that fits how the class makes its parts, in a method that is handed it."""


def first(tmp_path: Path, text: str) -> str:
    return ways(tmp_path, text)[0]


def ways(tmp_path: Path, text: str) -> list[str]:
    from inductor_debug.capture.inference.construction.construction import constructions
    from inductor_debug.capture.inference.specs.rendering import arguments_of

    path, module = str(tmp_path / "model.py"), ModuleType("model_under_test")
    module.__file__, sys.modules[module.__name__] = path, module
    text = HEAD + dedent(text)
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    exec(compile(text, path, "exec"), vars(module))
    found = constructions(module.Model, module, ast.parse(text), path, str(tmp_path))
    return [arguments_of(item.arguments) for item in found]


@pytest.mark.parametrize("written", WRITTEN)
def test_arguments_are_those_that_the_file_writes(written: str, tmp_path: Path) -> None:
    text = WRITTEN[written].replace("Model(SETTINGS", "wanted = lambda: Model(SETTINGS")
    text = text.replace("): ...", "): super().__init__()")
    assert first(tmp_path, text) == written


@pytest.mark.parametrize("what", ASKED)
def test_arguments_are_what_the_code_asks_of_them(what: str, tmp_path: Path) -> None:
    code, wanted = ASKED[what]
    name = {"[32, 64, 128]": "sizes", "64": "channels", "(3, 3)": "kernel_size"}.get(wanted, "given")
    other = "class Other(nn.Module):\n    def __init__(self, pair):\n        self.pair = pair\n        pair[1:]\n"
    other += "class Prior:\n    def __init__(self, mean): ...\n    def logarithm(self, x): ...\n"
    other += "class Strict(nn.Module):\n    def __init__(self, sizes: int | tuple[int, ...]):\n        len(sizes)\n"
    other += "class Loose(Strict):\n    def __init__(self, **rest): super().__init__(**rest)\n"
    other += "class Part(nn.Module):\n    def __init__(self, width, shift):\n        shift + width\n"
    other += (
        "class Kept(nn.Module):\n    def __init__(self, module, scale=1):\n        module.weight.data.mul_(scale)\n"
    )
    other += "class Scaled(Kept):\n    def __init__(self, width, depth, **rest):\n"
    other += "        Kept.__init__(self, nn.Linear(width, depth), **rest)\n"
    other += "def other(pair):\n    return pair[1:]\n"
    text = f"{other}class Model(nn.Module):\n    def __init__(self, {name}):\n        {code.replace('given', name)}\n"
    text += "    @staticmethod\n    def checked(size):\n"
    text += "        if not (isinstance(size, tuple) or isinstance(size, list)): raise ValueError\n"
    assert first(tmp_path, text) == f"({wanted},)"


def test_an_argument_whose_name_only_its_class_knows_is_asked_for_as_any_other(tmp_path: Path) -> None:
    text = "class Model(nn.Module):\n    def __init__(self, __given):\n        nn.Linear(__given.width, 2)\n"
    assert first(tmp_path, text) == "(__import__('types').SimpleNamespace(width=64),)"


@pytest.mark.parametrize("given", CLASSES)
def test_a_class_is_given_that_takes_what_its_instances_are_made_of(given: str, tmp_path: Path) -> None:
    made, _, read = CLASSES[given].partition("; ")
    name = "act" if "ReLU" in given else "block"
    text = f"""
        class Plain(nn.Module):
            expansion = 1
            def __init__(self, inputs, planes, stride=1): super().__init__()
        class Bottleneck(nn.Module):
            def __init__(self, inputs, planes, stride=1, down=None): super().__init__()
        class Model(nn.Module):
            def __init__(self, {name}, layers):
                super().__init__()
                self.layer = self.make({name}, 64, layers[2])
            def make(self, block, planes, blocks):
                return [{made} for _ in range(1, blocks)], {read or None}
    """
    assert first(tmp_path, text) == given


DEFAULTS = {
    "Norm=None; Norm(4)": "torch.nn.LayerNorm",
    "BatchNorm=None; BatchNorm(4)": "torch.nn.BatchNorm2d",
    "table=None; table.shape[0]": "torch.zeros(64, 64)",
    "priors_cxcy=None; priors_cxcy.size(0)": "torch.zeros(40, 4)",
    "table=[]; table.size(0)": "torch.zeros(64, 64)",
    "depth=None; assert depth is not None": "2",
    "depth=None; assert isinstance(depth, int)": "2",
    "depth=None; assert depth is None or depth > 1": "",
    "depths=None; self.depth = len(depths) - 1": "[2, 2, 2]",
    "depths=None; self.depth = len(depths) if depths else 0": "",
    "cfg=None; nn.Linear(cfg.heads, cfg.depth)": "__import__('types').SimpleNamespace(heads=4, depth=2)",
    "norm=None; norm(4) if norm is not None else nn.Identity()": "",
    "norm=None; (norm or nn.LayerNorm)(4)": "",
    "norm=nn.LayerNorm; norm(4)": "",
}
"""What the constructor does with an argument that has a default, and what it is given instead of that."""


@pytest.mark.parametrize("code", DEFAULTS)
def test_a_default_with_which_no_constructor_ends_is_replaced(code: str, tmp_path: Path) -> None:
    (parameter, _, used), instead = code.partition("; "), DEFAULTS[code]
    text = f"class Model(nn.Module):\n    def __init__(self, {parameter}):\n        {used}\n"
    assert ways(tmp_path, text) == ["", *([f"({instead},)"] if instead else [])]
    text = text.replace("(self, ", "(self, width, ") + "def main(): Model(4)\n"
    assert first(tmp_path, text) == (f"(4, {instead.replace('64', '4')})" if instead else "(4,)")


def test_a_number_by_default_whose_length_is_asked_for_is_a_list_in_the_second_try(tmp_path: Path) -> None:
    text = """
    class Model(nn.Module):
        def __init__(self, width, kernels=1):
            self.layers = nn.ModuleList(nn.Conv2d(width, width, kernels[i]) for i in range(len(kernels)))
    def main():
        Model(24)
    """
    assert {"(24,)", "(24, [3, 5, 7])"} <= set(ways(tmp_path, text))


def test_a_table_of_embeddings_is_as_wide_as_what_else_is_guessed(tmp_path: Path) -> None:
    body = "self.table = nn.Embedding(9, embedding_dim); self.table.weight = nn.Parameter(weights)"
    text = f"class Model(nn.Module):\n    def __init__(self, embedding_dim, weights):\n        {body}\n"
    assert ways(tmp_path, text)[:2] == ["(64, torch.zeros(1000, 64))", "(32, torch.zeros(1000, 32))"]


@pytest.mark.parametrize(
    "made", ["torch.tensor(table, dtype=torch.float)", "torch.FloatTensor(table)", "table.float()"]
)
def test_a_table_is_as_wide_as_arguments_after_it_say(made: str, tmp_path: Path) -> None:
    text = f"""
    class Model(nn.Module):
        def __init__(self, table, opt):
            self.embed = nn.Embedding.from_pretrained({made})
            self.rnn = nn.LSTM(opt.embed_dim, opt.hidden_dim)
    def main():
        parser = argparse.ArgumentParser()
        parser.add_argument("--embed_dim", type=int, default=300)
        parser.add_argument("--hidden_dim", type=int, default=50)
        opt = parser.parse_args()
        Model(read("vectors.txt"), opt)
    """
    assert ways(tmp_path, text)[0].startswith("(torch.zeros(1000, 300), ")


UNKNOWN = {
    "nn.Sequential(unknown(), nn.ReLU())": "",
    "[nn.Linear(4, unknown())]": "",
    "Part(unknown())": "(Part(64),)",
    "{'width': unknown()}": "",
    "SimpleNamespace(width=4, depth=unknown())": "(__import__('types').SimpleNamespace(),)",
}
"""What a call gives of which something is unknown, and what is given of it."""


@pytest.mark.parametrize("written", UNKNOWN)
def test_nothing_unknown_reaches_what_is_built(written: str, tmp_path: Path) -> None:
    text = f"""
        from types import SimpleNamespace
        class Part(nn.Module):
            def __init__(self, width): super().__init__()
        class Model(nn.Module):
            def __init__(self, given=None): super().__init__()
        def main():
            Model({written})
    """
    assert first(tmp_path, text) == UNKNOWN[written]


@pytest.mark.parametrize("annotation", ANNOTATED)
def test_arguments_are_what_annotations_say(annotation: str, tmp_path: Path) -> None:
    text = f"""
        import enum
        from pathlib import Path
        from typing import List, NamedTuple, Optional, Tuple, Type
        class Kind(enum.Enum):
            FIRST, SECOND = "first", "second"
        class Row(NamedTuple):
            width: int
            depth: int
        class Encoder(nn.Module): pass
        class Model(nn.Module):
            def __init__(self, given: {annotation}): super().__init__()
    """
    assert first(tmp_path, text) == f"({ANNOTATED[annotation]},)"


def test_a_module_is_taken_for_what_an_argument_is_called_after(tmp_path: Path) -> None:
    text = """
        class ImageEncoder(nn.Module): pass
        class Decoder(nn.Module): pass
        class Model(nn.Module):
            def __init__(self, encoder: nn.Module, text_decoder, decoder_name):
                self.decoder, self.name = text_decoder, decoder_name.lower()
            def forward(self, x):
                return self.decoder(x)
    """
    assert first(tmp_path, text) == "(ImageEncoder(), Decoder(), 'same')"


def test_a_module_is_taken_that_has_what_is_asked_of_an_argument(tmp_path: Path) -> None:
    text = """
        class Generator(nn.Module):
            def __init__(self): self.shared = None
            def forward(self, z, y): return z
        class Discriminator(nn.Module):
            def forward(self, x, y=None): return x
        class Pruned(nn.Module):
            def __init__(self): self.conv, self.groups = nn.Conv2d(4, 4, 3), 2
        class Model(nn.Module):
            def __init__(self, G, old):
                super().__init__()
                self.G = G
                self.kept = old.conv.weight.data[old.groups]
            def forward(self, z, y):
                return self.G(z, self.G.shared(y))
    """
    assert first(tmp_path, text) == "(Generator(), Pruned())"


SCRIPTS = {
    "a call": "values = HParams(width=12, rate=0.3, depth=1, unused=None)",
    "a dict": "values = {'width': 12, 'rate': 0.3, 'depth': 1}",
    "a class": "class Values:\n    width = 12\n    rate = 0.3\n    depth = 1",
}


@pytest.mark.parametrize("written", SCRIPTS)
def test_a_configuration_is_what_another_file_names_so(written: str, tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text(SCRIPTS[written])
    text = """
        class Model(nn.Module):
            def __init__(self, hparams):
                super().__init__()
                self.layer = nn.Sequential(nn.Linear(hparams.width, hparams.width), nn.Dropout(hparams.rate))
                self.depth = range(hparams.depth)
    """
    assert "SimpleNamespace(width=12, rate=0.3, depth=1)" in first(tmp_path, text)


def test_what_a_function_of_an_imported_file_asks_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "helping_parts.py").write_text("def widest(sizes):\n    return sizes[2]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = """
        import helping_parts
        class Model(nn.Module):
            def __init__(self, channels):
                super().__init__()
                self.width = helping_parts.widest(channels)
    """
    assert first(tmp_path, text) == "([32, 64, 128],)"


EXAMPLES = {
    "(17, 3)": ("", "    >>> net = Model(17, depth=3)\n    >>> net(torch.zeros(2, 17))"),
    "(19, 2)": ("Some words.\n```python\nfrom model import Model\nnet = Model(19, 2)\n```\n", ""),
    "(Settings(width=21), 4)": ('```\nModel.called("big")\n```\n```\nthis is no Python\n```', ""),
}
"""What stands in the README and in a docstring, and what a class is given by that."""


@pytest.mark.parametrize("given", EXAMPLES)
def test_arguments_are_those_of_the_examples_that_the_project_shows(given: str, tmp_path: Path) -> None:
    readme, document = EXAMPLES[given]
    (tmp_path / "README.md").write_text(readme)
    text = f"""
import collections
Settings = collections.namedtuple("Settings", ["width"])
SIZES = {{"big": 21}}
class Model(nn.Module):
    \"\"\"A model.

{document}
    \"\"\"
    def __init__(self, width, depth):
        super().__init__()
    @classmethod
    def called(cls, name):
        settings = Settings(width=1)
        settings = settings._replace(width=SIZES[name])
        return cls(settings, 4)
"""
    found = ways(tmp_path, text)
    assert given in (found[:2] if document or "Settings" not in given else found[:1])


def test_calls_of_another_class_with_the_same_name_say_nothing(tmp_path: Path) -> None:
    call = "def main(): Model(7)\n"
    (tmp_path / "other.py").write_text("class Model: pass\n" + call)
    text = "class Model(nn.Module):\n    def __init__(self, width): super().__init__()\n"
    assert first(tmp_path, text) == "(64,)"
    (tmp_path / "train.py").write_text("from model import Model\n" + call)
    assert first(tmp_path, text) == "(7,)"


def test_calls_in_other_files_name_what_those_import(tmp_path: Path) -> None:
    call = (
        "import os.path, torch.nn as nn\nfrom torch.nn import functional as F\nMODEL = lambda: Model(nn.SiLU, F.relu)\n"
    )
    (tmp_path / "train.py").write_text("from model import Model\n" + call)
    text = "class Model(nn.Module):\n    def __init__(self, act, other): super().__init__()\n"
    assert first(tmp_path, text) == "(torch.nn.SiLU, torch.nn.functional.relu)"


TOO_MUCH = (
    "'a' * 10 ** 10",
    "list(range(10 ** 9))",
    "dict(zip(range(10 ** 7), range(10 ** 7)))",
    "2 ** 10 ** 8",
    "math.factorial(10 ** 6)",
    "np.ones((30000, 30000))",
    "'{:>1000000000}'.format(1)",
    "any(item for item in range(10 ** 9))",
    "round(5, -10 ** 9)",
    "+".join(["1"] * 200),
    "deep(1)",
    "[doubled, [doubled := doubled + doubled for _ in range(60)]]",
    "grown([1] * 100)",
    "squared(7)",
)


@pytest.mark.parametrize("written", TOO_MUCH, ids=lambda text: text[:40])
def test_what_would_take_long_or_much_memory_has_no_value(written: str, tmp_path: Path) -> None:
    text = f"""
        import math
        doubled = [1]
        def deep(number):
            return deep(number + 1)
        def grown(items):
            for _ in range(100):
                items.extend(items)
            return len(items)
        def squared(number):
            for _ in range(100):
                number = number * number
            return number
        class Model(nn.Module):
            def __init__(self, width): super().__init__()
        def main():
            Model({written})
    """
    assert first(tmp_path, text) == "(64,)"


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


def test_a_configuration_class_is_built_as_the_project_builds_it(tmp_path: Path) -> None:
    text = """
class Config:
    def __init__(self, folder, width): self.folder, self.width = folder, width
class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer = nn.Linear(config.width, 3)
"""
    (tmp_path / "run.py").write_text("import model as m\nwidth = 8 * 3\nconfig = m.Config('data', width)\n")
    assert first(tmp_path, text) == "(Config('data', 24),)"


def test_a_loss_that_is_wrapped_is_none_that_wraps_another(tmp_path: Path) -> None:
    wraps = """
        class {name}(nn.Module):
            def __init__(self, loss):
                super().__init__()
                self.loss, self.reduction = loss, loss.reduction
            def forward(self, x, y):
                return self.loss(x, y)
    """
    assert first(tmp_path, wraps.format(name="QLoss") + wraps.format(name="Model")) == "(torch.nn.BCEWithLogitsLoss(),)"


@pytest.mark.parametrize("name", ["kernel_sizes", "filter_sizes", "kernels"])
def test_several_kernels_are_small_and_odd(name: str) -> None:
    """They were widths of layers, and code that pads by half a kernel refuses even ones."""
    from inductor_debug.capture.inference.construction.invention import constructor_value

    assert constructor_value(name, "Collection[int]", {}, 0) == [3, 5]  # most widths can be halved
    assert constructor_value(name, "list[int]", {}, 1) == [3, 5, 7]


@pytest.mark.parametrize("name", ["dropout", "drop_path", "attn_drop", "drop_rate"])
@pytest.mark.parametrize("alternative", [0, 1, 2])
def test_what_is_dropped_out_is_a_share_however_often_something_else_did_not_do(name: str, alternative: int) -> None:
    """`dropout` ends in what outputs are called, and was a width of 64."""
    from inductor_debug.capture.inference.construction.invention import constructor_value

    assert constructor_value(name, "", {}, alternative) == 0.1


@pytest.mark.parametrize("name", ["mlp_ratio", "expand_ratio", "ffn_factor"])
def test_what_is_wider_inside_is_so_a_whole_number_of_times(name: str) -> None:
    """A tenth of a width is no width."""
    from inductor_debug.capture.inference.construction.invention import constructor_value

    assert constructor_value(name, "", {}, 0) == 4


def test_what_is_handed_on_to_a_part_is_asked_for_by_its_place(tmp_path: Path) -> None:
    """All that a part has no names for stands behind what its base has names for."""
    text = """
        class Base(nn.Module):
            def __init__(self, heads, width, drop=0.0, pre=False):
                super().__init__()
                self.net = nn.Linear(width, heads * width)
        class Part(Base):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
        class Model(nn.Module):
            def __init__(self, heads, width, **kwargs):
                super().__init__()
                self.part, self.pre = Part(heads, width, **kwargs), kwargs.get("pre")
    """
    assert first(tmp_path, text) == "(4, 64)"
