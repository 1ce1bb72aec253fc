"""A configuration that lies in a file of the project is what the constructor gets, and the file is named."""

from __future__ import annotations

import json
from pathlib import Path

import needed
import pytest
from forked import Job, analyze
from inductor_debug.capture.inference.construction.configuration_files import ConfigurationFiles
from inductor_debug.capture.inference.construction.demand import Demand
from inductor_debug.capture.inference.construction.script_options import options_for
from inductor_debug_schema import Stage, StageState

pytestmark = pytest.mark.torch

TEXT = """
from torch import nn

class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.first = nn.Linear(cfg.width, cfg.head.classes)
        self.depth = cfg.depth

    def forward(self, x):
        return self.first(x)
"""
YAML = "model:\n  width: 24\n  depth: 3\n  head: {classes: 5}\n"


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def job_of(folder: Path) -> Job:
    (folder / "model.py").write_text(TEXT)
    return analyze(folder / "model.py", stages=(Stage.PREVIEW,), accelerator="none")


def inputs_of(job: Job) -> str:
    inferred = job.stages[0].inferred
    assert inferred is not None
    return inferred.inputs


def test_the_file_that_fits_best_is_given_and_named(tmp_path: Path) -> None:
    needed.library("yaml")
    large = "width: 512\ndepth: 9\nhead: {classes: 10}\nlearning_rate: 0.1\nbatch: 4\n"
    write(tmp_path, configs__small_dot_yaml=YAML, configs__large_dot_yml=large, configs__data_dot_yaml="width: 3\n")
    job = job_of(tmp_path)
    assert inputs_of(job) == "(torch.randn(2, 24),)"
    assert "Net was built with configs/small.yaml." in job.stages[0].report.notes
    assert str(tmp_path / "configs" / "small.yaml") in job.finished.dependencies


def test_json_beside_the_file_is_read_and_a_broken_file_is_passed_over(tmp_path: Path) -> None:
    values = {"width": 40, "depth": 1, "head": {"classes": 2}}
    write(tmp_path, a_dot_json="{", b_dot_json=json.dumps([1, {"x": values}]), c_dot_json=json.dumps({"model": values}))
    job = job_of(tmp_path)
    assert inputs_of(job) == "(torch.randn(2, 40),)"
    assert "Net was built with c.json." in job.stages[0].report.notes


BUILT = """
from torch import nn

class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.first = nn.Linear(config.data.features, config.model.width)
        self.rest = nn.Sequential(*(nn.Linear(config.model.width, config.model.width) for _ in config.model.depths))
        self.scale = config.model.unheard_of

    def forward(self, x):
        return self.rest(self.first(x))
"""
DEFAULTS = """
from types import SimpleNamespace

def defaults():
    config = SimpleNamespace()
    config.data = data = SimpleNamespace()
    data.features = 3
    config.model = SimpleNamespace(width=32)
    return config
"""
OWN = """
from configs.defaults import defaults

def get_config():
    config = defaults()
    config.data.features = 21
    model = config.model
    model.depths = (1, 2, 2)
    model.around, model.listed = config, [1]
    return config

looped = defaults()
looped.listed = [looped]
"""


LAID_OVER = "model:\n  width: 40\n  depths: [1, 1]\ndata: {features: 22}\n"


@pytest.mark.parametrize(
    ("files", "features", "origin"),
    [
        ({"configs__net_dot_py": OWN}, 21, "configs/net.py"),
        ({"run__large_dot_yaml": LAID_OVER}, 22, "configs/defaults.py and run/large.yaml"),
    ],
    ids=["function", "laid over"],
)
def test_a_configuration_that_code_builds_attribute_by_attribute_is_followed(
    tmp_path: Path, files: dict[str, str], features: int, origin: str
) -> None:
    needed.library("yaml")
    write(tmp_path, configs__defaults_dot_py=DEFAULTS, model_dot_py=BUILT, **files)
    job = analyze(tmp_path / "model.py", stages=(Stage.PREVIEW,), accelerator="none", root=tmp_path)
    assert inputs_of(job) == f"(torch.randn(2, {features}),)"
    assert f"Net was built with {origin}." in job.stages[0].report.notes


