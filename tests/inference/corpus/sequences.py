"""Recurrent models, state spaces, and other models of sequences."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class LanguageLstm(nn.Module):
    def __init__(self, ntoken, ninp, nhid, nlayers):
        super().__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, nlayers)
        self.decoder = nn.Linear(nhid, ntoken)

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.encoder(input), hidden)
        return self.decoder(output), hidden


class SentimentGru(nn.Module):
    def __init__(self, vocab_size=5000, embedding_dim=64, hidden=96):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim)
        self.gru = nn.GRU(embedding_dim, hidden, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hidden, 2)

    def forward(self, text):
        _, h = self.gru(self.embedding(text))
        return self.fc(torch.cat([h[0], h[1]], dim=1))


class Forecaster(nn.Module):
    def __init__(self, features=7, hidden_size=32, horizon=12):
        super().__init__()
        self.lstm = nn.LSTM(features, hidden_size, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden_size, horizon)

    def forward(self, x):
        out, (h, c) = self.lstm(x)
        return self.head(out[:, -1])


class StatefulRnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(input_size=10, hidden_size=20, num_layers=2, batch_first=True)

    def forward(self, x, h0):
        return self.rnn(x, h0)


class CellDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(24, 48)
        self.out = nn.Linear(48, 24)

    def forward(self, x, state):
        h, c = self.cell(x, state)
        return self.out(h), (h, c)


class GruStep(nn.Module):
    def __init__(self, input_dim=16, hidden_dim=40):
        super().__init__()
        self.cell = nn.GRUCell(input_dim, hidden_dim)

    def forward(self, x, h):
        return self.cell(x, h)


class AdditiveAttention(nn.Module):
    def __init__(self, size=64):
        super().__init__()
        self.query, self.key, self.score = nn.Linear(size, size), nn.Linear(size, size), nn.Linear(size, 1)

    def forward(self, query, keys):
        scores = self.score(torch.tanh(self.query(query).unsqueeze(1) + self.key(keys))).squeeze(2)
        weights = F.softmax(scores, dim=1)
        return torch.bmm(weights.unsqueeze(1), keys)


class Seq2Seq(nn.Module):
    def __init__(self, source_vocab=300, target_vocab=400, hidden=48):
        super().__init__()
        self.source, self.target = nn.Embedding(source_vocab, hidden), nn.Embedding(target_vocab, hidden)
        self.encoder, self.decoder = nn.GRU(hidden, hidden, batch_first=True), nn.GRU(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, target_vocab)

    def forward(self, src_ids, tgt_ids):
        _, state = self.encoder(self.source(src_ids))
        output, _ = self.decoder(self.target(tgt_ids), state)
        return self.out(output)


class SelectiveScan(nn.Module):
    """A state space layer. x: (batch, length, d_model)"""

    def __init__(self, d_model=32, d_state=8):
        super().__init__()
        self.d_model, self.d_state = d_model, d_state
        self.project = nn.Linear(d_model, 2 * d_state + 1)
        self.a_log = nn.Parameter(torch.zeros(d_model, d_state))
        self.skip = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        b, l, d = x.shape
        delta, gain, read = self.project(x).split([1, self.d_state, self.d_state], dim=-1)
        decay = torch.exp(F.softplus(delta).unsqueeze(-1) * -torch.exp(self.a_log))
        state = torch.zeros(b, d, self.d_state)
        outputs = []
        for step in range(l):
            state = decay[:, step] * state + x[:, step].unsqueeze(-1) * gain[:, step].unsqueeze(1)
            outputs.append((state * read[:, step].unsqueeze(1)).sum(-1))
        return torch.stack(outputs, dim=1) + x * self.skip


class DiagonalStateSpace(nn.Module):
    def __init__(self, channels=16, order=4):
        super().__init__()
        self.log_decay = nn.Parameter(torch.rand(channels, order))
        self.mix = nn.Parameter(torch.randn(channels, order))

    def kernel(self, length):
        steps = torch.arange(length)
        return torch.einsum("cn,cnl->cl", self.mix, torch.exp(-self.log_decay.exp().unsqueeze(-1) * steps))

    def forward(self, u):
        b, c, length = u.shape
        spectrum = torch.fft.rfft(u, n=2 * length) * torch.fft.rfft(self.kernel(length), n=2 * length)
        return torch.fft.irfft(spectrum, n=2 * length)[..., :length]


class RwkvMix(nn.Module):
    def __init__(self, n_embd=48):
        super().__init__()
        self.shift = nn.ZeroPad2d((0, 0, 1, -1))
        self.mix = nn.Parameter(torch.ones(1, 1, n_embd))
        self.key, self.value = nn.Linear(n_embd, 4 * n_embd, bias=False), nn.Linear(4 * n_embd, n_embd, bias=False)

    def forward(self, x):
        shifted = self.shift(x)
        k = torch.square(torch.relu(self.key(x * self.mix + shifted * (1 - self.mix))))
        return self.value(k)


class TemporalBlock(nn.Module):
    def __init__(self, n_inputs, n_outputs, kernel_size=3, dilation=2):
        super().__init__()
        self.conv = nn.Conv1d(n_inputs, n_outputs, kernel_size, padding=(kernel_size - 1) * dilation, dilation=dilation)
        self.match = nn.Conv1d(n_inputs, n_outputs, 1)
        self.chomp = (kernel_size - 1) * dilation

    def forward(self, x):
        return F.relu(self.conv(x)[:, :, : -self.chomp] + self.match(x))


class Tcn(nn.Module):
    def __init__(self, inputs=9, classes=6):
        super().__init__()
        self.blocks = nn.Sequential(TemporalBlock(inputs, 25), TemporalBlock(25, 25))
        self.fc = nn.Linear(25, classes)

    def forward(self, x):
        return self.fc(self.blocks(x)[:, :, -1])


class TextCnn(nn.Module):
    def __init__(self, vocab=1000, dim=50, classes=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.convs = nn.ModuleList(nn.Conv2d(1, 20, (k, dim)) for k in (3, 4, 5))
        self.fc = nn.Linear(60, classes)

    def forward(self, x):
        x = self.embed(x).unsqueeze(1)
        x = [F.relu(conv(x)).squeeze(3) for conv in self.convs]
        return self.fc(torch.cat([F.max_pool1d(i, i.size(2)).squeeze(2) for i in x], 1))


class BagOfWords(nn.Module):
    def __init__(self, vocab_size=2000, embed_dim=32, num_class=4):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab_size, embed_dim)
        self.fc = nn.Linear(embed_dim, num_class)

    def forward(self, text):
        return self.fc(self.embedding(text))


class DeepSpeech(nn.Module):
    def __init__(self, n_mels=80, hidden=128, vocab=29):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, (11, 11), stride=(2, 2), padding=(5, 5))
        self.rnn = nn.GRU(8 * 40, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, vocab)

    def forward(self, spectrogram):
        """spectrogram: Tensor of shape (batch, 1, 80, frames)"""
        x = self.conv(spectrogram)
        b, c, f, t = x.shape
        x, _ = self.rnn(x.view(b, c * f, t).transpose(1, 2))
        return self.fc(x).log_softmax(-1)


class NBeatsBlock(nn.Module):
    def __init__(self, backcast_length=60, forecast_length=10, units=64):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(backcast_length, units), nn.ReLU(), nn.Linear(units, units), nn.ReLU())
        self.backcast, self.forecast = nn.Linear(units, backcast_length), nn.Linear(units, forecast_length)

    def forward(self, x):
        h = self.fc(x)
        return x - self.backcast(h), self.forecast(h)


class Patching(nn.Module):
    """Forecasts from patches of a series.

    Args:
        series: (batch, seq_len, num_variables)
    """

    def __init__(self, seq_len=96, patch=16, num_variables=7, d_model=32):
        super().__init__()
        self.seq_len, self.patch, self.num_variables = seq_len, patch, num_variables
        self.embed = nn.Linear(patch, d_model)
        self.head = nn.Linear(d_model * (seq_len // patch), 24)

    def forward(self, series):
        x = series.transpose(1, 2).unfold(-1, self.patch, self.patch)
        return self.head(self.embed(x).flatten(-2)).transpose(1, 2)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int = 64, max_len: int = 500):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(1, max_len, d_model)
        pe[0, :, 0::2], pe[0, :, 1::2] = torch.sin(position * div), torch.cos(position * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[:, : x.size(1)]


class SpeakerEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(40, 64, 3, batch_first=True)
        self.linear = nn.Linear(64, 64)

    def forward(self, mels, *, normalize: bool = True):
        _, (hidden, _) = self.lstm(mels)
        embedding = self.linear(hidden[-1])
        return F.normalize(embedding, dim=1) if normalize else embedding


LSTM_DEFAULTS = (2000, 64, 64, 2)
language_model = LanguageLstm(*LSTM_DEFAULTS)
