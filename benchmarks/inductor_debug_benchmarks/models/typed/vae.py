"""A variational autoencoder for digits, as tutorials write it: nothing is declared. Mistakes are typed into it."""

import torch
import torch.nn.functional as F
from torch import nn, optim


class VAE(nn.Module):
    def __init__(self, hidden=400, latent=20, classes=10):
        super().__init__()
        self.classes = classes
        self.enter = nn.Linear(784, hidden)
        self.mean = nn.Linear(hidden, latent)
        self.spread = nn.Linear(hidden, latent)
        self.widen = nn.Linear(latent + classes, hidden)
        self.leave = nn.Linear(hidden, 784)

    def encode(self, x):
        h = F.relu(self.enter(x))
        return self.mean(h), self.spread(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z, label):
        kind = F.one_hot(label, self.classes).float()
        h = F.relu(self.widen(torch.cat([z, kind], dim=1)))
        return torch.sigmoid(self.leave(h))

    def forward(self, x, label):
        flat = x.view(-1, 784)
        mu, logvar = self.encode(flat)
        z = self.reparameterize(mu, logvar)
        return self.decode(z, label), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    bce = F.binary_cross_entropy(recon_x, x.view(-1, 784), reduction="sum")
    return bce - 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())


def train(model, batches):
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    for data, label in batches:
        optimizer.zero_grad()
        recon, mu, logvar = model(data, label)
        loss_function(recon, data, mu, logvar).backward()
        optimizer.step()


if __name__ == "__main__":
    train(VAE(), [(torch.rand(128, 1, 28, 28), torch.randint(0, 10, (128,)))])
