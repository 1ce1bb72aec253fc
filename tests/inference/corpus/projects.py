"""Classes as projects write them: arguments of the command line, builders, configurations, lists of sizes, lengths."""

import argparse
import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

SETTINGS = {"model": {"width": 17, "hidden": [64, 32], "classes": 3, "act": "relu"}}
ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU}


class OptionForecaster(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.rnn = nn.LSTM(args.input_dim, args.hidden_dim, args.num_layers, batch_first=True)
        self.head = nn.Linear(args.hidden_dim, args.horizon)

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1])


class DictMlp(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        sizes = [cfg["width"], *cfg["hidden"]]
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:], strict=True)])
        self.act, self.out = ACTIVATIONS[cfg["act"]](), nn.Linear(sizes[-1], cfg["classes"])

    def forward(self, x):
        for layer in self.layers:
            x = self.act(layer(x))
        return self.out(x)


class FieldwiseModel(nn.Module):
    def __init__(self, field_dims, embed_dim, mlp_dims, dropout):
        super().__init__()
        self.table = nn.Embedding(sum(field_dims), embed_dim)
        self.offsets = np.array((0, *np.cumsum(field_dims)[:-1]), dtype=np.int64)
        self.flat = len(field_dims) * embed_dim
        layers, width = [], self.flat
        for size in mlp_dims:
            layers += [nn.Linear(width, size), nn.ReLU(), nn.Dropout(dropout)]
            width = size
        self.mlp = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, x):
        """x: Long tensor of size (batch_size, num_fields)"""
        x = x + x.new_tensor(self.offsets).unsqueeze(0)
        return self.mlp(self.table(x).view(-1, self.flat))


class ResidualStage(nn.Module):
    expansion = 2

    def __init__(self, inplanes, planes):
        super().__init__()
        self.conv, self.skip = nn.Conv2d(inplanes, planes * 2, 3, padding=1), nn.Conv2d(inplanes, planes * 2, 1)

    def forward(self, x):
        return torch.relu(self.conv(x) + self.skip(x))


class Backbone(nn.Module):
    def __init__(self, block, layers, num_classes=10):
        super().__init__()
        self.inplanes = 16
        self.stem = nn.Conv2d(3, 16, 7, stride=2, padding=3)
        self.stages = nn.Sequential(*[self._stage(block, 16 << number, count) for number, count in enumerate(layers)])
        self.head = nn.Linear(self.inplanes, num_classes)

    def _stage(self, block, planes, count):
        parts = []
        for _ in range(count):
            parts.append(block(self.inplanes, planes))
            self.inplanes = planes * block.expansion
        return nn.Sequential(*parts)

    def forward(self, x):
        return self.head(self.stages(self.stem(x)).mean((2, 3)))


def backbone(block, layers, **others):
    return Backbone(block, layers, **others)


def small_backbone(**others):
    return backbone(ResidualStage, [1, 2], **others)


class RecurrentLanguageModel(nn.Module):
    def __init__(self, rnn_type, ntoken, ninp, nhid, nlayers):
        super().__init__()
        self.ntoken, self.encoder = ntoken, nn.Embedding(ntoken, ninp)
        if rnn_type in ("LSTM", "GRU"):
            self.rnn = getattr(nn, rnn_type)(ninp, nhid, nlayers)
        else:
            self.rnn = nn.RNN(ninp, nhid, nlayers, nonlinearity={"TANH": "tanh", "RELU": "relu"}[rnn_type])
        self.decoder = nn.Linear(nhid, ntoken)

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.encoder(input), hidden)
        return F.log_softmax(self.decoder(output).view(-1, self.ntoken), 1), hidden


class WindowBlock(nn.Module):
    def __init__(self, dim, input_resolution, num_heads, window_size=4):
        super().__init__()
        self.input_resolution, self.window_size, self.heads = input_resolution, window_size, num_heads
        self.qkv, self.out = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)

    def forward(self, x):
        height, width = self.input_resolution
        batch, length, dim = x.shape
        assert length == height * width, "input feature has wrong size"
        size = self.window_size
        x = x.view(batch, height // size, size, width // size, size, dim).transpose(2, 3).reshape(-1, size * size, dim)
        q, k, v = (
            part.view(*part.shape[:2], self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1)
        )
        x = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(-1, size, size, dim)
        return self.out(x.view(batch, length, dim))


class Layer(nn.Module):
    def __init__(self, size, attention):
        super().__init__()
        self.attention, self.norm = attention, nn.LayerNorm(size)

    def forward(self, x, mask):
        return self.norm(x + self.attention(x, mask))


class Attention(nn.Module):
    def __init__(self, heads, size):
        super().__init__()
        self.heads, self.inner = heads, nn.Linear(size, 3 * size)

    def forward(self, x, mask):
        q, k, v = (item.unflatten(-1, (self.heads, -1)).transpose(1, 2) for item in self.inner(x).chunk(3, -1))
        scores = (q @ k.mT).masked_fill(mask.unsqueeze(1) == 0, -1e9)
        return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)


