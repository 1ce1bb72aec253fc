"""Fully connected models: classifiers, autoencoders, mixtures, recommenders, physics and reinforcement learning."""

import torch
import torch.nn.functional as F
from torch import nn


class Perceptron(nn.Module):
    def __init__(self, features=96, hidden=256, classes=10):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Dropout(0.1), nn.Linear(hidden, classes))

    def forward(self, x):
        return self.layers(x)


class DigitClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.stack = nn.Sequential(nn.Linear(28 * 28, 512), nn.ReLU(), nn.Linear(512, 10))

    def forward(self, x):
        return self.stack(self.flatten(x))


class ResidualMlp(nn.Module):
    def __init__(self, dim: int = 48, depth: int = 3):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.GELU()) for _ in range(depth))
        self.head = nn.Linear(dim, 1)

    def forward(self, features):
        for block in self.blocks:
            features = features + block(features)
        return self.head(features).squeeze(-1)


class DenoisingAutoencoder(nn.Module):
    def __init__(self, size=120, code=16):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(size, 64), nn.ReLU(), nn.Linear(64, code))
        self.decode = nn.Sequential(nn.Linear(code, 64), nn.ReLU(), nn.Linear(64, size), nn.Sigmoid())

    def forward(self, x):
        noisy = x + 0.1 * torch.randn_like(x)
        return self.decode(self.encode(noisy))


class VariationalAutoencoder(nn.Module):
    def __init__(self, input_dim=784, latent_dim=20):
        super().__init__()
        self.hidden = nn.Linear(input_dim, 400)
        self.mean = nn.Linear(400, latent_dim)
        self.log_variance = nn.Linear(400, latent_dim)
        self.expand = nn.Linear(latent_dim, 400)
        self.output = nn.Linear(400, input_dim)

    def reparameterize(self, mean, log_variance):
        return mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)

    def forward(self, x):
        h = F.relu(self.hidden(x.view(-1, 784)))
        mean, log_variance = self.mean(h), self.log_variance(h)
        z = self.reparameterize(mean, log_variance)
        return torch.sigmoid(self.output(F.relu(self.expand(z)))), mean, log_variance


class Generator(nn.Module):
    """Makes an image from noise.

    Args:
        z: noise of shape (batch, latent_dim)
    """

    def __init__(self, latent_dim=100):
        super().__init__()
        self.latent_dim = latent_dim
        self.net = nn.Sequential(nn.Linear(latent_dim, 128), nn.LeakyReLU(0.2), nn.Linear(128, 784), nn.Tanh())

    def forward(self, z):
        return self.net(z).view(-1, 1, 28, 28)


class ConditionalGenerator(nn.Module):
    def __init__(self, noise=64, classes=10):
        super().__init__()
        self.embed = nn.Embedding(classes, 16)
        self.net = nn.Sequential(nn.Linear(noise + 16, 256), nn.ReLU(), nn.Linear(256, 784))

    def forward(self, noise, labels):
        return self.net(torch.cat([noise, self.embed(labels)], dim=1)).view(-1, 1, 28, 28)


class Actor(nn.Module):
    def __init__(self, state_dim, action_dim, max_action: float):
        super().__init__()
        self.first = nn.Linear(state_dim, 256)
        self.second = nn.Linear(256, action_dim)
        self.max_action = max_action

    def forward(self, state):
        return self.max_action * torch.tanh(self.second(F.relu(self.first(state))))


class Critic(nn.Module):
    def __init__(self, state_dim=17, action_dim=6):
        super().__init__()
        self.q1 = nn.Linear(state_dim + action_dim, 256)
        self.q2 = nn.Linear(256, 1)
        self.state_dim, self.action_dim = state_dim, action_dim

    def forward(self, state, action):
        return self.q2(F.relu(self.q1(torch.cat([state, action], 1))))


