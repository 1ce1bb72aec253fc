"""A selective state space model in the manner of Mamba, 27 million parameters, in plain torch.

The recurrence `h[t] = a[t] * h[t - 1] + b[t]` runs as a scan by doubling: log2(length) steps on whole tensors instead
of one step for each token, so the graph stays small.

What to expect is nothing, and with `--accelerator mock` where a strict device has to copy, told once for all layers:

- `layout` at `.chunk(2, dim=-1)`: the two halves are strided views; the convolution and the gate compute on them.
- `layout` at `[..., :length]`, which cuts the padding off the convolution: the activation computes on the slice.
- `layout` at `.split(...)`: the input and output matrices of the state are strided views as well.

The transposes themselves are not blamed (they turn a view that is already strided), nor is the slice inside the scan,
which only feeds a copy.
"""

import torch
import torch.nn.functional as F
from torch import nn


def scan(decay, update):
    """All states of `h[t] = decay[t] * h[t - 1] + update[t]` along dimension 1, by doubling."""
    length, shift = update.shape[1], 1
    while shift < length:
        earlier_update = F.pad(update[:, :-shift], (0, 0, 0, 0, shift, 0))
        earlier_decay = F.pad(decay[:, :-shift], (0, 0, 0, 0, shift, 0), value=1.0)
        update = update + decay * earlier_update
        decay = decay * earlier_decay
        shift *= 2
    return update


class SelectiveLayer(nn.Module):
    def __init__(self, width: int, state: int = 16, kernel: int = 4):
        super().__init__()
        inner, self.rank, self.state = 2 * width, width // 16, state
        self.norm = nn.LayerNorm(width)
        self.enter = nn.Linear(width, 2 * inner, bias=False)
        self.conv = nn.Conv1d(inner, inner, kernel, groups=inner, padding=kernel - 1)
        self.select = nn.Linear(inner, self.rank + 2 * state, bias=False)
        self.step = nn.Linear(self.rank, inner)
        self.log_decay = nn.Parameter(torch.arange(1.0, state + 1).log().repeat(inner, 1))
        self.skip = nn.Parameter(torch.ones(inner))
        self.leave = nn.Linear(inner, width, bias=False)

    def forward(self, tokens):
        length = tokens.shape[1]
        x, gate = self.enter(self.norm(tokens)).chunk(2, dim=-1)
        x = self.conv(x.transpose(1, 2))[..., :length]
        x = F.silu(x).transpose(1, 2).contiguous()
        rank, into, out = self.select(x).split([self.rank, self.state, self.state], dim=-1)
        step = F.softplus(self.step(rank))
        decay = torch.exp(-step.unsqueeze(-1) * self.log_decay.exp())
        update = (step * x).unsqueeze(-1) * into.unsqueeze(2)
        states = scan(decay, update)
        y = (states * out.unsqueeze(2)).sum(dim=-1) + self.skip * x
        return tokens + self.leave(y * F.silu(gate))


# inductor-debug: inputs=(torch.zeros(2, 64, dtype=torch.int64),)
class StateSpaceModel(nn.Module):
    def __init__(self, vocabulary: int = 26_112, width: int = 512, layers: int = 8):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(SelectiveLayer(width) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, token_ids):
        x = self.embed(token_ids)
        for layer in self.layers:
            x = layer(x)
        return F.linear(self.norm(x), self.embed.weight)
