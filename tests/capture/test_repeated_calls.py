"""Modules that are alike are traced once, and nobody can tell: all that is left is that of a full trace."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from inductor_debug.capture.dynamo.repeats.repeated_calls import RepeatedCalls
from inductor_debug.capture.runtime.trace_log import structured_trace
from torch_release import RELEASE
from traced_twice import copies_of_equal_traces, trace, watched

pytestmark = pytest.mark.torch

MODEL = """
class Held: pass
HELD, SPECIAL, TABLE = Held(), [], {{}}
HELD.n = HELD.kept = None
class Block(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.i, self.fc = i, nn.Linear(8, 8)
        {init}
    def forward(self, x):
        y = self.fc(x)
        {forward}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(i) for i in range(5)])
    def forward(self, x):
        {before}
        for i, block in enumerate(self.blocks):
            {between}
            x = block(x)
        {after}
        return x
model = Net()
inputs = (torch.randn(4, 8),)
"""

COPIED = {
    "a number of its own that nobody reads": {},
    "names that are given once a tensor is there": {
        "forward": "kept = y; out = F.relu(y); out += kept; kept = out * 2; return kept"
    },
    "a result that shares memory, written to later": {"forward": "return y.view(-1).view(4, 8)", "after": "x += 1"},
    "what it is given, given back": {"forward": "return (x, y)[1] if y is None else x + y"},
    "lists and tables of its own": {"forward": "a = []; a.append(y); return torch.stack(a).sum(0)"},
    "statistics that training writes": {"init": "self.bn = nn.BatchNorm1d(8)", "forward": "return self.bn(y)"},
    "random numbers of torch's": {"forward": "return F.dropout(y, 0.5) + torch.rand_like(y)"},
    "tensors that are no parameters": {"init": "self.t = torch.ones(8) * i", "forward": "return y * self.t"},
    "another kind in between": {"init": "if i == 3: self.fc.weight.requires_grad_(False)"},
    "another mode in between": {"init": "self.d = nn.Dropout(); self.d.train(i != 3)", "forward": "return self.d(y)"},
    "parts that are alike": {
        "init": "self.two = nn.Sequential(nn.Linear(8, 8), nn.ReLU())",
        "forward": "return self.two(y)",
    },
    "what is changed and hangs on nothing": {"before": "seen = []", "between": "seen.append(x)"},
    "which one it is, asked by the model": {"between": "x = x * 2 if block is self.blocks[0] else x"},
    "one among others, asked for by the model": {"between": "x = x * 2 if block in {self.blocks[0]} else x"},
    "whether it gave back what it was given": {
        "before": "first = x",
        "forward": "return x",
        "after": "x = x * 3 if x is first and x in {first} else x",
    },
    "a break once all is traced": {"after": "print('over'); x = x + 1"},
    "code that raises once all is traced": {"after": "x = x.view(3, 7)"},
    "a region once all is traced": {
        "after": "x = torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=False)"
    },
}
"""What is different of a model of six blocks, where some are copied."""
TRACED = {
    "a number of its own": {"forward": "return y * self.i"},
    "a number by a name that is made": {"forward": "return y * getattr(self, chr(105))"},
    "a number out of all attributes": {"forward": "return y * self.__dict__['i']"},
    "a number in a list": {"init": "self.l = [i]", "forward": "return y * self.l[0]"},
    "an object of its own": {"init": "self.o = Held(); self.o.n = i", "forward": "return y * self.o.n"},
    "itself among others": {"init": "if i == 3: SPECIAL.append(self)", "forward": "return y + (self in SPECIAL)"},
    "itself among others, of which the model asks as well": {
        "init": "if i == 3: SPECIAL.append(self)",
        "forward": "return y + (self in SPECIAL)",
        "between": "x = x * 2 if block in SPECIAL else x",
    },
    "itself, by what the model found out": {
        "between": "HELD.kept = block is self.blocks[3]",
        "forward": "return y * 2 if HELD.kept else y",
    },
    "itself in a table": {"init": "TABLE[self] = i", "forward": "return y * TABLE[self]"},
    "its identity in a table": {"init": "TABLE[id(self)] = i", "forward": "return y * TABLE[id(self)]"},
    "whether it is the one": {
        "init": "self.held = HELD\n        if i == 3: HELD.first = self",
        "forward": "return y + 1 if self.held.first is self else y",
    },
    "whether its weight is the one": {
        "init": "if i == 3: HELD.w = self.fc.weight",
        "forward": "return y + 1 if self.fc.weight is HELD.w else y",
    },
    "a weight of another's": {
        "init": "self.held = HELD\n        if i == 1: HELD.w = self.fc.weight",
        "forward": "return y + self.held.w",
    },
    "a counter": {"forward": "HELD.n = (HELD.n or 0) + 1; return y * HELD.n"},
    "a counter in between": {
        "before": "HELD.kept = {'n': 0}",
        "forward": "return y * HELD.kept['n']",
        "between": "HELD.kept['n'] += 1",
    },
    "attributes set from outside": {"between": "block.i = float(i)", "forward": "return y * block_i(self)"},
    "what it is given, written to": {"forward": "x.add_(1); return y"},
    "a hook": {"init": "if i == 3: self.fc.register_forward_hook(lambda m, a, o: o.double().float())"},
    "a break of one": {"forward": "if self.i == 3: print('three')\n        return y"},
    "a conversion of one": {"forward": "if self.i == 3: y = y.double().float()\n        return y"},
}
"""The same, where none of what differs may be copied; others of them are, if they are alike."""


@pytest.mark.parametrize("case", [*COPIED, *TRACED])
def test_a_trace_with_copies_is_the_full_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    parts = {"init": "pass", "forward": "return y", "before": "pass", "between": "pass", "after": "pass"}
    source = MODEL.format(**{**parts, **COPIED.get(case, {}), **TRACED.get(case, {})})
    source = source.replace("block_i(self)", "self.i")
    copies = copies_of_equal_traces(tmp_path, monkeypatch, source)
    assert copies > 0 or case not in COPIED or RELEASE != (2, 13)


@pytest.mark.parametrize("use_cache", [False, True])
def test_layers_of_a_library_are_traced_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use_cache: bool) -> None:
    source = f"""
        from transformers import LlamaConfig, LlamaModel
        config = LlamaConfig(vocab_size=32, hidden_size=32, intermediate_size=64, num_hidden_layers=7)
        config.use_cache = {use_cache}
        config.num_attention_heads = config.num_key_value_heads = 2
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.llama = LlamaModel(config)
            def forward(self, x):
                return self.llama(x).last_hidden_state
        model = Net()
        inputs = (torch.ones(1, 8, dtype=torch.int64),)
    """
    pytest.importorskip("transformers")
    copies = copies_of_equal_traces(tmp_path, monkeypatch, source)
    assert 5 <= copies < 14 or RELEASE != (2, 13)  # whole layers, and not their parts one by one


def test_whoever_listens_to_dynamo_hears_all_of_the_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = watched(monkeypatch)
    with structured_trace():
        trace(tmp_path, MODEL.format(init="pass", forward="return y", before="pass", between="pass", after="pass"))
    assert [each.copies for each in made] == [0]


def test_a_model_may_keep_something_of_its_own_under_the_name_of_a_method() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    model.modules = list(model)  # type: ignore[assignment]
    counted = RepeatedCalls(model)
    assert counted._several == {torch.nn.Linear}
