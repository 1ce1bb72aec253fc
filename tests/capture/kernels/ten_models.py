"""Ten small models, most of what kernels are made for; `h100.json` has the kernels that Inductor makes of them."""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812


# inductor-debug: inputs=(torch.randn(64, 256),), eval
class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256))

    def forward(self, x):
        return self.layers(x)


# inductor-debug: inputs=(torch.randn(4, 128, 256),), train
class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(256)
        self.out = nn.Linear(256, 256)

    def forward(self, x):
        return x + F.dropout(self.out(self.norm(x)), 0.1, self.training)


# inductor-debug: inputs=(torch.randn(4, 128, 256),), eval
class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(256))
        self.gate = nn.Linear(256, 512, bias=False)
        self.up = nn.Linear(256, 512, bias=False)

    def forward(self, x):
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.scale
        return F.silu(self.gate(x)) * self.up(x)


# inductor-debug: inputs=(torch.randn(2, 64, 128),), eval
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(128, 384)

    def forward(self, x):
        q, k, v = self.qkv(x).view(2, 64, 3, 4, 32).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-2, -1)) / 32**0.5
        mask = torch.ones(64, 64, dtype=torch.bool, device=x.device).tril()
        return scores.masked_fill(~mask, float("-inf")).softmax(-1) @ v


# inductor-debug: inputs=(torch.randn(8, 16, 32, 32),), eval
class Convolved(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(16, 32, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(32)

    def forward(self, x):
        return F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)


# inductor-debug: inputs=(torch.randint(0, 1000, (8, 64)),), eval
class Embedded(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(1000, 128)
        self.positions = nn.Embedding(64, 128)

    def forward(self, ids):
        places = torch.arange(ids.shape[1], device=ids.device)
        return F.dropout(self.tokens(ids) + self.positions(places), 0.1, self.training)


# inductor-debug: inputs=(torch.randn(64, 1000), torch.randint(0, 1000, (64,))), train
class Judged(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, logits, labels):
        return F.cross_entropy(logits * self.scale, labels, label_smoothing=0.1)


# inductor-debug: inputs=(torch.randn(4, 512, 64),), eval
class Summed(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = nn.Parameter(torch.ones(64))

    def forward(self, x):
        return torch.logsumexp(x.abs() * self.rate, dim=1)


# inductor-debug: inputs=(torch.randn(32, 128), torch.randn(32, 256)), eval
class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.inputs = nn.Linear(128, 1024)
        self.states = nn.Linear(256, 1024)

    def forward(self, x, h):
        i, f, g, o = (self.inputs(x) + self.states(h)).chunk(4, dim=-1)
        c = torch.sigmoid(f) * h + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c)


# inductor-debug: inputs=(torch.randn(64, 256), torch.randint(0, 64, (512,)), torch.randint(0, 64, (512,))), train
class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.message = nn.Linear(256, 256)

    def forward(self, nodes, sources, targets):
        messages = F.relu(self.message(nodes))[sources]
        return torch.zeros_like(nodes).index_add(0, targets, messages)