KEYED = """
from torch import nn

class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        extra = cfg["model"]["extra"]
        if len(extra["widths"]) != extra["branches"]:
            raise ValueError("widths and branches")
        self.layers = nn.ModuleList(nn.Linear(extra["width"], width) for width in extra["widths"])

    def forward(self, x):
        return [layer(x) for layer in self.layers]
"""


def test_a_plain_dict_is_taken_from_a_file_of_any_folder_of_the_project(tmp_path: Path) -> None:
    needed.library("yaml")
    text = "name: net\nmodel:\n  extra: {branches: 4, width: 24, widths: [1, 2, 3, 4]}\n"
    write(tmp_path, lib__models__net_dot_py=KEYED, experiments__one__net_dot_yaml=text, pyproject_dot_toml="")
    job = analyze(tmp_path / "lib" / "models" / "net.py", stages=(Stage.PREVIEW,), accelerator="none", root=tmp_path)
    assert inputs_of(job) == "(torch.randn(2, 24),)"
    assert "Net was built with experiments/one/net.yaml." in job.stages[0].report.notes


WRITTEN = """
from engine import run

fast = {"name": "fast", "rate": 0.1, "users": 50, "latent": 8}
deep = {
    "name": "deep", "rate": 0.1, "users": 50, "latent": 8, "layers": [16, 32, 8], "weights": "a.pt",
}
run(fast)
"""
RECOMMENDER = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.user = nn.Embedding(config["users"], config["latent"])
        sizes = zip(config["layers"][:-1], config["layers"][1:])
        self.layers = nn.ModuleList(nn.Linear(one, other) for one, other in sizes)

    def forward(self, user, other):
        x = torch.cat([self.user(user), self.user(other)], dim=-1)
        for layer in self.layers:
            x = layer(x)
        return x

    def load(self):
        self.config["mode"] = self.config["weights"]
        print(self.config["mode"])
"""


def test_a_dict_that_a_script_writes_down_is_given_to_a_class_that_reads_its_keys(tmp_path: Path) -> None:
    write(tmp_path, model_dot_py=RECOMMENDER, train_dot_py=WRITTEN)
    job = analyze(tmp_path / "model.py", stages=(Stage.PREVIEW,), accelerator="none", root=tmp_path)
    assert (job.findings, job.stages[0].report.state) == ([], StageState.DONE)
    assert "Net was built with train.py." in job.stages[0].report.notes


DICT = """
from torch import nn
from settings import Settings

class Net(nn.Module):
    def __init__(self, h: Settings, fast: bool = False):
        super().__init__()
        self.h = h
        self.h["fast"] = fast
        self.first = nn.Linear(h.width, h["classes"])
        self.second = nn.ReLU() if h.get("bounded", False) else nn.GELU()

    def forward(self, x):
        return self.second(self.first(x))
"""
SETTINGS = """
class Settings(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self
"""


@pytest.mark.parametrize(("files", "width"), [({"configs__a_dot_json": '{"width": 24, "classes": 5}'}, 24), ({}, None)])
def test_a_dict_of_the_projects_own_class_is_made_of_it(
    tmp_path: Path, files: dict[str, str], width: int | None
) -> None:
    write(tmp_path, model_dot_py=DICT, settings_dot_py=SETTINGS, **files)
    job = analyze(tmp_path / "model.py", stages=(Stage.PREVIEW,), accelerator="none")
    assert (job.findings, job.stages[0].report.state) == ([], StageState.DONE)
    assert width is None or inputs_of(job) == f"(torch.randn(2, {width}),)"
    assert ("Net was built with configs/a.json." in job.stages[0].report.notes) == bool(files)


ALIASES = {
    "a bomb": "a0: &a0 {x: lol}\n"
    + "".join(
        f"a{number}: &a{number} {{" + ", ".join(f"k{key}: *a{number - 1}" for key in range(9)) + "}\n"
        for number in range(1, 12)
    ),
    "a loop": "a: &a\n  b: *a\n  width: 1\n",
    "too deep": "{a: " * 60 + "1" + "}" * 60,
}


@pytest.mark.parametrize("text", ALIASES.values(), ids=list(ALIASES))
def test_a_document_that_repeats_itself_is_passed_over(tmp_path: Path, text: str) -> None:
    needed.library("yaml")
    write(tmp_path, configs__a_dot_yaml=text, configs__b_dot_yaml=YAML)
    job = job_of(tmp_path)
    assert inputs_of(job) == "(torch.randn(2, 24),)"
    assert "Net was built with configs/b.yaml." in job.stages[0].report.notes


@pytest.mark.parametrize(
    "values",
    [
        {"width": 40, "depth": 1},
        {"width": "${other}", "depth": 1, "head": {"classes": 2}},
        {"width": 40, "depth": 1, "head": {"size": 2}},
    ],
    ids=["a key is missing", "a value stands elsewhere", "an inner key is missing"],
)
def test_what_does_not_say_everything_is_not_taken(tmp_path: Path, values: dict[str, object]) -> None:
    write(tmp_path, conf__a_dot_json=json.dumps(values))
    demand = Demand(fields={"width": Demand(), "depth": Demand(), "head": Demand(fields={"classes": Demand()})})
    assert ConfigurationFiles(str(tmp_path / "model.py"), str(tmp_path)).fitting(demand) is None


SCRIPT = """
import argparse
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=40)
    parser.add_argument("--depth", type=int, default=None)
    parser.add_argument("--head", default="small")
    Net(parser.parse_args())
