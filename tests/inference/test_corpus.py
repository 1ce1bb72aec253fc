"""A sample of the corpus that `inductor-debug bench inference` measures whole: what runs, what agrees, what is told."""

from __future__ import annotations

from pathlib import Path

import architectures
import pytest
from forked import in_child
from inductor_debug.accelerators.profile import load_document, with_environment
from inductor_debug.worker.infer_corpus import measure
from inductor_debug_schema import Stage
from truth import truth

pytestmark = pytest.mark.torch

CORPUS = Path(__file__).parent / "corpus"
STRICT = with_environment(load_document("mock"), {"MOCK_ALIGNMENT": "64", "MOCK_MAX_MEMORY": "1000000"})

SAMPLE = {
    "perceptrons": ["Perceptron", "DigitClassifier", "VariationalAutoencoder", "ConditionalGenerator", "LazyRegressor"],
    "vision": ["LeNet", "AlexNet", "DcganGenerator", "DetectionHead", "VideoClassifier", "EegNet"],
    "sequences": ["LanguageLstm", "CellDecoder", "AdditiveAttention", "RwkvMix", "Patching"],
    "attention": ["MultiHeadAttention", "CrossAttention", "RotaryAttention", "MlpMixer", "RelativeBias"],
    "structured": ["Gcn", "PointNet", "TabularDict", "ListFusion", "FocalLoss", "ModeSwitch", "MovedToDevice"],
}
ARCHITECTURES = ("DistilBertModel", "ViTModel", "T5Model")


def kinds(tensors: list[str]) -> list[tuple[str, int]]:
    """Dtype and rank of each, from `f32[2, 64]`."""
    return [(text.partition("[")[0], text.count(",") + 1) for text in tensors if text != "_"]


@pytest.mark.parametrize(("file", "name"), [(file, name) for file, names in SAMPLE.items() for name in names])
def test_a_class_without_inputs_is_given_the_right_ones(file: str, name: str) -> None:
    path = CORPUS / f"{file}.py"
    rows, output = in_child(lambda: measure(str(path), path.read_text(encoding="utf-8"), [name], STRICT))
    (row,) = rows
    assert (row["reason"], row["false"]) == ("", []), output
    assert kinds(row["tensors"]) == kinds(truth(file)[name])


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_an_architecture_of_transformers_is_given_the_right_ones(name: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    text, true = architectures.architectures()[name]
    path = tmp_path / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    rows, output = in_child(lambda: measure(str(path), text, ["Small"], STRICT, (Stage.PREVIEW,)))
    (row,) = rows
    assert (row["reason"], row["false"]) == ("", []), output
    assert kinds(row["tensors"]) == kinds(true)
