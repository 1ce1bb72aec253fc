"""Mistakes planted into source text: one edit each, at the place that is told, in an order that a seed decides."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from inductor_debug_benchmarks.mutation.mutated_source import MutatedSource
from inductor_debug_benchmarks.mutation.mutation_places import Mistake, one_behind
from inductor_debug_benchmarks.mutation.planting import in_turns, mutations
from inductor_debug_schema import Finding, Position, Range, Related, Severity, Stage

MODEL = """import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.width = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.conv = nn.Conv1d(dim, dim, 3, padding=1)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x, mask):
        é = "ü"; q, k, v = self.qkv(x).view(x.shape[0], -1, 3, self.heads * self.width).unbind(2)
        scores = q @ (k + 1).transpose(-2, -1)
        scores = scores.masked_fill(mask[:, None] == 0, -1e9)
        both = torch.cat([scores.unsqueeze(1), scores.float()[None]], dim=1)
        ramp = torch.arange(3)
        return self.norm(both), ramp


class Unrelated(nn.Module):
    def forward(self, x):
        return x.transpose(0, 1)
"""

EXPECTED = {
    "transpose dropped": ["q @ (k + 1)\n"],
    "dims exchanged": ["transpose(-3, -1)", "view(-1, x.shape[0], 3, self.heads * self.width)"],
    "features off by one": ["nn.Linear(dim + 1, 3 * dim)", "nn.Linear(dim, 3 * dim + 1)", "nn.LayerNorm(dim + 1)"],
    "heads split wrongly": ["heads, dim\n"],
    "joined along another dim": ["dim=0)"],
    "unsqueeze dropped": ["torch.cat([scores, ", "mask[:] == 0"],
    "dtypes mixed": ["q.double() @", "self.qkv(x.double())", "self.norm(both.double())"],
    "cast dropped": ["scores[None]"],
    "another layout": ["view(x.shape[0], -1, 4, "],
    "another mask": ["masked_fill((mask[:, None] == 0)[..., 1:], -1e9)"],
    "devices mixed": ['torch.arange(3, device="meta")'],
    "self missing in parameters": ["def forward(x, mask)", "def __init__(dim, heads)"],
    "self missing in front": ["return norm(both)"],
    "attribute misspelt": ["self.qv(x)"],
    "arguments exchanged": ["nn.Linear(3 * dim, dim)"],
    "window off by one": ["nn.Conv1d(dim, dim, 4, padding=1)", "padding=0", "padding=2"],
}


@pytest.fixture(scope="module")
def edited() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item in mutations(MutatedSource(MODEL), "Attention"):
        found.setdefault(item.operator, []).append(item.edit.applied(MODEL))
    return found


@pytest.mark.parametrize(("operator", "piece"), [(name, piece) for name in EXPECTED for piece in EXPECTED[name]])
def test_an_operator_makes_its_mistake(operator: str, piece: str, edited: dict[str, list[str]]) -> None:
    assert any(piece in text for text in edited[operator])
    assert piece not in MODEL


def test_every_edit_parses_stays_in_the_class_and_is_where_it_says() -> None:
    source = MutatedSource(MODEL)
    for item in mutations(source, "Attention"):
        edited = item.edit.applied(MODEL)
        ast.parse(edited)
        place = item.edit.place(MODEL)
        lines = edited.split("\n")
        assert lines[place.start.line : place.end.line + 1] != MODEL.split("\n")[place.start.line : place.end.line + 1]
        assert item.lines[0] <= place.start.line + 1 <= place.end.line + 1 <= item.lines[1]
        assert "class Unrelated" in edited
        assert edited.endswith("return x.transpose(0, 1)\n")


def test_the_order_is_the_seed_s_and_every_operator_has_its_turn() -> None:
    found = mutations(MutatedSource(MODEL), "Attention")
    first, again, other = in_turns(found, "1"), in_turns(found, "1"), in_turns(found, "2")
    assert first == again != other
    kinds = {item.operator for item in found}
    assert {item.operator for item in first[: len(kinds)]} == kinds
    assert set(first) == set(found)


def finding(line: int, start: int, end: int, path: str = "m.py") -> Finding:
    where = Range(Position(line, start), Position(line, end))
    return Finding("capture-error", Severity.ERROR, "it raised", path, where, Stage.PREVIEW)


def test_a_finding_is_at_the_mistake_where_it_covers_it_or_stands_where_it_raised() -> None:
    tree = ast.parse("def f(x):\n    y = x.t()\n    z = 1\n    return y + z\n")
    mistake = Mistake("m.py", Range(Position(1, 8), Position(1, 9)), (2, 2), None)
    assert mistake.has(finding(1, 4, 13), [])
    assert not mistake.has(finding(1, 10, 13), [])
    assert not mistake.has(finding(1, 4, 13, path="other.py"), [])
    assert not mistake.has(finding(2, 4, 9), [])
    assert replace(mistake, raised=(3, 3)).has(finding(2, 4, 9), [])
    assert one_behind(tree, (2, 2)) == [(4, 4)]
    assert one_behind(tree, (1, 1)) == [(2, 2)]
    assert mistake.has(finding(3, 4, 16), one_behind(tree, (2, 2)))
    left_out = replace(mistake, place=Range(Position(1, 8), Position(1, 8)))
    assert left_out.has(finding(1, 4, 5), [])
    assert not left_out.has(finding(2, 4, 5), [])
    related = replace(finding(0, 0, 9), related=[Related("m.py", finding(1, 8, 9).range, "made here")])
    assert mistake.has(related, [])
    whole_function = replace(finding(0, 0, 9), range=Range(Position(0, 0), Position(3, 16)))
    assert not mistake.has(whole_function, [])
