"""A file with classes and nothing else: what is inferred for them, and what is never told of them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import Job, analyze
from inductor_debug.capture.inference import ways
from inductor_debug_schema import ExpressionsSeen, FileStatus, Inferred, Severity, Stage, StageFinished, StageState

pytestmark = pytest.mark.torch

HEAD = "import torch\nfrom torch import nn\n"


def job_of(tmp_path: Path, text: str) -> Job:
    return analyze(tmp_path / "model.py", HEAD + dedent(text))


def inferred(job: Job) -> dict[str, Inferred]:
    return {
        event.target: event.inferred
        for event in job.events
        if isinstance(event, StageFinished) and event.inferred is not None
    }


CLASSES = {
    "x f32[batch, 5, height, width]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("mean", torch.ones(5))
                self.register_buffer("scale", torch.ones(5))
                self.layers = nn.Sequential(nn.Conv2d(5, 8, 3), nn.MaxPool2d(4), nn.Conv2d(8, 8, 5))
            def forward(self, x):
                x = (x - self.mean.view(1, 5, 1, 1)) / self.scale[None, :, None, None]
                return self.layers(x)
    """,
    "tokens i64[batch, seq], sizes i64[batch]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding, self.lstm = nn.Embedding(100, 32), nn.LSTM(32, 16)
            def forward(self, tokens, sizes):
                packed = nn.utils.rnn.pack_padded_sequence(self.embedding(tokens), list(sizes.data), batch_first=True,
                                                           enforce_sorted=False)
                return self.lstm(packed)[1][0]
    """,
    "z f32[batch, 24, height, width]": """
        class Kept(nn.Module):
            def __init__(self, module):
                super().__init__()
                self.module = module
                self.module.register_buffer("seen", None)
            def forward(self, *args):
                return self.module.forward(*args)
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Sequential(Kept(nn.ConvTranspose2d(24, 8, 4)), nn.ReLU())
            def forward(self, z):
                return self.first(z)
    """,
    "skip f32[batch, s1, height, width], x f32[batch, s1, height, width]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.resize = lambda x, size: nn.functional.interpolate(x, size=size, mode="bilinear")
            def forward(self, skip, x):
                return torch.cat([skip, self.resize(x, skip.size()[2:])], 1)
    """,
    "x f32[batch, 40]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm, self.layer = nn.BatchNorm1d([40]), nn.Linear(40, 8)
            def forward(self, x):
                return self.layer(self.norm(x))
    """,
    "frames f32[batch, 64, seq]": """
        class Model(nn.Module):
            def __init__(self, hparams):
                super().__init__()
                size = hparams.n_mel_channels * hparams.n_frames_per_step
                self.layer = nn.Linear(size, hparams.prenet_dim * hparams.max_decoder_steps)
            def forward(self, frames):
                return self.layer(frames.transpose(1, 2))
    """,
    "x f32[batch, 64, height, width]": """
        def norm(channels):
            return nn.GroupNorm(32, channels)
        class Model(nn.Module):
            def __init__(self, in_channels, reduction=16):
                super().__init__()
                self.norm, self.gate = norm(in_channels), nn.Conv2d(in_channels, in_channels // reduction, 1)
            def forward(self, x):
                return self.gate(self.norm(x))
        class Stack(nn.Module):
            def __init__(self, widths):
                super().__init__()
                self.parts = nn.ModuleList([Model(in_channels=width) for width in widths])
                self.more = nn.ModuleList([Model(width, 8) for width in widths])
                self.most = nn.ModuleList([Model(in_channels=2 * width, reduction=4) for width in widths])
    """,
    "x f32[batch, 24]": """
        class Base(nn.Module):
            def __init__(self, block, width):
                super().__init__()
                self.layer = block(width)
        class Linear(nn.Linear):
            def __init__(self, width):
                super().__init__(width, 2 * width)
        class Model(Base):
            def __init__(self, out, **options):
                super().__init__(**options)
                self.head = nn.Linear(self.layer.out_features, out)
            def forward(self, x):
                return self.head(self.layer(x))
        SIZES = {"small": {"model": Model, "options": {"out": 3, "block": Linear, "width": 24}, "url": "…"}}
    """,
    "x f32[batch, 64], scale = 1": """
        class Base(nn.Module):
            def __init__(self, width, depth=2):
                super().__init__()
                self.layers = nn.Sequential(*(nn.Linear(width, width) for _ in range(depth)))
        class Model(Base):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
            def forward(self, x, scale: int):
                return self.layers(x) * scale
    """,
    "x f32[batch, 3, height, width], z f32[batch, 6]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc, self.stem, self.heads = nn.Linear(6, 1), nn.Conv2d(4, 8, 3), nn.ModuleList()
                for name in ("low", "high"):
                    self.heads.add_module(name, nn.Conv2d(8, 2, 1))
            def forward(self, x, z):
                z = self.fc(z)[:, :, None, None].expand(-1, -1, x.shape[2], x.shape[3])
                x = self.stem(torch.cat((x, z), 1))
                return [head(x) for head in self.heads] + [head(x) for head in self.heads]
    """,
    "x f32[batch, 64]": """
        class Model(nn.Module):
            def __init__(self, width=64):
                super().__init__()
                self.layer = nn.Linear(width, 10)
            def forward(self, x):
                return self.layer(x)
    """,
    "a i64[batch, seq], h (f32[1, batch, 6], f32[1, batch, 6])": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.table, self.rnn = nn.Embedding(9, 5), nn.LSTM(5, 6, batch_first=True)
            def forward(self, a, h):
                return self.rnn(self.table(a), h)
    """,
    "batch {image: f32[batch, 3, height, width], tokens: i64[batch, seq]}": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = nn.Conv2d(3, 8, 3), nn.Embedding(9, 8)
            def forward(self, batch):
                return self.a(batch["image"]).mean((2, 3)) + self.b(batch["tokens"]).mean(1)
    """,
    "x f32[batch, 4], mode = 'full', flag = False": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 4)
            def forward(self, x, mode: str, flag: bool):
                if mode == "full":
                    return self.layer(x)
                raise ValueError(mode)
    """,
    "batch {x: f32[batch, 4]}": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.head = nn.Linear(4, 4), nn.Linear(4, 2)
            def forward(self, batch):
                batch.update({"size": batch["x"].size(0), "features": self.layer(batch["x"])})
                batch["result"] = self.head(batch["features"])
                return batch["result"].view(batch["size"], 2)
    """,
    "batch {y: f32[batch, 4]}": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 4)
            def forward(self, batch):
                x = self.layer(batch["y"])
                return x * batch["mask"] if "mask" in batch else x
    """,
    "x f32[batch, 4], options {}": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 4)
            def run(self, x, scale=1.0):
                return self.layer(x) * scale
            def forward(self, x, options):
                return self.run(x, **options)
    """,
    "features [" + "f32[batch, 4], " * 11 + "f32[batch, 8]]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.last = nn.Linear(4, 3), nn.Linear(8, 3)
            def forward(self, features):
                return self.first(features[0]) + self.last(features[11])
    """,
    "x f32[batch, 5], kept f32[batch, 5], index = 2": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(5, 5)
            def forward(self, x, kept, index):
                if index == 1:
                    kept = self.layer(kept)
                return self.layer(x) + kept
    """,
    "x f32[batch, 8]": """
        class Model(nn.Module):
            def __init__(self, width, depth):
                super().__init__()
                self.layer = nn.Linear(width, depth)
            def forward(self, x):
                return self.layer(x)
        if __name__ == "__main__":
            Model(2 * 4, depth=3)
    """,
    "x f32[batch, 64, length]": """
        class Model(nn.Module):
            expansion = 4
            def __init__(self, inplanes, planes):
                super().__init__()
                self.first, self.last = nn.Conv1d(inplanes, planes, 1), nn.Conv1d(planes, planes * self.expansion, 1)
            def forward(self, x):
                return x + self.last(self.first(x))
    """,
    "x f32[batch, 1, 28, 28]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv, self.fc = nn.Conv2d(1, 4, 3), nn.Linear(4 * 13 * 13, 10)
            def forward(self, x):
                return self.fc(torch.flatten(torch.max_pool2d(self.conv(x), 2), 1))
    """,
    "x f32[batch, 3, 256, 384]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                halves = (layer for _ in range(5) for layer in (nn.Conv2d(3, 3, 3, padding=1), nn.MaxPool2d(2)))
                self.body, self.pool, self.fc = nn.Sequential(*halves), nn.AvgPool2d(7), nn.Linear(3, 10)
            def forward(self, x):
                return self.fc(torch.flatten(self.pool(self.body(x)), 1))
    """,
    "x f32[batch, length, 7], mark f32[batch, length, 4], target f32[batch, seq, 7]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.values, self.marks = nn.Conv1d(7, 8, 1), nn.Linear(4, 8)
            def forward(self, x, mark, target):
                whole = torch.cat([x, torch.zeros(target.shape[0], 8, target.shape[2])], 1)
                embedded = self.values(x.transpose(1, 2)).transpose(1, 2) + self.marks(mark)
                return embedded.sum(1) + self.values(whole.transpose(1, 2)).sum(2)
    """,
    "x f32[batch, 64], mask = None": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(64, 8)
            def forward(self, x, mask):
                x = self.layer(x)
                return x if mask is None else x.masked_fill(mask.visible, 0)
    """,
    "x f32[batch, length, 8], mark f32[batch, length, 3]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.marks = nn.Conv1d(8, 4, 1), nn.Linear(3, 6)
            def forward(self, x, mark):
                values = self.layer(x.transpose(1, 2)).transpose(1, 2)
                return torch.cat([values, self.marks(mark)], -1)
    """,
    "x f32[batch, 5]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.wanted = 5
            def forward(self, x):
                assert x.shape[-1] == self.wanted, f"{self.wanted} values, please"
                return x + 1
    """,
    "x f32[batch, 32]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.register = nn.Linear(32, 8), torch.zeros(8, 8)
            def forward(self, x):
                if self.layer(x).sum().item() > 1e9:
                    return x
                return self.layer(x) + self.register[self.register.byte()].sum()
    """,
    "nodes f32[batch, seq, 24], links f32[batch, seq, seq], fast = False, kept f32[batch, seq]": """
        class Graph(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(24, 16)
            def forward(self, nodes, links, fast):
                found = self.layer(nodes)
                return nodes.new_zeros(1) if fast else torch.bmm(links, found)
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.graph = Graph()
            def forward(self, nodes, links, fast, kept):
                found = self.graph(nodes, links, fast)
                return (found * kept.unsqueeze(-1)).sum(1)
    """,
    "summary f32[batch, 24], patches f32[batch, seq, 24]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.score = nn.Bilinear(24, 24, 1)
            def forward(self, summary, patches):
                summary = torch.unsqueeze(summary, 1).expand_as(patches)
                return torch.squeeze(self.score(patches, summary), 2)
    """,
    "x f32[batch, seq, 24], x_len i64[batch]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(24, 16)
            def forward(self, x, x_len):
                order = torch.sort(-x_len)[1]
                packed = nn.utils.rnn.pack_padded_sequence(x[order], x_len[order].cpu(), batch_first=True)
                return self.layer(packed.data)
    """,
    "x f32[batch, length, 10], speaker f32[batch, 10]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([nn.Conv1d(20, 8, 3)])
            def forward(self, x, speaker):
                x = x.squeeze(1).transpose(2, 1)
                x = torch.cat((x, speaker.unsqueeze(-1).expand(-1, -1, x.size(-1))), dim=1)
                for layer in self.layers:
                    x = layer(x)
                return x
    """,
    "left f32[batch, 24], right f32[batch, 12]": """
        class Inner(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.Linear(24, 8), nn.Linear(12, 8)
            def forward(self, left, right, scale=None):
                return self.first(left) * self.second(right)
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.ModuleDict({"main": Inner()})
            def forward(self, *args, **kwargs):
                return self.inner["main"](*args, **kwargs)
    """,
    "x f32[batch, 24], bound f32[batch, 12]": """
        class Base(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.Linear(24, 8), nn.Linear(12, 8)
            def forward(self, x, bound):
                return self.first(x) * self.second(bound)
        class Model(Base):
            def forward(self, x, **kwargs):
                return super().forward(x, **kwargs)
    """,
    "near f32[batch, 24], far f32[batch, 12]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.Linear(24, 8), nn.Linear(12, 8)
            def forward(self, *args, mode="both", **kwargs):
                mode = "_" + mode
                return getattr(self, mode)(*args, **kwargs)
            def _both(self, near, far):
                return self.first(near) * self.second(far)
    """,
    "source f32[batch, 24], target f32[batch, 12]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.Linear(24, 8), nn.Linear(12, 8)
            def forward(self, *args, **kwargs):
                mode = kwargs.get("mode", "forward")
                if "mode" in kwargs:
                    del kwargs["mode"]
                return getattr(self, "_" + mode)(*args, **kwargs)
            def _forward(self, source, target):
                return self.first(source) * self.second(target)
    """,
    "pair (f32[batch, s1], f32[batch, s1])": """
        def halves(pair):
            first, second = pair
            return first + second
        class Model(nn.Module):
            def forward(self, pair):
                return halves(pair)
    """,
    "x f32[batch, 12, length]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Conv1d(6, 6, 3, padding=1)
            def forward(self, x):
                x0, x1 = torch.split(x, [6] * 2, 1)
                return torch.cat([x0, self.layer(x1)], 1)
    """,
    "output (f32[batch, s1], f32[batch, s1]), targets (f32[batch, s1], f32[batch, s1])": """
        class Model(nn.Module):
            def forward(self, output, targets):
                wanted, open_ends = targets[0], targets[1]
                found, ends = output
                return nn.MSELoss()(found, wanted) + nn.BCEWithLogitsLoss()(ends.view(-1, 1), open_ends.view(-1, 1))
    """,
    "x f32[batch, 4, height, width], timesteps i64[batch], seen f32[batch, 4, height, width]": """
        class Base(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.embedding = nn.Conv2d(8, 4, 3), nn.Embedding(100, 4)
            def forward(self, x, timesteps):
                \"\"\"Runs.

                :param x: an [N x C x ...] Tensor of inputs.
                :param timesteps: a batch of them.
                \"\"\"
                return self.layer(x) + self.embedding(timesteps)[:, :, None, None]
        class Model(Base):
            def forward(self, x, timesteps, seen):
                return super().forward(torch.cat([x, seen], 1), timesteps)
    """,
    "image1 f32[batch, 3, height, width], image2 f32[batch, 3, height, width]": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Conv2d(3, 4, 3)
            def forward(self, image1, image2):
                return self.layer(torch.cat([image1, image2], 0)).chunk(2)
    """,
    "x f32[B, 4, 32], H = 2, W = 2": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.side = nn.Linear(32, 96), 1
            def forward(self, x, H, W):
                B, N, C = x.shape
                rows, columns = H // self.side, W // self.side
                return self.layer(x.reshape(B, rows, self.side, columns, self.side, C))
    """,
    "scores f32[batch, s1], target i64[batch], step = 2": """
        class Model(nn.Module):
            def __init__(self, warm=20000):
                super().__init__()
                self.warm = warm
            def forward(self, scores, target, step):
                if step < self.warm:
                    return nn.functional.cross_entropy(scores, target)
                losses = nn.functional.cross_entropy(scores, target, reduction="none")
                return losses.topk(scores.size(0) // 2)[0].mean()
    """,
    "found {r1: f32[batch, s1], r2: f32[batch, s1]}, wanted {r1: f32[batch, s1], r2: f32[batch, s1]}": """
        class Model(nn.Module):
            def __init__(self, layers=("r1", "r2")):
                super().__init__()
                self.layers, self.losses = layers, [nn.MSELoss()] * len(layers)
            def forward(self, found, wanted):
                total = 0
                for number, layer in enumerate(self.layers):
                    here = wanted[layer]
                    total = total + self.losses[number](found[layer], here.detach())
                return total
    """,
    "x f32[B, 4, 32], high = 2, wide = 2": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(32, 96)
            def forward(self, x, high, wide):
                # rows, columns = min(high, wide)
                sides = (high, wide)
                B, N, C = x.shape
                assert high * wide == N
                x = self.layer(x)  # nG*B, N, C
                # x  B, N, C
                return x + torch.arange(sides[0] * sides[1])[:, None]
    """,
    "xs [f32[batch, 3, height, width], f32[batch, 3, height, width]], shape = (16, 16)": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([nn.Conv2d(3, 8, 3), nn.Conv2d(3, 8, 3)])
            def forward(self, xs, shape):
                total = torch.zeros(xs[0].shape[0], 8, *shape)
                for number, layer in enumerate(self.layers):
                    total = total + nn.functional.interpolate(layer(xs[number]), size=shape)
                return total
    """,
    "found f32[batch, s1], rest[0] f32[batch, s1], rest[1] f32[batch, s1]": """
        class Model(nn.Module):
            def forward(self, found, *rest):
                wanted = rest[0]
                weights = rest[1]
                return ((found - wanted) ** 2 * weights).sum()
    """,
    "rows = 2, columns = 2": """
        class Model(nn.Module):
            def __init__(self, width, dim_head):
                super().__init__()
                self.frequencies = nn.Parameter(torch.ones(dim_head // 16, width))
            def forward(self, rows, columns, *others):
                more = others[0] if others else 0
                return torch.arange(rows)[:, None] + torch.zeros(rows, columns) + self.frequencies[0, 0]
    """,
    "tokens i64[batch, seq]": """
        class Model(nn.Module):
            def __init__(self, width, words=None, table=None):
                super().__init__()
                self.table = self._table(words, table, width)
                self.fc = nn.Linear(width, 4)
            def _table(self, words, table, width):
                if table is not None:
                    return nn.Embedding.from_pretrained(table)
                if words is None:
                    raise Exception("there are no words")
                return nn.Embedding(words, width)
            def forward(self, tokens):
                return self.fc(self.table(tokens))
    """,
}


@pytest.mark.parametrize("signature", CLASSES)
def test_inputs_are_inferred_and_shown(signature: str, tmp_path: Path) -> None:
    job = job_of(tmp_path, CLASSES[signature])
    assert inferred(job)["Model"].signature == signature
    assert all(stage.report.state is StageState.DONE for stage in job.stages)


def test_the_directive_offered_gives_the_same_target(tmp_path: Path) -> None:
    text = dedent(CLASSES["x f32[batch, 8]"])
    directive = inferred(job_of(tmp_path, text))["Model"].directive
    assert directive == "# inductor-debug: inputs=(torch.randn(2, 8),), init=(8, 3)"
    again = job_of(tmp_path, directive + text)
    assert [target.origin for target in again.loaded.targets] == ["directive"]
    assert again.status is FileStatus.CLEAN


@pytest.mark.parametrize("stage", [Stage.PREVIEW, Stage.MOCK])
def test_a_free_size_has_one_name_everywhere(stage: Stage, tmp_path: Path) -> None:
    text = "class Model(nn.Module):\n    def forward(self, x):\n        return torch.cat([x, x]).flatten()\n"
    job = analyze(tmp_path / "model.py", HEAD + text, stages=(stage,))
    assert inferred(job)["Model"].signature == "x f32[batch, s1]"
    seen = [event for event in job.events if isinstance(event, ExpressionsSeen)]
    shapes = {tuple(tensor.shape) for event in seen for fact in event.expressions for tensor in fact.outputs}
    assert {("2*batch", "s1"), ("2*batch*s1",)} <= shapes


def test_a_finding_says_that_it_rests_on_inferred_inputs(tmp_path: Path) -> None:
    text = "class Model(nn.Module):\n    def forward(self, x):\n        return x.double()\n"
    (finding, *_) = job_of(tmp_path, text).findings
    assert finding.rule == "dtype"
    assert finding.related[-1].message.startswith("inputs inferred: x f32[batch")


REFUSED = {
    "constructor did not end": "def __init__(self):\n        super().__init__()\n        while True: pass",
    "touches the world": "def __init__(self):\n        import os\n        os.remove('made')",
    "os._exit is not done": "def __init__(self):\n        import os\n        os._exit(3)",
    "constructor raised": "def __init__(self):\n        super().__init__()\n        open('missing.bin')",
    "os.rename is not done": "n = 0\n    def forward(self, x):\n        import os\n        os.rename('made', 'other')",
    "no inputs were found": "def forward(self, x):\n        raise ValueError('never')",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_inferred_is_a_note_and_never_an_error(
    reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("CONSTRUCTION_SECONDS", "_WITH_VALUES"):
        monkeypatch.setattr(ways, limit, 1.0)
    body = REFUSED[reason]
    if "forward" not in body:
        body += "\n    def forward(self, x):\n        return x"
    if reason == "no inputs were found":
        body += "\n        return x"
    job = job_of(tmp_path, f"class Model(nn.Module):\n    {body}\n")
    assert job.findings == []
    assert job.status is FileStatus.NO_TARGET
    assert reason in inferred(job)["Model"].reason
    assert not (tmp_path / "made").exists()


def test_parts_of_other_classes_bases_and_abstract_classes_are_left_alone(tmp_path: Path) -> None:
    job = job_of(
        tmp_path,
        """
        import abc
        class Part(nn.Module):
            def forward(self, x):
                return x + 1
        class Base(nn.Module, abc.ABC):
            @abc.abstractmethod
            def forward(self, x): ...
        class Whole(Base):
            def __init__(self):
                super().__init__()
                self.part = Part()
            def forward(self, x):
                return self.part(x)
        class Unfinished(nn.Module):
            def forward(self, x):
                raise NotImplementedError
        """,
    )
    assert [target.name for target in job.loaded.targets] == ["Whole"]


@pytest.mark.parametrize("place", ["# inductor-debug: off\nimport math\n{}", "import math\n# inductor-debug: off\n{}"])
def test_a_comment_switches_inference_off(place: str, tmp_path: Path) -> None:
    job = job_of(tmp_path, place.format("class Model(nn.Module):\n    def forward(self, x):\n        return x\n"))
    assert job.status is FileStatus.NO_TARGET
    assert job.loaded.targets == []


def test_what_compiling_raises_is_nobodys_fault_where_the_inputs_did_not_run_eagerly(tmp_path: Path) -> None:
    job = job_of(
        tmp_path,
        """
        class Model(nn.Module):
            def forward(self, x, amounts):
                order = torch.sort(-amounts)[1]
                packed = nn.utils.rnn.pack_padded_sequence(x[order], amounts[order].cpu(), batch_first=True)
                return packed.data
        """,
    )
    assert not [item for item in job.findings if item.severity is Severity.ERROR]


def test_made_up_sizes_are_never_blamed(tmp_path: Path) -> None:
    text = "class Model(nn.Module):\n    def forward(self, x, y):\n        return torch.cat([x * y, y])[1:]\n"
    job = job_of(tmp_path, text)
    assert not {finding.rule for finding in job.findings} & {"alignment", "memory", "recompile", "capture-error"}


def test_what_one_class_makes_of_torchs_defaults_is_not_told_of_another(tmp_path: Path) -> None:
    job = job_of(
        tmp_path,
        """
        class First(nn.Module):
            def __init__(self):
                super().__init__()
                torch.set_default_dtype(torch.float64)
            def forward(self, x):
                return x + 1
        class Second(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 4)
            def forward(self, x):
                return self.layer(x)
        """,
    )
    assert [finding for finding in job.findings if finding.target == "Second"] == []


def test_the_nodes_of_a_tree_end(tmp_path: Path) -> None:
    job = job_of(
        tmp_path,
        """
        from dataclasses import dataclass, field
        @dataclass
        class Node:
            value: torch.Tensor
            children: list["Node"] = field(default_factory=list)
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.leaf, self.merge = nn.Linear(32, 32), nn.Linear(64, 32)
            def forward(self, tree: Node):
                h = self.leaf(tree.value)
                for child in tree.children:
                    h = self.merge(torch.cat([h, self.forward(child)], dim=-1))
                return h
        """,
    )
    inner = "Node(value: f32[batch, seq, 32])"
    signature = f"tree Node(value: f32[batch, seq, 32], children: [{inner}, {inner}])"
    assert inferred(job)["Model"].signature == signature
    assert job.status is FileStatus.CLEAN


COPIES = """
    import copy
    class Target(nn.Module):
        def __init__(self):
            super().__init__()
            self.online = nn.Sequential(nn.Linear(12, 8), nn.BatchNorm1d(8))
            self.target = copy.deepcopy(self.online)
        def forward(self, batch):
            (first, second), labels = batch
            return self.online(first) - self.target(second)
"""


def test_a_model_that_copies_its_own_parts_is_built(tmp_path: Path) -> None:
    found = inferred(job_of(tmp_path, COPIES))
    assert found["Target"].signature == "batch ((f32[batch, 12], f32[batch, 12]), f32[batch, s1])", found
