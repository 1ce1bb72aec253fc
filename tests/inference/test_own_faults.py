"""Mistakes that no input avoids, in classes that declare no inputs, are told when the file is opened."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import in_child
from inductor_debug.capture.session import analyze
from inductor_debug_schema import Finding, JobRequest, Stage, StageFinished

pytestmark = pytest.mark.torch

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"

FAULTS = {
    "a function is given more than it takes": (
        """
        def centred(data, *, size):
            return data[:size]
        class Window(nn.Module):
            def __init__(self, filter_length, hop_length):
                super().__init__()
                self.hop = hop_length
                self.register_buffer("window", centred(torch.hann_window(filter_length), filter_length))
            def forward(self, x):
                return x[..., : len(self.window)] * self.window
        """,
        "centred(torch",
        "`centred` is not given `size`",
    ),
    "a method calls what torch leaves to it": (
        """
        class Norm(nn.modules.batchnorm._BatchNorm):
            def _check_input_dim(self, input):
                if input.dim() != 3:
                    raise ValueError("three dimensions")
                super()._check_input_dim(input)
            def forward(self, input):
                self._check_input_dim(input)
                return F.batch_norm(input, None, None, self.weight, self.bias, True, 0.1, self.eps)
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = Norm(8)
            def forward(self, x):
                return self.norm(x)
        """,
        "super()._check_input_dim(",
        "torch leaves `_check_input_dim` to subclasses",
    ),
    "a name of NumPy's is gone": (
        """
        import numpy as np
        def float(value):
            return value
        class Warm(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.steps = nn.Linear(8, 8), 0
            def forward(self, x):
                return self.layer(x) * np.float(1 / (1 + np.exp(-self.steps)))
        """,
        "np.float(",
        "module 'numpy' has no attribute 'float'",
    ),
    "a parameter that torch wants by now is not given": (
        """
        class Spectrum(nn.Module):
            def forward(self, sound, other):
                return torch.stft(sound - other, 64, window=torch.hann_window(64)).pow(2).sum(-1)
        """,
        "torch.stft(",
        "stft requires the return_complex parameter be given",
    ),
    "a recurrent layer is given another precision": (
        """
        class Tagger(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn = nn.LSTM(7, 16, batch_first=True)
            def forward(self, x):
                return self.rnn(x.double())[0]
        """,
        "self.rnn(x.double())",
        "`x.double()` is float64, `self.rnn` takes float32",
    ),
    "the state of another recurrent layer is too narrow": (
        """
        class Reader(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed = nn.Embedding(100, 48)
                self.encoder, self.decoder = nn.GRU(48, 48, batch_first=True), nn.GRU(48, 49, batch_first=True)
            def forward(self, source_ids, target_ids):
                _, state = self.encoder(self.embed(source_ids))
                return self.decoder(self.embed(target_ids), state)[0]
        """,
        "self.decoder(",
        "`self.decoder` takes 49 features, `state` [1, 2, 48] has 48",
    ),
    "a name is missing behind a layer that takes long over long sequences": (
        """
        class Language(nn.Module):
            def __init__(self, tokens, width, hidden, layers):
                super().__init__()
                self.encoder = nn.Embedding(tokens, width)
                self.rnn = nn.LSTM(width, hidden, layers)
                self.decoder = nn.Linear(hidden, tokens)
            def forward(self, input, hidden):
                output, hidden = self.rnn(self.encoder(input), hidden)
                return decoder(output), hidden
        """,
        "decoder(",
        "did you mean `self.decoder`?",
    ),
    "a norm is given another precision": (
        """
        class Normed(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm, self.out = nn.LayerNorm(16), nn.Linear(16, 1)
            def forward(self, x):
                return self.out(self.norm(x.double()).float())
        """,
        "self.norm(x.double())",
        "`x.double()` is float64, `self.norm` float32: `self.norm` needs one dtype",
    ),
    "precisions are mixed before other sizes are refused": (
        """
        class Additive(nn.Module):
            def __init__(self, size=64):
                super().__init__()
                self.query, self.key, self.score = nn.Linear(size, size), nn.Linear(size, size), nn.Linear(size, 1)
            def forward(self, query, keys):
                scores = self.score(torch.tanh(self.query(query.double()).unsqueeze(1) + self.key(keys))).squeeze(2)
                return (scores.softmax(-1).unsqueeze(1) @ keys).squeeze(1)
        """,
        "self.query(query.double())",
        "`query.double()` is float64, `self.query` float32",
    ),
    "a forward without self": (
        """
        class Loss(nn.Module):
            def forward(reconstruction, x, mean):
                return F.mse_loss(reconstruction, x) + mean.sum()
        """,
        "forward(reconstruction",
        "`Loss.forward` has no parameter `self`, which Python passes first.",
    ),
    "a misspelt name beside names that are computed": (
        """
        class Scaled(nn.Module):
            def __init__(self):
                super().__init__()
                for index in range(2):
                    setattr(self, f"scale_{index}", index)
                self.layers = nn.ModuleList([nn.Linear(8, 8)])
                print(self.__class__.__name__)
            def forward(self, x):
                for layer in self.layrs:
                    x = layer(x) * self.scale_1
                return x
        """,
        "self.layrs",
        "`Scaled` has no `layrs`; did you mean `layers`?",
    ),
    "a constructor that asks for nothing takes a number for an object": (
        """
        class Inner(nn.Module):
            def __init__(self, config, index):
                super().__init__()
                self.layer = nn.Linear(config.width, config.width)
        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Inner(0, type("Config", (), {"width": 8}))
            def forward(self, x):
                return self.inner.layer(x)
        """,
        "config.width",
        "'int' object has no attribute 'width'",
    ),
    "a window that grows with what it slides over": (
        """
        class Pooled(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed, self.conv = nn.Embedding(100, 24), nn.Conv1d(24, 20, 3)
            def forward(self, tokens):
                x = self.conv(self.embed(tokens).transpose(1, 2))
                return F.max_pool1d(x, x.size(2) + 1).squeeze(2)
        """,
        "F.max_pool1d(",
        "the kernel of `max_pool1d` needs at least",
    ),
    "a part that only another input would leave out": (
        """
        class Pair(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed, self.encoder, self.norm = nn.Embedding(50, 16), nn.Linear(16, 16), nn.LayerNorm(17)
            def forward(self, input_ids=None, encoder_outputs=None):
                if encoder_outputs is None:
                    encoder_outputs = self.norm(self.encoder(self.embed(input_ids)))
                return encoder_outputs * self.embed(input_ids)
        """,
        "self.norm(",
        "`self.norm` takes 17 features",
    ),
    "a mask that need not be given is cut": (
        """
        class Masked(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed = nn.Embedding(50, 16)
            def forward(self, input_ids=None, attention_mask=None):
                return self.embed(input_ids)[:, 1:] * attention_mask[..., 1:, None]
        """,
        "attention_mask[",
        "`attention_mask` is None by default, but a value is needed here.",
    ),
    "a number where a method takes a tensor": (
        """
        class Smoothed(nn.Module):
            def forward(self, logits, target):
                true = torch.full_like(logits, 0.1)
                return true.scatter_(target.unsqueeze(1), 1, 0.9)
        """,
        "true.scatter_(",
        "scatter_() received an invalid combination of arguments",
    ),
    "a matrix that is no affine one": (
        """
        class Warped(nn.Module):
            def __init__(self):
                super().__init__()
                self.theta = nn.Sequential(nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(48, 6))
            def forward(self, image):
                grid = F.affine_grid(self.theta(image).view(-1, 3, 2), image.size())
                return F.grid_sample(image, grid)
        """,
        "F.affine_grid(",
        "must be 2 for `affine_grid`",
    ),
    "a width is divided in a constructor": (
        """
        class Half(nn.Module):
            def __init__(self, planes):
                super().__init__()
                self.conv = nn.Conv2d(planes, planes / 2, 3)
            def forward(self, x):
                return self.conv(x)
        """,
        "planes / 2",
        "`planes / 2` is a float, and `nn.Conv2d` takes a whole number; `planes // 2` gives one",
    ),
    "a part is given the quotient": (
        """
        class Part(nn.Module):
            def __init__(self, inner, outer):
                super().__init__()
                self.fc = nn.Linear(inner, outer)
            def forward(self, x):
                return self.fc(x)
        class Whole(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.part = Part(width, width / 4)
            def forward(self, x):
                return self.part(x)
        """,
        "width / 4",
        "`Part` takes a whole number",
    ),
    "a quotient is kept for a view": (
        """
        class Skip(nn.Module):
            def __init__(self, width, skip):
                super().__init__()
                self.skip = skip
                self.steps = width / skip
            def forward(self, x):
                return x.view(x.size(0), -1, self.steps, self.skip)
        """,
        "width / skip",
        "`x.view` takes a whole number; `width // skip` gives one",
    ),
    "layers are padded by a quotient": (
        """
        class Padded(nn.Module):
            def __init__(self, channels, size=3):
                super().__init__()
                self.net = nn.Sequential(nn.Conv1d(channels, channels, size, padding=(size - 1) / 2), nn.Dropout(1 / 4))
            def forward(self, x):
                return self.net(x)
        """,
        "(size - 1) / 2), nn",
        "`self.net` takes a whole number",
    ),
    "layers are made so often": (
        """
        class Deep(nn.Module):
            def __init__(self, depth):
                super().__init__()
                count = (depth - 4) / 6
                self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(count))
            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x
        """,
        "(depth - 4) / 6",
        "`range` takes a whole number",
    ),
    "a size is divided in place": (
        """
        class Cut(nn.Module):
            def forward(self, x):
                half = x.shape[-1]
                half /= 2
                return x[:, half:]
        """,
        "half /= 2",
        "`half //= 2` gives one",
    ),
    "what only an image that nobody has makes wide enough": (
        """
        class Flattened(nn.Module):
            def __init__(self):
                super().__init__()
                self.features, self.head = nn.Sequential(nn.Conv2d(3, 16, 32, 32)), nn.Linear(9216, 4)
            def forward(self, image):
                return self.head(self.features(image).flatten(2))
        """,
        "self.head(",
        "`self.head` takes 9216 features",
    ),
}

BLAMELESS = {
    "a sound that is shorter than what is cut off": """
        class Shift(nn.Module):
            def __init__(self, shift=8192):
                super().__init__()
                self.shift = shift
            def forward(self, sound):
                batch, channels, time = sound.size()
                offsets = torch.randint(self.shift, [batch, 1, 1]).expand(-1, channels, -1)
                return sound.gather(2, torch.arange(time - self.shift) + offsets)
    """,
    "images of one size": """
        class Encoder(nn.Module):
            def __init__(self):
                super().__init__()
                self.down = nn.Sequential(nn.Conv2d(3, 16, 4, 4), nn.Conv2d(16, 64, 4, 4))
                self.middle = nn.Conv2d(64, 16, 4, 4)
                self.up = nn.ConvTranspose2d(128, 3, 4, 4)
            def forward(self, x):
                x = self.down(x)
                y = self.middle(x)
                y = y.reshape(y.shape[0], -1, 1, 1).expand(-1, -1, *x.shape[-2:])
                return self.up(torch.cat((x, y), dim=1))
    """,
    "what is called without arguments makes layers": """
        class Block(nn.Module):
            def __init__(self, width, nl_layer=None, conv_layer=None):
                super().__init__()
                self.layers = nn.Sequential(conv_layer(3, width, 3, padding=1), nl_layer())
            def forward(self, x):
                return self.layers(x)
    """,
    "a kernel has a middle": """
        class Attention(nn.Module):
            def __init__(self, channel, k_size):
                super().__init__()
                self.pool = nn.AdaptiveAvgPool2d(1)
                self.conv = nn.Conv1d(1, 1, k_size, padding=(k_size - 1) // 2)
            def forward(self, x):
                y = self.conv(self.pool(x).squeeze(-1).transpose(-1, -2)).transpose(-1, -2).unsqueeze(-1)
                return x * y.expand_as(x)
    """,
    "norms take half precision with float32 weights": """
        class Half(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = nn.LayerNorm(16)
            def forward(self, x):
                return self.norm(x.bfloat16())
    """,
    "names that are computed from parts": """
        class Numbered(nn.Module):
            def __init__(self):
                super().__init__()
                for index in range(2):
                    self.add_module(f"layer_{index}", nn.Linear(8, 8))
            def forward(self, x):
                return self.layer_0(x) + self.layer_1(x)
    """,
    "a method that calls its object otherwise": """
        class Plain(nn.Module):
            def __init__(this):
                super().__init__()
                this.layer = nn.Linear(8, 8)
            def forward(this, x):
                return this.layer(x)
    """,
    "quotients where floats are taken": """
        class Scaled(nn.Module):
            def __init__(self, width, ratio=0.5):
                super().__init__()
                self.scale = ratio / 2
                self.drop = nn.Dropout(1 / 4)
                self.half = int(width / 2)
                self.fc = nn.Linear(self.half, 4)
            def forward(self, x):
                return self.fc(self.drop(x * self.scale))
    """,
    "an argument that is None by default and needed all the same": """
        def exists(value):
            return value is not None
        class Window(nn.Module):
            def __init__(self, width, *, size=None, radius=None):
                super().__init__()
                if radius is None:
                    assert exists(size), "give a size"
                    self.mask = nn.Parameter(torch.zeros(size, 1, 1))
                self.fc = nn.Linear(width, width)
            def forward(self, x):
                return self.fc(x) + self.mask.sum()
    """,
    "windows of a width, laid upon each other, whose height strides divide": """
        class Unmixed(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Conv2d(6, 8, 3, stride=2, padding=1)
                self.second = nn.Conv2d(8, 8, 3, stride=2, padding=1)
                self.back = nn.ConvTranspose2d(8, 8, 2, stride=2)
            def forward(self, y):
                count, rows, columns = y.shape
                x = torch.zeros(count, 6, rows, rows)
                for number in range(6):
                    x[:, number] = y[:, :, 2 * number : 2 * number + columns - 10]
                x = self.first(x)
                return x + self.back(self.second(x))
    """,
    "one of two arguments is required": """
        class Resize(nn.Module):
            def __init__(self, size=None, scale=None):
                super().__init__()
                if size is None and scale is None:
                    raise ValueError("give one of both")
                self.size, self.scale = size, scale
            def forward(self, image):
                return F.interpolate(image, size=self.size, scale_factor=self.scale)
    """,
    "more dilations than are usual": """
        class Dilated(nn.Module):
            def __init__(self, channels, dilations):
                super().__init__()
                self.first = nn.Conv1d(channels, channels, 3, padding=dilations[0], dilation=dilations[0])
                self.rest = nn.ModuleList(
                    nn.Conv1d(channels, channels, 3, padding=dilations[1 + i], dilation=dilations[1 + i])
                    for i in range(4)
                )
            def forward(self, x):
                x = self.first(x)
                for layer in self.rest:
                    x = layer(x)
                return x
    """,
    "a window over a volume that nobody's guess fills": """
        class Video(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Conv3d(3, 8, 7, (1, 32, 32), 3)
                self.pool, self.last = nn.AvgPool3d([2, 7, 7], 1), nn.Conv3d(8, 4, 1)
            def forward(self, x):
                return self.last(self.pool(self.first(x))).squeeze(3).squeeze(3)
    """,
    "a device in capitals": """
        class Placed(nn.Module):
            def __init__(self, DEVICE, steps):
                super().__init__()
                self.weights = nn.Parameter(torch.FloatTensor(steps).to(DEVICE))
            def forward(self, x):
                return x @ self.weights
    """,
    "a part that is only called after one of the file's, and given more than anybody knows": """
        class Generator(nn.Module):
            def __init__(self, width=8, whole=False):
                super().__init__()
                self.shared = nn.Embedding(10, width)
                self.linear, self.whole = nn.Linear(2 * width, 4), whole
            def forward(self, z, y):
                if self.whole:
                    y = torch.cat([y, z], 1)
                return self.linear(y)
        class Both(nn.Module):
            def __init__(self, G):
                super().__init__()
                self.G = G
            def forward(self, z, y):
                return self.G(z, self.G.shared(y))
        def main(config):
            G = Generator(**config)
            return Both(G)
    """,
    "two arguments that are None by default and needed in one line": """
        class Padded(nn.Module):
            def __init__(self, channels, kernel_size=None, dilation=None):
                super().__init__()
                padding = (kernel_size // 2) * dilation
                self.conv = nn.Conv1d(channels, channels, kernel_size, padding=padding, dilation=dilation)
            def forward(self, x):
                return self.conv(x)
    """,
    "a part of the batch that values of ours leave empty": """
        class Pooling(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 4)
            def forward(self, states, ranges):
                '''Pools within each range.

                - states: Tensor of shape (layers, batch, 4)
                - ranges: A tensor of shape (number, 2)
                '''
                found = []
                for _, (start, end) in enumerate(ranges):
                    start, end = start.item(), end.item()
                    count = end - start
                    part = self.fc(states.view(-1, 4)[start:end])
                    repeated = part.repeat(count, 1)
                    kept = part.new_zeros((count * 2 + 1, 4))
                    places = torch.arange(0, 2 * count, 2).type_as(ranges).view(-1, 1).expand_as(part)
                    kept = kept.scatter_add(0, places, part)[1:]
                    found.append(kept.view(count, -1))
                return torch.cat(found)
    """,
    "two inputs of which neither is required": """
        class Both(nn.Module):
            def __init__(self):
                super().__init__()
                self.text, self.image = nn.Embedding(50, 16), nn.Linear(24, 16)
            def forward(self, input_ids=None, features=None):
                return self.text(input_ids) + self.image(features)
    """,
}


def findings(folder: Path, text: str) -> list[Finding]:
    """What one job says of a file, accelerator aside."""

    def work() -> list[Finding]:
        events: list[object] = []
        path = str(folder / "model.py")
        analyze(JobRequest(1, path, text, str(folder), [Stage.PREVIEW], {"name": "x"}), events.append)
        # What is told again takes the place of what was told first.
        ends = {event.target: event for event in events if isinstance(event, StageFinished)}
        return [finding for event in ends.values() for finding in event.findings]

    found, output = in_child(work)
    assert isinstance(found, list), output
    return found


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_told_at_its_expression(what: str, tmp_path: Path) -> None:
    code, where, words = FAULTS[what]
    text = HEAD + dedent(code).lstrip()
    found = findings(tmp_path, text)
    starts = [text.splitlines()[item.range.start.line][item.range.start.character :] for item in found]
    told = [item for item, start in zip(found, starts, strict=True) if start.startswith(where)]
    assert any(words in item.message for item in told), found


BLAMELESS |= {
    "a list of layers that another method fills": """
        class Growing(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.heads = nn.Linear(64, 32), nn.ModuleList()
            def grow(self, width):
                self.heads.append(nn.Linear(32, width))
            def forward(self, x):
                return self.heads[-1](self.first(x))
    """,
}


@pytest.mark.parametrize("what", BLAMELESS)
def test_sound_code_is_left_alone(what: str, tmp_path: Path) -> None:
    assert findings(tmp_path, HEAD + dedent(BLAMELESS[what]).lstrip()) == []
