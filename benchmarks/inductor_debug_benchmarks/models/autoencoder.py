"""Benchmark model: a variational autoencoder."""

import torch
from torch import nn


class Model(nn.Module):
    """Encoder, reparametrised sample, decoder."""

    def __init__(self, width=784, hidden=256, latent=32):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, 2 * latent))
        self.decode = nn.Sequential(nn.Linear(latent, hidden), nn.GELU(), nn.Linear(hidden, width))

    def forward(self, x):
        """[batch, 784] to a reconstruction, mean and log variance."""
        x = x  # toggle
        mean, log_variance = self.encode(x).chunk(2, dim=-1)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
        return torch.sigmoid(self.decode(z)), mean, log_variance


def get_inputs():
    """One batch of flattened images."""
    return [torch.rand(16, 784)]
