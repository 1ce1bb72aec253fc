"""A sample of the corpus that `inductor-debug bench inference` measures whole: what runs, what agrees, what is told."""

from __future__ import annotations

from pathlib import Path

import architectures
import breadth
import needed
import pytest
from forked import in_child
from inductor_debug.accelerators.profile import load_document, with_environment
from inductor_debug_benchmarks.processes.infer_corpus import STAGES, measure
from truth import truth

pytestmark = pytest.mark.torch

CORPUS = Path(__file__).parent / "corpus"
STRICT = with_environment(load_document("mock"), {"MOCK_ALIGNMENT": "64", "MOCK_MAX_MEMORY": "1000000"})

SAMPLE = {
    "perceptrons": ["Perceptron", "DigitClassifier", "VariationalAutoencoder", "ConditionalGenerator", "LazyRegressor"],
    "vision": ["LeNet", "AlexNet", "DcganGenerator", "DetectionHead", "VideoClassifier", "EegNet"],
    "sequences": ["LanguageLstm", "CellDecoder", "AdditiveAttention", "RwkvMix", "Patching"],
    "attention": ["MultiHeadAttention", "CrossAttention", "RotaryAttention", "MlpMixer", "RelativeBias"],
    "structured": [
        "Gcn",
        "PointNet",
        "TabularDict",
        "ListFusion",
        "FocalLoss",
        "LoraLinear",
        "ModeSwitch",
        "WithActivation",
        "MovedToDevice",
    ],
    "projects": [
        "OptionForecaster",
        "FieldwiseModel",
        "Backbone",
        "Translator",
        "PyramidHead",
        "SupervisedDecoder",
        "TopDown",
        "KeywordTable",
        "TaskHeads",
        "MultiboxLoss",
        "LazyClassifier",
    ],
    "helpers": ["ClickNet", "PaddedBackbone", "RayField", "SetLoss", "SettingsDecoder", "OptionTagger", "Segmenter"],
    "states": ["ConvLstmCell", "WorldModelCell", "KalmanFilter", "SparseTables", "CenterPull", "PreciseIntegrator"],
}
COMPILED = (
    "Perceptron",
    "AlexNet",
    "Patching",
    "MultiHeadAttention",
    "RotaryAttention",
    "TabularDict",
    "LazyClassifier",
)
"""Those that are compiled as well, which takes longer; the benchmark compiles all."""
ARCHITECTURES = ("DistilBertModel", "ViTModel", "T5Model")


def kinds(tensors: list[str]) -> list[tuple[str, int]]:
    """Dtype and rank of each, from `f32[2, 64]`."""
    return [(text.partition("[")[0], text.count(",") + 1) for text in tensors if text != "_"]


@breadth.some(("file", "name"), [(file, name) for file, names in SAMPLE.items() for name in names], every=2)
def test_a_class_without_inputs_is_given_the_right_ones(file: str, name: str) -> None:
    path = CORPUS / f"{file}.py"
    stages = STAGES if name in COMPILED else STAGES[:1]
    rows, output = in_child(lambda: measure(str(path), path.read_text(encoding="utf-8"), [name], STRICT, stages))
    (row,) = rows
    assert (row["reason"], row["false"]) == ("", []), output
    assert kinds(row["tensors"]) == kinds(truth(file)[name])


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_an_architecture_of_transformers_is_given_the_right_ones(name: str, tmp_path: Path) -> None:
    needed.library("transformers")
    text, true = architectures.architectures()[name]
    path = tmp_path / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    rows, output = in_child(lambda: measure(str(path), text, ["Small"], STRICT, STAGES[:1]))
    (row,) = rows
    assert (row["reason"], row["false"]) == ("", []), output
    assert kinds(row["tensors"]) == kinds(true)


SIZES_TURNED_INTO_NUMBERS = {
    "by a graph break": "y = self.layer(x)\n        print('here')\n        return y + 1",
    "by a loop": "return torch.stack([self.layer(row) for row in x])",
    "by Python": "return self.layer(x).repeat(int(x.shape[0]), 1) + torch.ones(int(x.shape[0]) ** 2, 1)",
    "by a branch": "return self.layer(x) if x.shape[0] == 2 else self.layer(x)[1:]",
    "by a slice": "return self.layer(x)[1:]",
}


@pytest.mark.parametrize("how", SIZES_TURNED_INTO_NUMBERS)
def test_a_made_up_size_is_not_blamed_even_where_code_makes_it_a_number(how: str, tmp_path: Path) -> None:
    text = f"""import torch
from torch import nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)
    def forward(self, x):
        {SIZES_TURNED_INTO_NUMBERS[how]}
"""
    rows, output = in_child(lambda: measure(str(tmp_path / "model.py"), text, ["Model"], STRICT))
    (row,) = rows
    assert (row["reason"], row["false"], row["findings"]) == ("", [], 0), output
