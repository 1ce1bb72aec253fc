"""What is kept beside an input: states that are joined with it, masked, filtered, or looked up table by table."""

from __future__ import annotations

import torch
from torch import nn


class ConvLstmCell(nn.Module):
    """The state is joined with the picture before one convolution; of the cell's part only a product tells."""

    def __init__(self, input_dim, hidden_dim, kernel_size):
        super().__init__()
        self.hidden_dim = hidden_dim
        padding = kernel_size[0] // 2
        self.gates = nn.Conv2d(input_dim + hidden_dim, 4 * hidden_dim, kernel_size, padding=padding)

    def forward(self, picture, cur_state):
        hidden, cell = cur_state
        joined = torch.cat([picture, hidden], dim=1)
        enter, forget, leave, fresh = torch.split(self.gates(joined), self.hidden_dim, dim=1)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(fresh)
        return torch.sigmoid(leave) * torch.tanh(cell), cell


class WorldModelCell(nn.Module):
    """One mask resets two states of different widths, so it has one number for each row."""

    def __init__(self, embed_dim=64, action_dim=6, deter_dim=32, stoch_dim=8, hidden_dim=48):
        super().__init__()
        self.of_state = nn.Linear(stoch_dim, hidden_dim)
        self.of_action = nn.Linear(action_dim, hidden_dim, bias=False)
        self.cell = nn.GRUCell(hidden_dim, deter_dim)
        self.of_embed = nn.Linear(embed_dim + deter_dim, stoch_dim)

    def forward(self, embed, action, reset_mask, in_state):
        deter, stoch = in_state
        deter = deter * reset_mask
        stoch = stoch * reset_mask
        deter = self.cell(torch.relu(self.of_state(stoch) + self.of_action(action)), deter)
        return deter, self.of_embed(torch.cat([embed, deter], dim=-1))


class KalmanFilter(nn.Module):
    """Products of matrices only; the shapes stand in the docstring."""

    def __init__(self, n=4, m=2):
        super().__init__()
        self.transition = nn.Parameter(torch.eye(n))
        self.observation = nn.Parameter(torch.randn(m, n))
        self.noise = nn.Parameter(torch.eye(m))

    def forward(self, x, P, z):
        """x: (batch, n, 1); P: (batch, n, n); z: (batch, m, 1)"""
        x = self.transition @ x
        P = self.transition @ P @ self.transition.T
        spread = self.observation @ P @ self.observation.T + self.noise
        gain = P @ self.observation.T @ torch.linalg.inv(spread)
        return x + gain @ (z - self.observation @ x), P - gain @ self.observation @ P


class SparseTables(nn.Module):
    """Bags of numbers for each table, found by the position of the table in a list of modules."""

    def __init__(self, dense=13, tables=(1000, 200, 50), dim=16):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(count, dim, mode="sum") for count in tables)
        self.dense = nn.Linear(dense, dim)

    def forward(self, dense_x, indices, offsets):
        bags = [table(indices[k], offsets[k]) for k, table in enumerate(self.tables)]
        return torch.stack([self.dense(dense_x), *bags], dim=1)


class CenterPull(nn.Module):
    """Labels are only compared with numbers; that there is one for each row stands in the docstring."""

    def __init__(self, classes=10, width=24):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(classes, width))

    def forward(self, x, labels):
        """
        Args:
            x: features with shape (batch_size, width).
            labels: ground truth with shape (batch_size).
        """
        far = torch.cdist(x, self.centers) ** 2
        mine = labels.unsqueeze(1) == torch.arange(self.centers.shape[0])
        return (far * mine.float()).sum() / x.size(0)


class PreciseIntegrator(nn.Module):
    """All of it computes in double precision, and so has its input to."""

    def __init__(self, width=12):
        super().__init__()
        self.field = nn.Sequential(nn.Linear(width, 48), nn.Tanh(), nn.Linear(48, width))
        self.double()

    def forward(self, x, steps: int = 3):
        for _ in range(steps):
            x = x + 0.1 * self.field(x)
        return x


if __name__ == "__main__":
    cell = ConvLstmCell(input_dim=3, hidden_dim=16, kernel_size=(3, 3))
