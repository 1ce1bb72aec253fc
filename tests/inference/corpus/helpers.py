"""Classes that are built by helper functions, and that are given objects, tables and lists of dicts."""

import argparse
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Dict, List, NamedTuple, Optional

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class ClickNet(nn.Module):
    def __init__(self, size=None, tables=None, bottom=None, top=None):
        super().__init__()
        if size is not None and tables is not None:
            self.bags = nn.ModuleList([nn.EmbeddingBag(int(tables[i]), size, mode="sum") for i in range(tables.size)])
            self.bottom, self.top = self.layers(bottom), self.layers(top)

    def layers(self, sizes):
        return nn.Sequential(*[nn.Linear(int(sizes[i]), int(sizes[i + 1])) for i in range(0, sizes.size - 1)])

    def looked_up(self, offsets, indices, bags):
        found = []
        for k, index in enumerate(indices):
            bag = bags[k]
            found.append(bag(index, offsets[k]))
        return found

    def forward(self, dense, offsets, indices):
        x = torch.relu(self.bottom(dense))
        return self.top(torch.cat([x, *self.looked_up(offsets, indices, self.bags)], dim=1))


def click_net():
    bottom, tables = np.array([13, 48, 16]), np.array([100, 50, 20])
    return ClickNet(16, tables, bottom, np.array([(tables.size + 1) * bottom[-1], 32, 1]))


class Padded:
    def __init__(self, tensors, mask: Optional[Tensor]):
        self.tensors, self.mask = tensors, mask


class PaddedBackbone(nn.Module):
    def __init__(self, channels=24):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 7, 4, 3), nn.ReLU(), nn.Conv2d(16, channels, 3, 2, 1))

    def forward(self, images: Padded):
        x = self.body(images.tensors)
        assert images.mask is not None
        return x, F.interpolate(images.mask[None].float(), size=x.shape[-2:]).bool()[0]


@dataclass
class Tokens:
    ids: Tensor
    features: Tensor
    name: str = ""


class TokenEncoder(nn.Module):
    def __init__(self, vocabulary=300, width=32, extra=10):
        super().__init__()
        self.table, self.extra, self.out = nn.Embedding(vocabulary, width), nn.Linear(extra, width), nn.Linear(width, 5)

    def forward(self, batch: Tokens):
        return self.out(self.table(batch.ids).mean(1) + self.extra(batch.features))


class Rays(NamedTuple):
    origins: Tensor
    directions: Tensor
    near: float
    far: float


class RayField(nn.Module):
    def __init__(self, samples=16):
        super().__init__()
        self.samples, self.field = samples, nn.Linear(6, 4)

    def forward(self, rays: Rays):
        along = torch.linspace(0, 1, self.samples) * (rays.far - rays.near) + rays.near
        points = rays.origins[:, None] + rays.directions[:, None] * along[None, :, None]
        return self.field(torch.cat([points, rays.directions[:, None].expand_as(points)], -1)).sum(1)


class MeanPass(nn.Module):
    def __init__(self, features=11, hidden=24, graphs=8):
        super().__init__()
        self.inner, self.out, self.graphs = nn.Linear(features, hidden), nn.Linear(hidden, 3), graphs

    def forward(self, data):
        x, edge_index, batch = data.x, data.edge_index, data.batch
        x = torch.relu(self.inner(torch.zeros_like(x).index_add(0, edge_index[0], x[edge_index[1]])))
        return self.out(x.new_zeros(self.graphs, x.size(1)).index_add(0, batch, x))


class SetLoss(nn.Module):
    def __init__(self, classes, weights):
        super().__init__()
        self.classes, self.weights = classes, weights

    def forward(self, outputs, targets):
        """
        Args:
            outputs: dict of tensors, with
                "pred_logits": Tensor of dim [batch_size, num_queries, num_classes]
                "pred_boxes": Tensor of dim [batch_size, num_queries, 4]
            targets: list of dicts, one for each image, with
                "labels": Tensor of dim [num_boxes]
                "boxes": Tensor of dim [num_boxes, 4]
        """
        labels = torch.cat([target["labels"] for target in targets])
        boxes = torch.cat([target["boxes"] for target in targets])
        chances = outputs["pred_logits"].flatten(0, 1).softmax(-1)
        cost = torch.cdist(outputs["pred_boxes"].flatten(0, 1), boxes, p=1)
        return self.weights["box"] * cost - self.weights["class"] * chances[:, labels]


def set_loss():
    return SetLoss(91, {"class": 1, "box": 5})


@dataclass
class HeadSettings:
    heads: int
    size: int


@dataclass
class DecoderSettings:
    vocabulary: int
    attention: HeadSettings
    layers: List[int] = field(default_factory=lambda: [48, 24])