class Translator(nn.Module):
    def __init__(self, embedding, layer, generator):
        super().__init__()
        self.embedding, self.layer, self.generator = embedding, layer, generator

    def forward(self, src, src_mask):
        return self.generator(self.layer(self.embedding(src), src_mask))


def make_translator(vocabulary=1000, size=64, heads=8):
    copied = copy.deepcopy
    attention = Attention(heads, size)
    embedding = nn.Sequential(nn.Embedding(vocabulary, size), nn.LayerNorm(size))
    return Translator(embedding, Layer(size, copied(attention)), nn.Linear(size, vocabulary))


class PyramidHead(nn.Module):
    """Makes bounding boxes of three scales."""

    def __init__(self, classes=8, widths=(16, 32, 64)):
        super().__init__()
        self.count = len(widths)
        self.boxes = nn.ModuleList([nn.Conv2d(width, 4, 1) for width in widths])
        self.classes = nn.ModuleList([nn.Conv2d(width, classes, 1) for width in widths])

    def forward(self, x):
        """Gives boxes and classes."""
        for i in range(self.count):
            x[i] = torch.cat((self.boxes[i](x[i]), self.classes[i](x[i])), 1)
        return torch.cat([item.flatten(2) for item in x], 2)


class SupervisedDecoder(nn.Module):
    def __init__(self, classes=8, width=64):
        super().__init__()
        self.last, self.early = nn.Conv2d(width, classes, 1), nn.Conv2d(width // 2, classes, 1)

    def forward(self, features):
        last = features[-1]
        early = features[-2]
        return self.last(last).mean() + self.early(early).mean()


class TopDown(nn.Module):
    def __init__(self, widths=(16, 32, 64), width=24):
        super().__init__()
        self.lateral = nn.ModuleList([nn.Conv2d(each, width, 1) for each in widths[:-1]])
        self.top = nn.Conv2d(widths[-1], width, 1)

    def forward(self, features):
        x = self.top(features[-1])
        for i in reversed(range(len(features) - 1)):
            lateral = features[i]
            lateral = self.lateral[i](lateral)
            x = lateral + nn.functional.interpolate(x, size=lateral.shape[2:])
        return x


class PackedEncoder(nn.Module):
    def __init__(self, vocab_size=500, hidden=24):
        super().__init__()
        self.table, self.rnn = nn.Embedding(vocab_size, hidden), nn.GRU(hidden, hidden, batch_first=True)

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(self.table(tokens), lengths.cpu(), batch_first=True, enforce_sorted=False)
        return self.rnn(packed)[1]


class KeywordTable(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense, self.table = nn.Linear(12, 7), nn.Embedding(30, 7)

    def forward(self, **inputs):
        return self.dense(inputs["dense"]) + self.table(inputs["category"])


class TaskHeads(nn.Module):
    def __init__(self, tasks=("depth", "normals"), channels=24):
        super().__init__()
        self.heads = nn.ModuleDict({task: nn.Conv2d(channels, 1, 1) for task in tasks})

    def forward(self, features, task):
        return self.heads[task](features)


class Resizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x, size):
        return F.interpolate(self.conv(x), size=size, mode="bilinear", align_corners=False)


class RadianceField(nn.Module):
    def __init__(self, points=3, views=5, width=64):
        super().__init__()
        self.points, self.views = points, views
        self.body, self.head = nn.Linear(points, width), nn.Linear(width + views, 4)

    def forward(self, x):
        position, direction = torch.split(x, [self.points, self.views], dim=-1)
        return self.head(torch.cat([torch.relu(self.body(position)), direction], -1))


class MultiboxLoss(nn.Module):
    def __init__(self, num_classes=21):
        super().__init__()
        self.num_classes = num_classes

    def forward(self, locations, scores, true_locations, true_classes):
        """
        locations: a tensor of dimensions (N, 100, 4)
        scores: a tensor of dimensions (N, 100, n_classes)
        true_locations: a tensor of dimensions (N, 100, 4)
        true_classes: a tensor of dimensions (N, 100)
        """
        chosen = (true_classes != 0).unsqueeze(-1)
        loss = F.smooth_l1_loss(locations * chosen, true_locations * chosen)
        return loss + F.cross_entropy(scores.view(-1, self.num_classes), true_classes.view(-1))


class LazyClassifier(nn.Module):
    def __init__(self, num_outputs=10):
        super().__init__()
        self.net = nn.Sequential(nn.LazyConv2d(8, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(num_outputs))

    def forward(self, image):
        return self.net(image)


class VocabularyTagger(nn.Module):
    """What a project's data pipeline has: vocabularies that are asked how many words they have, arrays, one of several."""

    def __init__(self, data):
        super().__init__()
        self.words = nn.Embedding(data.word_alphabet.size(), data.word_dim)
        if data.pretrained_words is not None:
            self.words.weight.data.copy_(torch.from_numpy(data.pretrained_words))
        self.features = nn.ModuleList()
        for index in range(data.feature_count):
            self.features.append(nn.Embedding(data.feature_alphabets[index].size(), data.word_dim))
        self.head = nn.Linear(data.word_dim, data.label_alphabet.size())

    def forward(self, words, tags):
        hidden = self.words(words)
        for feature in self.features:
            hidden = hidden + feature(tags)
        return self.head(hidden)


class PretrainedTagger(nn.Module):
    """Takes an array where most take a tensor."""

    def __init__(self, vectors):
        super().__init__()
        self.words = nn.Embedding.from_pretrained(torch.from_numpy(vectors))
        self.head = nn.Linear(vectors.shape[1], 7)

    def forward(self, words):
        return self.head(self.words(words))


class FieldClassifier(nn.Module):
    """`dataset` is a name on the command line, and an object once its data are loaded."""

    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding.from_pretrained(config.dataset.TEXT_FIELD.vocab.vectors)
        self.rnn = nn.GRU(config.words_dim, 32, batch_first=True)

    def forward(self, x):
        return self.rnn(self.embed(x))[0]


class TableGrader(FieldClassifier):
    """Asks what its base class asks."""

    def __init__(self, config):
        super().__init__(config)
        self.head = nn.Linear(32, config.num_grades)

    def forward(self, x):
        return self.head(super().forward(x))


class ShapeMatcher(nn.Module):
    def __init__(self, shapes):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv2d(shape[1], shape[1], 3, padding=1) for shape in shapes])

    def forward(self, features):
        return [layer(feature) for layer, feature in zip(self.layers, features, strict=True)]