"""


def test_options_of_the_nearest_script_that_has_most_of_them_are_given_and_named(tmp_path: Path) -> None:
    few = SCRIPT.replace("--head", "--other").replace("40", "7")
    write(tmp_path, a__train_dot_py=SCRIPT.replace("40", "8"), train_dot_py=SCRIPT, test_dot_py=few)
    demand = Demand(fields={"width": Demand(), "depth": Demand(), "head": Demand()})
    found = options_for(demand, ConfigurationFiles(str(tmp_path / "model.py"), str(tmp_path)))
    assert found is not None
    assert (found.shown, found.values) == ("the options of train.py", {"width": 40, "head": "small"})
    nearest = options_for(demand, ConfigurationFiles(str(tmp_path / "a" / "model.py"), str(tmp_path)))
    assert nearest is not None
    assert nearest.shown == "the options of a/train.py"
    other = Demand(fields={"width": Demand(), "x": Demand()})
    assert options_for(other, ConfigurationFiles(str(tmp_path / "a.py"), str(tmp_path))) is None


WAVES = """
from torch import nn

class Net(nn.Module):
    def __init__(self, args):
        super().__init__()
        first = args["filters"][0]
        self.first = nn.Conv1d(args["in_channels"], first, kernel_size=args["kernel"], stride=args["stride"])
        self.second = nn.Conv1d(first, args["filters"][1][0], 3)
        self.pool = nn.MaxPool1d(9)
        self.last = nn.Linear(args["filters"][1][1], args["speakers"])

    def forward(self, x):  # (batch, channel, filt)
        x = self.pool(self.pool(self.pool(self.pool(self.second(self.first(x))))))
        return self.last(x.mean(-1))
"""


def test_a_table_that_lacks_one_field_is_taken_with_a_number_of_ours_for_it(tmp_path: Path) -> None:
    """A script sets how many speakers there are once it has read the data; lengths shrink by 9 to the fourth power."""
    values = {"epochs": 3, "model": {"in_channels": 1, "filters": [8, [16, 16]], "kernel": 3, "stride": 2}}
    write(tmp_path, train_dot_json=json.dumps(values))
    (tmp_path / "model.py").write_text(WAVES)
    job = analyze(tmp_path / "model.py", root=tmp_path, accelerator="none")
    assert [stage.report.state for stage in job.stages] == [StageState.DONE]
    assert "Net was built with train.json." in job.stages[0].report.notes
    assert inputs_of(job).startswith("(torch.randn(2, 1, ")


def test_a_class_is_not_blamed_for_the_options_of_a_script(tmp_path: Path) -> None:
    script = SCRIPT.replace("Net(", "train(").replace("default=None", "default=3")
    write(tmp_path, train_dot_py=script.replace("default=40", "default=[40]"))
    made = "self.first, self.width = nn.Linear(4, cfg.depth), cfg.width"
    text = TEXT.replace("self.first = nn.Linear(cfg.width, cfg.head.classes)", made).replace(
        "(x)", "(x) * (self.width - 1)"
    )
    (tmp_path / "model.py").write_text(text.replace("        self.depth = cfg.depth\n", ""))
    job = analyze(tmp_path / "model.py", root=tmp_path)
    assert [stage.report.state for stage in job.stages] == [StageState.SKIPPED]
    assert "'list' and 'int'" in job.stages[0].report.notes[0]
    assert not job.of("capture-error")


def test_yaml_makes_no_objects(tmp_path: Path) -> None:
    needed.library("yaml")
    made = tmp_path / "made"
    write(tmp_path, evil_dot_yaml=f"!!python/object/apply:os.mkdir ['{made}']\n" + YAML)
    assert "Net was built with" not in " ".join(job_of(tmp_path).stages[0].report.notes)
    assert not made.exists()


NEEDS_VOCABULARY = """
import torch
from torch import nn