class SettingsDecoder(nn.Module):
    def __init__(self, settings: DecoderSettings):
        super().__init__()
        width = settings.attention.heads * settings.attention.size
        self.table = nn.Embedding(settings.vocabulary, width)
        self.attention = nn.MultiheadAttention(width, settings.attention.heads, batch_first=True)
        sizes = [width, *settings.layers]
        self.out = nn.Sequential(*[nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:], strict=True)])

    def forward(self, ids):
        x = self.table(ids)
        return self.out(self.attention(x, x, x, need_weights=False)[0])


def settings(small=True):
    found = DecoderSettings(vocabulary=500, attention=HeadSettings(heads=4, size=12))
    if small:
        found.layers = [24]
    return found


class SpaceNet(nn.Module):
    def __init__(self, config):
        super().__init__()
        layers, width = [], config.channels
        for size in config.widths[: config.depth]:
            layers += [nn.Conv1d(width, size, 3, padding=1), nn.ReLU()]
            width = size
        self.body, self.head = nn.Sequential(*layers), nn.Linear(width, config.head.classes)

    def forward(self, x):
        return self.head(self.body(x).mean(-1))


def space(depth=2):
    config = SimpleNamespace()
    config.channels, config.widths, config.depth = 5, [16, 32, 64], depth
    config.head = SimpleNamespace(classes=7)
    return config


class OptionTagger(nn.Module):
    def __init__(self, args):
        super().__init__()
        kind = {"lstm": nn.LSTM, "gru": nn.GRU}[args.cell]
        self.rnn = kind(args.features, args.hidden, batch_first=True, bidirectional=args.both_ways)
        self.out = nn.Linear(args.hidden * (2 if args.both_ways else 1), args.tags)

    def forward(self, feats):
        return self.out(self.rnn(feats)[0])


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--features", type=int, default=23)
    parser.add_argument("--hidden", type=int, default=48)
    parser.add_argument("--both_ways", action="store_true")
    parser.add_argument("--cell", choices=["lstm", "gru"])
    parser.add_argument("--tags", type=int, required=True)
    return parser.parse_args()


def body(width=12):
    layers = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, 2 * width, 3, 2, 1))
    layers.out_channels = 2 * width
    return layers


def norm(name):
    return {"batch": nn.BatchNorm2d, "instance": nn.InstanceNorm2d}[name]


class Segmenter(nn.Module):
    def __init__(self, body, classes, norm_layer):
        super().__init__()
        self.body, self.norm = body, norm_layer(body.out_channels)
        self.head = nn.Conv2d(body.out_channels, classes, 1)

    def forward(self, x):
        return F.interpolate(self.head(self.norm(self.body(x))), size=x.shape[-2:], mode="bilinear")


class Words:
    def __init__(self, words):
        self.words = ["<pad>", *words]

    def __len__(self):
        return len(self.words)


class WordTagger(nn.Module):
    def __init__(self, words, tags, width):
        super().__init__()
        self.table = nn.Embedding(len(words), width)
        self.rnn, self.out = nn.LSTM(width, width, batch_first=True), nn.Linear(width, len(tags))

    def forward(self, sentence):
        return self.out(self.rnn(self.table(sentence))[0])


class NamedPyramid(nn.Module):
    def __init__(self, widths: Dict[str, int], out: int = 16):
        super().__init__()
        self.lateral = nn.ModuleDict({name: nn.Conv2d(width, out, 1) for name, width in widths.items()})
        self.names = list(widths)

    def forward(self, features: Dict[str, Tensor]):
        found, before = {}, None
        for name in reversed(self.names):
            x = self.lateral[name](features[name])
            x = x if before is None else x + F.interpolate(before, size=x.shape[-2:])
            found[name] = before = x
        return found


class SpeechCtc(nn.Module):
    def __init__(self, n_mels: int = 80, width: int = 24):
        super().__init__()
        self.sub = nn.Sequential(nn.Conv2d(1, width, 3, 2), nn.ReLU(), nn.Conv2d(width, width, 3, 2))
        self.out = nn.Linear(width * (((n_mels - 1) // 2 - 1) // 2), 30)

    def forward(self, inputs):
        """
        Args:
            inputs (batch, time, dim): spectrograms
        """
        x = self.sub(inputs.unsqueeze(1))
        return self.out(x.transpose(1, 2).flatten(2)).log_softmax(-1)


def main():
    tagger = WordTagger(Words(["a", "dog", "ran"]), {"DET": 0, "NOUN": 1}, 20)
    others = SettingsDecoder(settings()), SpaceNet(space()), OptionTagger(options()), NamedPyramid({"c3": 8, "c4": 12})
    return tagger, others, Segmenter(body(), 21, norm("batch"))