class DuelingNetwork(nn.Module):
    def __init__(self, observations=8, actions=4):
        super().__init__()
        self.shared = nn.Linear(observations, 64)
        self.value, self.advantage = nn.Linear(64, 1), nn.Linear(64, actions)

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        h = torch.relu(self.shared(observation))
        advantage = self.advantage(h)
        return self.value(h) + advantage - advantage.mean(dim=-1, keepdim=True)


class MatrixFactorization(nn.Module):
    def __init__(self, num_users, num_items, rank=32):
        super().__init__()
        self.users, self.items = nn.Embedding(num_users, rank), nn.Embedding(num_items, rank)
        self.bias = nn.Embedding(num_items, 1)

    def forward(self, user_ids, item_ids):
        return (self.users(user_ids) * self.items(item_ids)).sum(-1) + self.bias(item_ids).squeeze(-1)


class WideAndDeep(nn.Module):
    def __init__(self, fields=6, numeric=13):
        super().__init__()
        self.embeddings = nn.ModuleList([nn.Embedding(100, 8) for _ in range(fields)])
        self.deep = nn.Sequential(nn.Linear(fields * 8 + numeric, 64), nn.ReLU(), nn.Linear(64, 1))
        self.wide = nn.Linear(numeric, 1)

    def forward(self, categorical, dense):
        """categorical: LongTensor (batch, fields); dense: (batch, 13)."""
        embedded = torch.cat([table(categorical[:, i]) for i, table in enumerate(self.embeddings)], dim=1)
        return self.deep(torch.cat([embedded, dense], dim=1)) + self.wide(dense)


class FourierField(nn.Module):
    """A radiance field: `points` are (num_rays, 3)."""

    def __init__(self, bands=6):
        super().__init__()
        self.bands = bands
        self.net = nn.Sequential(nn.Linear(3 * 2 * bands, 128), nn.ReLU(), nn.Linear(128, 4))

    def forward(self, points):
        scaled = points[..., None] * 2.0 ** torch.arange(self.bands)
        features = torch.cat([scaled.sin(), scaled.cos()], -1).flatten(-2)
        return self.net(features)


class HeatSolver(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x, t):
        return self.net(torch.cat([x, t], dim=1))


class MixtureOfExperts(nn.Module):
    def __init__(self, dim=32, experts=4):
        super().__init__()
        self.gate = nn.Linear(dim, experts)
        self.experts = nn.ModuleList([nn.Linear(dim, dim) for _ in range(experts)])

    def forward(self, x):
        weights = self.gate(x).softmax(dim=-1)
        outputs = torch.stack([expert(x) for expert in self.experts], dim=-1)
        return (outputs * weights.unsqueeze(-2)).sum(-1)


class CouplingLayer(nn.Module):
    def __init__(self, dim=10):
        super().__init__()
        self.half = dim // 2
        self.scale, self.shift = nn.Linear(self.half, self.half), nn.Linear(self.half, self.half)

    def forward(self, x, reverse=False):
        a, b = x[:, : self.half], x[:, self.half :]
        scale, shift = torch.tanh(self.scale(a)), self.shift(a)
        b = (b - shift) * torch.exp(-scale) if reverse else b * torch.exp(scale) + shift
        return torch.cat([a, b], dim=1)


class LazyRegressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LazyLinear(64), nn.LazyLinear(1)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


class SiameseNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.tower = nn.Sequential(nn.Linear(50, 32), nn.ReLU(), nn.Linear(32, 8))

    def forward(self, left, right):
        return F.cosine_similarity(self.tower(left), self.tower(right))


class Bottleneck(nn.Module):
    def __init__(self, bilinear=(24, 40)):
        super().__init__()
        self.mix = nn.Bilinear(*bilinear, 16)

    def forward(self, text_features, image_features):
        return self.mix(text_features, image_features)


if __name__ == "__main__":
    actor = Actor(state_dim=11, action_dim=3, max_action=1.0)
    print(actor(torch.randn(1, 11)))
    factors = MatrixFactorization(500, 1200, rank=16)
