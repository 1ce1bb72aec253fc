"""Layers that each take their own place out of a cache are traced once, and nobody can tell."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch_release import RELEASE
from traced_twice import copies_of_equal_traces

pytestmark = pytest.mark.torch

MODEL = """
class Held: pass
HELD, TABLE = Held(), {{}}
HELD.kept = None
class Slot:
    state = 0
    def __init__(self, n):
        self.key, self.count, self.ready = None, 0, False
        {slot}
    def update(self, key):
        if not self.ready:
            self.key, self.ready = torch.tensor([], dtype=key.dtype), True
        self.key = torch.cat([self.key, key], -2)
        return self.key[-4:]
class Cache:
    def __init__(self):
        self.slots, self.off, self.calls = [Slot(n) for n in range(6)], False, 0
        {cache}
    def update(self, key, i):
        if self.off:
            return key
        {update}
class Attention(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.i, self.fc = i, nn.Linear(8, 8)
        {init}
    def forward(self, x, cache):
        y = cache.update(self.fc(x), self.i)
        {forward}
class Block(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.attention, self.out = Attention(i), nn.Linear(8, 8)
    def forward(self, x, cache=None):
        return self.out(self.attention(x, cache=cache)) + x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(i) for i in range(5)])
    def forward(self, x):
        cache = Cache()
        {before}
        for i, block in enumerate(self.blocks):
            {between}
            x = block(x, cache=cache)
        return x, [slot.key for slot in cache.slots], [slot.count for slot in cache.slots]
model = Net()
inputs = (torch.randn(4, 8),)
"""
_UPDATE = "return self.slots[i].update(key)"
_FORWARD = "return y"

COPIED = {
    "a place for each": {},
    "a place that counts": {"update": "slot = self.slots[i]; slot.count += 1; return slot.update(key) * slot.count"},
    "a place that is taken twice": {"update": "self.slots[i].update(key); return self.slots[i].key + key"},
    "a tensor that is kept and given back": {"update": "self.slots[i].key = key; return key"},
    "a view of what is kept": {"update": "self.slots[i].key = key; return key.view(-1).view(4, 8)"},
    "the tensor that was given": {"forward": "cache.slots[self.i].key = x; return y"},
    "nothing kept": {"cache": "self.off = True"},
    "what somebody else holds of another cache": {"before": "HELD.kept = Cache()"},
}
"""What is different of a model of five blocks, where some are copied."""
TRACED = {
    "the number itself": {"forward": "return y * self.i"},
    "a number out of the number": {"update": "return self.slots[i + 1].update(key)"},
    "a comparison of the number": {"update": "return self.slots[i].update(key) * (2 if i == 3 else 1)"},
    "a number that two share": {"init": "self.i = i // 2"},
    "numbers from the end": {"init": "self.i = i - 6"},
    "a number that is too large": {"init": "self.i = i + 2"},
    "places that are not alike": {"slot": "self.count = n", "forward": "return y * cache.slots[self.i].count"},
    "the first place as well": {"forward": "return y + cache.slots[0].key"},
    "all places": {"forward": "return y * sum(slot.ready for slot in cache.slots)"},
    "how many there are": {"forward": "return y * len(cache.slots)", "between": "cache.slots.append(Slot(0))"},
    "a count of all": {"update": "self.calls += 1; return self.slots[i].update(key) * self.calls"},
    "one place for all": {"cache": "self.slots = [Slot(0)] * 6"},
    "one that is there twice": {"cache": "self.slots[3] = self.slots[1]"},
    "a place by another name": {
        "cache": "self.third = self.slots[3]",
        "forward": "return y * (2 if cache.third.ready else 1)",
    },
    "a place that somebody else holds": {
        "before": "HELD.kept = cache.slots[3]",
        "forward": "return y * (2 if HELD.kept.ready else 1)",
    },
    "whether it is the one": {
        "cache": "self.third = self.slots[3]",
        "forward": "return y * (2 if cache.slots[self.i] is cache.third else 1)",
    },
    "a place in a table": {
        "before": "table = {cache.slots[3]: 2}; cache.table = table",
        "forward": "return y * cache.table.get(cache.slots[self.i], 1)",
    },
    "its identity": {
        "cache": "self.third = id(self.slots[3])",
        "forward": "return y * (2 if id(cache.slots[self.i]) == cache.third else 1)",
    },
    "all attributes of a place": {"forward": "return y * len(vars(cache.slots[self.i]))"},
    "a place that is changed in between": {"between": "cache.slots[3].update(x) if i == 2 else None"},
    "places that are moved in between": {"between": "cache.slots.insert(0, Slot(0)) if i == 3 else None"},
    "places that are exchanged in between": {"between": "cache.slots = [Slot(n) for n in range(6)]"},
    "another cache in between": {"between": "cache = Cache() if i == 3 else cache"},
    "another switch in between": {"between": "cache.off = i > 2"},
    "an attribute that is there later": {
        "between": "cache.more = 2 if i > 2 else 1",
        "forward": "return y * getattr(cache, 'more', 1)",
    },
    "an attribute of the class that is hidden later": {
        "between": "cache.slots[3].state = 2",
        "forward": "return y * (cache.slots[self.i].state + 1)",
    },
    "an attribute that is deleted": {"slot": "self.old = n", "update": f"del self.slots[i].old; {_UPDATE}"},
    "a list in a place": {
        "slot": "self.keys = []",
        "update": "self.slots[i].keys.append(key); return torch.cat(self.slots[i].keys)[:4]",
    },
    "a list that all places share": {
        "cache": "shared = []\n        for slot in self.slots: slot.keys = shared",
        "update": "self.slots[i].keys.append(key); return torch.cat(self.slots[i].keys)[:4]",
    },
    "a place that is set anew": {"update": "self.slots[i] = Slot(i); return self.slots[i].update(key)"},
}
"""The same, where none of what differs may be copied; others of them are, if they are alike."""


@pytest.mark.parametrize("case", [*COPIED, *TRACED])
def test_a_trace_with_copies_is_the_full_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    parts = dict.fromkeys(("slot", "cache", "init", "before", "between"), "pass")
    parts |= {"update": _UPDATE, "forward": _FORWARD, **COPIED.get(case, {}), **TRACED.get(case, {})}
    copies = copies_of_equal_traces(tmp_path, monkeypatch, MODEL.format(**parts))
    assert copies > 0 or case not in COPIED or RELEASE != (2, 13)
