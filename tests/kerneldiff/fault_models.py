"""A dozen models to put faults into.

Comments name lines: a `sum` over many elements, a `result`, `integers` beyond 32 bits.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

HUGE = 5_000_000_000


class Perceptron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(96, 160), nn.Linear(160, 80)

    def forward(self, x: Tensor, ids: Tensor) -> tuple[Tensor, ...]:
        hidden = self.up(x)  # sum
        hidden = functional.gelu(hidden)  # result
        return self.down(hidden), ids * HUGE  # integers


class Convolutions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.head = nn.Linear(288, 40)

    def forward(self, x: Tensor, ids: Tensor) -> tuple[Tensor, ...]:
        y = self.norm(self.first(x[:, :288].reshape(-1, 3, 12, 8)))
        y = torch.relu(y)  # result
        scores = self.head(y.flatten(1)[:, :288])  # sum
        key = ids + HUGE  # integers
        return scores, key % 7


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(96, 288)

    def forward(self, x: Tensor, ids: Tensor) -> tuple[Tensor, ...]:
        query, key, value = self.inner(x).chunk(3, -1)
        scores = query @ key.transpose(-1, -2)  # sum
        weights = torch.softmax(scores / 10, -1)  # result
        order = ids * HUGE - ids  # integers
        return weights @ value, order


class RootMeanSquare(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(96) + 0.5)

    def forward(self, x: Tensor, ids: Tensor) -> tuple[Tensor, ...]:
        total = x.abs().sum(-1, keepdim=True)  # sum
        y = x / total * self.scale  # result
        return y, torch.where(ids > 4, ids * HUGE, ids)  # integers


class Embedding(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.head = nn.Embedding(50, 96), nn.Linear(96, 40)

    def forward(self, x: Tensor, ids: Tensor) -> tuple[Tensor, ...]:
        hidden = self.table(ids) + x
        logits = self.head(hidden)  # sum
        hashed = ids * HUGE  # integers
        return torch.log_softmax(logits, -1), hashed.cumsum(0)  # result


class Gates(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gates = nn.Linear(96, 192)

    def forward(self, x: Tensor, ids: Tensor) -> tuple[Tensor, ...]:
        both = self.gates(x)  # sum
        gate = torch.sigmoid(both[:, :96])  # result
        steps = ids.square() * HUGE  # integers
        return (1 - gate) * torch.tanh(both[:, 96:]) + gate * x, steps


class Loss(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(96, 96)

    def forward(self, x: Tensor, ids: Tensor) -> tuple[Tensor, ...]:
        error = self.head(x) - x
        squares = error.square()  # result
        loss = squares.sum(-1)  # sum
        return loss, squares, (ids + HUGE).flip(0)  # integers


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(96, 96) for _ in range(3)])

    def forward(self, x: Tensor, ids: Tensor) -> tuple[Tensor, ...]:
        for layer in self.layers:
            y = layer(x)  # sum
            x = x + torch.tanh(y)  # result
            ids = ids * 70_000  # integers
        return x, ids


class Experts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.experts = nn.Parameter(torch.randn(4, 96, 64) / 10)

    def forward(self, x: Tensor, ids: Tensor) -> tuple[Tensor, ...]:
        y = torch.einsum("bi,eij->bej", x, self.experts)  # sum
        y = functional.silu(y)  # result
        routes = torch.stack([ids, ids * HUGE])  # integers
        return y.mean(1), routes


class Signal(nn.Module):
    def forward(self, x: Tensor, ids: Tensor) -> tuple[Tensor, ...]:
        decay = torch.exp(-x.abs())  # result
        energy = decay.mean(-1)  # sum
        stamp = ids - HUGE  # integers
        return energy, decay.clamp(0.1, 0.9), stamp // 2


class Distances(nn.Module):
    def forward(self, x: Tensor, ids: Tensor) -> tuple[Tensor, ...]:
        squares = x.square()  # result
        lengths = squares.sum(-1)  # sum
        pairs = ids[:, None] * (ids + HUGE)  # integers
        return lengths.sqrt(), squares, pairs


class Upsampling(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.grow, self.norm = nn.ConvTranspose1d(8, 4, 2, 2), nn.LayerNorm(192)

    def forward(self, x: Tensor, ids: Tensor) -> tuple[Tensor, ...]:
        y = self.norm(self.grow(x[None]))  # result
        gram = y @ y.transpose(-1, -2)  # sum
        return gram, y, torch.maximum(ids, ids * HUGE)  # integers


MODELS: list[type[nn.Module]] = [
    Perceptron, Convolutions, Attention, RootMeanSquare, Embedding, Gates, Loss, Residual, Experts, Signal, Distances,
    Upsampling,
]  # fmt: skip


def inputs(model: type[nn.Module]) -> tuple[Tensor, Tensor]:
    """Eight rows of 96 numbers (more for images), and eight small integers."""
    generator = torch.Generator().manual_seed(3)
    return torch.randn(8, 288 if model is Convolutions else 96, generator=generator), torch.arange(1, 9)
