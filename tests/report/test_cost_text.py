"""Tables of costs: what layers of a stack have in common is one row, and no two rows have one name."""

from pathlib import Path

from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Styler
from inductor_debug.report.text.cost_text import CostText
from inductor_debug_schema import CostBound, RunCost, Stage
from inductor_debug_schema.answers.cost_document import CostDocument, ModuleCost


def _bound(operations: int) -> CostBound:
    return CostBound(ops=1, bytes_read=8, bytes_written=8, crossing_bytes=8, operations=operations)


def test_the_layers_of_a_stack_are_one_row_whose_name_is_its_own(tmp_path: Path) -> None:
    parts = {"h.{}": 50, "h.{}.mlp.0": 20, "h.{}.mlp.1": 0, "h.{}.mlp.2": 10}
    modules = [ModuleCost(name.format(layer), _bound(cost)) for name, cost in parts.items() for layer in range(3)]
    document = CostDocument(
        schema=1,
        target="GPT",
        stage=Stage.AOT,
        path=str(tmp_path / "gpt.py"),
        title="",
        run=RunCost(accelerator="", total=_bound(150), by_roof={}, peak_bytes=64),
        expressions=[],
        lines=[],
        modules=[*modules, ModuleCost("head.0", _bound(5))],
        operators=[],
        device_bytes=32,
    )
    text = CostText(FileNames(str(tmp_path), str(tmp_path)), ShownTexts(), Styler(False)).text(document)
    assert "  peak        64 B of memory: does not fit into 32 B\n" in text
    table = text[text.index("module, with all in it") :].splitlines()[1:]
    assert [row.split("  ")[-1] for row in table] == [
        "h.* (each of 3)",
        "h.*.mlp.0 (each of 3)",
        "h.*.mlp.1 (each of 3)",
        "h.*.mlp.2 (each of 3)",
        "head.0",
    ]