class SizedEncoder(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.input_size = args.input_size
        if self.input_size == [1, 28, 28]:
            self.last = 7
        elif self.input_size == [1, 28, 20]:
            self.last = (7, 5)
        else:
            raise ValueError("invalid input size")
        self.layers = nn.Sequential(
            nn.Conv2d(self.input_size[0], 8, 4, 2, 1), nn.Conv2d(8, 8, 4, 2, 1), nn.Conv2d(8, 16, self.last)
        )
        self.mean = nn.Linear(16, 5)

    def forward(self, x):
        return self.mean(self.layers(x).view(-1, 16))


class AdaptiveTable(nn.Module):
    def __init__(self, n_token, cutoffs):
        super().__init__()
        if cutoffs != sorted(cutoffs) or len(set(cutoffs)) != len(cutoffs) or max(cutoffs) >= n_token:
            raise ValueError("cutoffs must be in order")
        self.parts = nn.ModuleList([nn.Linear(18, 18) for _ in cutoffs])

    def forward(self, hidden):
        return sum(part(hidden) for part in self.parts)


def plain_conv(in_channels, out_channels, kernel_size, bias=True):
    return nn.Conv2d(in_channels, out_channels, kernel_size, padding=kernel_size // 2, bias=bias)


class BuiltOfConvs(nn.Sequential):
    """What makes its layers is handed in: a function of the file."""

    def __init__(self, conv, features, reduction=6):
        if features % reduction != 0:
            raise ValueError("features must be a multiple of reduction")
        super().__init__(conv(features, features // reduction, 3, bias=False), nn.ReLU())


class Node:
    def __init__(self, **kwargs):
        self.__dict__.update(kwargs)


class NamedSizes(nn.Module):
    """Its configuration is filled in from outside, and by one of several names."""

    @staticmethod
    def default_config():
        config = Node()
        config.kind = "large"
        config.depth = None
        config.vocabulary = None
        return config

    @classmethod
    def from_name(cls, kind):
        config = cls.default_config()
        config.kind = kind
        config.vocabulary = 500
        return cls(config)

    def __init__(self, config):
        super().__init__()
        assert config.vocabulary is not None
        if (config.kind is None) == (config.depth is None):
            raise ValueError("give a kind or a depth")
        sizes = {"large": dict(depth=3, width=96), "small": dict(depth=1, width=24)}[config.kind]
        self.embed = nn.Embedding(config.vocabulary, sizes["width"])
        self.layers = nn.Sequential(*[nn.Linear(sizes["width"], sizes["width"]) for _ in range(sizes["depth"])])

    def forward(self, tokens):
        return self.layers(self.embed(tokens))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--input-dim", type=int, default=9)
    parser.add_argument("--hidden-dim", type=int, default=72)
    parser.add_argument("--num-layers", type=int, default=2)
    parser.add_argument("--horizon", type=int, default=24)
    parser.add_argument("--words-dim", type=int, default=48)
    parser.add_argument("--dataset", default="reviews")
    return OptionForecaster(parser.parse_args()), DictMlp(SETTINGS["model"])