class Config:
    def __init__(self, name):
        self.name, self.width, self.n_vocab, self.n_classes = name, 24, 0, 0

class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embedding = nn.Embedding(config.n_vocab, config.width, padding_idx=config.n_vocab - 1)
        self.head = nn.Linear(config.width, config.n_classes)

    def forward(self, x):
        return self.head(self.embedding(x[0]))
"""
STARTS = """
import importlib

def start(name, data):
    chosen = importlib.import_module(name)
    config = chosen.Config("small")
    n_classes = 7
    config.n_classes = n_classes
    config.n_vocab = len(data.vocabulary)
    return chosen.Net(config)
"""


def test_what_a_script_sets_on_a_configuration_once_it_is_built_is_given(tmp_path: Path) -> None:
    (tmp_path / "start.py").write_text(STARTS)
    (tmp_path / "model.py").write_text(NEEDS_VOCABULARY)
    job = analyze(tmp_path / "model.py", stages=(Stage.PREVIEW,), accelerator="none")
    inferred = job.stages[0].inferred
    assert job.stages[0].report.state is StageState.DONE
    assert inferred is not None
    assert "Config('small')" in inferred.init


READS = """
import json
import torch
from torch import nn

class Detector(nn.Module):
    def __init__(self, cfg="small.json"):
        super().__init__()
        with open(cfg) as stream:
            width = json.load(stream)["width"]
        self.layer = nn.Linear(width, 3)
        if torch.arange(3).sum() != 3:
            raise ValueError("values are needed")

    def forward(self, x):
        return self.layer(x)
"""


def test_a_file_that_the_constructor_opens_may_lie_elsewhere_in_the_project(tmp_path: Path) -> None:
    write(tmp_path, models__parts__small_dot_json='{"width": 24}')
    (tmp_path / "model.py").write_text(READS)
    job = analyze(tmp_path / "model.py", stages=(Stage.PREVIEW,), accelerator="none")
    assert inputs_of(job) == "(torch.randn(2, 24),)"
    assert "models/parts/small.json" in job.stages[0].inferred.init  # type: ignore[union-attr]


def test_what_is_looked_up_among_the_other_arguments_is_taken_from_a_file(tmp_path: Path) -> None:
    """`Net(**config["network"])` of a script that nobody runs: without arguments it is no fault."""
    text = """
from torch import nn

class Net(nn.Module):
    def __init__(self, **kwargs):
        super().__init__()
        if kwargs["name"] == "narrow":
            width = 3
        elif kwargs["name"] == "wide":
            width = 7
        self.first = nn.Linear(width, **kwargs["head"])

    def forward(self, x):
        return self.first(x)
"""
    written = {"network": {"name": "wide", "head": {"out_features": 5}}, "rate": 0.1}
    write(
        tmp_path, config__net_dot_json=json.dumps(written), main_dot_py="import model\nmodel.Net(**read()['network'])"
    )
    (tmp_path / "model.py").write_text(text)
    job = analyze(tmp_path / "model.py", stages=(Stage.PREVIEW,), accelerator="none")
    assert inputs_of(job) == "(torch.randn(2, 7),)"
    (tmp_path / "config" / "net.json").unlink()
    job = analyze(tmp_path / "model.py", stages=(Stage.PREVIEW,), accelerator="none")
    assert not job.findings


NAMED = """
import torch
from torch import nn


def imported(name):
    module, _, attribute = name.rpartition(".")
    return getattr(__import__(module, fromlist=["_"]), attribute)


class Net(nn.Module):
    def __init__(self, points=5, persons=4, graph=None, channels=3):
        super().__init__()
        if graph is None:
            raise ValueError()
        self.edges = imported(graph)().edges
        self.norm = nn.BatchNorm1d(persons * channels * points)
        self.conv = nn.Conv2d(channels, 8, 1)

    def forward(self, x):
        n, c, t, v, m = x.size()
        x = self.norm(x.permute(0, 4, 3, 1, 2).reshape(n, m * v * c, t))
        x = x.view(n, m, v, c, t).permute(0, 1, 3, 4, 2).reshape(n * m, c, t, v)
        return self.conv(x) @ torch.zeros(self.edges, self.edges)
"""
GRAPH = "class Graph:\n    edges = 18\n"


@pytest.mark.parametrize(
    "table",
    [
        "model: model.Net\nmodel_args: {points: 18, persons: 2, graph: graphs.Graph}\nlr: 0.1\n",
        "net:\n  _target_: model.Net\n  points: 18\n  persons: 2\n  graph: graphs.Graph\n",
        "net:\n  target: some.model.Net\n  params: {points: 18, persons: 2, graph: graphs.Graph}\n",
    ],
)
def test_a_table_that_names_a_class_gives_its_arguments_and_sizes_that_are_multiplied_are_shared_out(
    tmp_path: Path, table: str
) -> None:
    needed.library("yaml")
    other = "model: other.Net\nmodel_args: {points: 7, persons: 2, graph: graphs.Graph}\n"
    more = "model: model.Net\nmodel_args: {points: 7, persons: 2, graph: graphs.Graph, depth: 3}\n"
    write(tmp_path, config__a_dot_yaml=other, config__b_dot_yaml=more, config__c_dot_yaml=table, graphs_dot_py=GRAPH)
    (tmp_path / "model.py").write_text(NAMED)
    job = analyze(tmp_path / "model.py", stages=(Stage.PREVIEW,), accelerator="none")
    assert job.findings == []
    assert inputs_of(job) == "(torch.randn(40, 3, 16, 18, 2),)"
    assert "Net was built with config/c.yaml." in job.stages[0].report.notes


PARTS = """
from optparse import OptionGroup

def add_options(parser):
    group = OptionGroup(parser, "training")
    group.add_option("--width", type="int", default=24)
    group.add_option("--depth", type="int", default=3)
"""


def test_options_that_are_spread_over_files_of_a_folder_are_those_of_one_command(tmp_path: Path) -> None:
    script = "import optparse, first, second\nparser = optparse.OptionParser()\noptions, _ = parser.parse_args()\n"
    more = PARTS.replace("--width", "--classes").replace("--depth", "--heads")
    write(tmp_path, options__first_dot_py=PARTS, options__second_dot_py=more, options__script_dot_py=script)
    demand = Demand(fields={name: Demand() for name in ("width", "depth", "classes", "heads", "rate")})
    found = options_for(demand, ConfigurationFiles(str(tmp_path / "model.py"), str(tmp_path)))
    assert found is not None
    assert found.shown == "the options of options"
    assert found.values == {"width": 24, "depth": 3, "classes": 24, "heads": 3}


ASSERTED = """
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width, self.layer = width, nn.Linear(8, width)

    def forward(self, x):
        return self.layer(x)


class Head(nn.Module):
    def __init__(self, encoder, *, classes=4):
        super().__init__()
        assert isinstance(encoder, Encoder)
        self.encoder, self.head = encoder, nn.Linear(encoder.width, classes)

    def forward(self, x):
        return self.head(self.encoder(x))
"""


def test_what_a_constructor_asserts_its_argument_to_be_is_given(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(ASSERTED)
    job = analyze(tmp_path / "model.py", stages=(Stage.PREVIEW,), accelerator="none")
    assert job.findings == []
    inferred = next(stage.inferred for stage in job.stages if stage.target == "Head")
    assert inferred is not None
    assert inferred.init.startswith("(Encoder(")
