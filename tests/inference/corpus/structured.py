"""Graphs on dense tensors, sets, dictionaries and lists as inputs, losses, layers with flags."""

from typing import Callable, Dict, List

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(in_features, out_features))

    def forward(self, x, adj):
        return adj @ (x @ self.weight)


class Gcn(nn.Module):
    def __init__(self, nfeat=34, nhid=16, nclass=7):
        super().__init__()
        self.gc1, self.gc2 = GraphConvolution(nfeat, nhid), GraphConvolution(nhid, nclass)

    def forward(self, x, adj):
        return F.log_softmax(self.gc2(F.relu(self.gc1(x, adj)), adj), dim=1)


class GraphAttention(nn.Module):
    def __init__(self, features=20, out=16):
        super().__init__()
        self.w, self.a = nn.Linear(features, out, bias=False), nn.Linear(2 * out, 1)

    def forward(self, h, adj):
        wh = self.w(h)
        n = wh.size(0)
        pairs = torch.cat([wh.repeat_interleave(n, 0), wh.repeat(n, 1)], dim=1).view(n, n, -1)
        scores = F.leaky_relu(self.a(pairs).squeeze(-1))
        return torch.softmax(torch.where(adj > 0, scores, -1e9 * torch.ones_like(scores)), dim=1) @ wh


class BatchedGraph(nn.Module):
    def __init__(self, node_dim=12, hidden=24):
        super().__init__()
        self.embed, self.update, self.read = nn.Linear(node_dim, hidden), nn.GRUCell(hidden, hidden), nn.Linear(hidden, 1)

    def forward(self, nodes, adjacency):
        h = self.embed(nodes)
        b, n, d = h.shape
        for _ in range(2):
            message = torch.bmm(adjacency, h)
            h = self.update(message.reshape(b * n, d), h.reshape(b * n, d)).view(b, n, d)
        return self.read(h.sum(1))


class EdgeConvolution(nn.Module):
    def __init__(self, channels=16):
        super().__init__()
        self.message = nn.Linear(2 * channels, channels)

    def forward(self, x, edge_index):
        source, target = edge_index
        messages = F.relu(self.message(torch.cat([x[source], x[target]], dim=-1)))
        return torch.zeros_like(x).index_add(0, target, messages)


class PointNet(nn.Module):
    def __init__(self, classes=40):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(3, 64, 1), nn.Conv1d(64, 128, 1)
        self.fc = nn.Linear(128, classes)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        return self.fc(torch.max(x, 2)[0])


class PointMlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 64))

    def forward(self, points):
        b, n, _ = points.shape
        return self.mlp(points).max(dim=1).values


class DeepSets(nn.Module):
    def __init__(self, dim=9):
        super().__init__()
        self.phi, self.rho = nn.Linear(dim, 32), nn.Linear(32, 1)

    def forward(self, elements):
        return self.rho(F.relu(self.phi(elements)).sum(dim=1))


class MultiModal(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text, self.fuse = nn.Conv2d(3, 16, 3), nn.Embedding(100, 16), nn.Linear(32, 2)

    def forward(self, batch: Dict[str, Tensor]):
        image = self.image(batch["image"]).mean((2, 3))
        text = self.text(batch["input_ids"]).mean(1)
        return self.fuse(torch.cat([image, text], dim=1))


class TabularDict(nn.Module):
    def __init__(self):
        super().__init__()
        self.numeric, self.category, self.out = nn.Linear(8, 16), nn.Embedding(30, 16), nn.Linear(16, 1)

    def forward(self, data):
        return self.out(self.numeric(data["numeric"]) + self.category(data["category"]))


class ListFusion(nn.Module):
    def __init__(self, dims=(10, 20, 30)):
        super().__init__()
        self.projections = nn.ModuleList([nn.Linear(dim, 16) for dim in dims])

    def forward(self, inputs: List[Tensor]) -> Tensor:
        return sum(projection(x) for projection, x in zip(self.projections, inputs))


class PairInput(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(14, 8), nn.Linear(22, 8)

    def forward(self, pair):
        first, second = pair
        return self.a(first) * self.b(second)


class FocalLoss(nn.Module):
    def __init__(self, gamma: float = 2.0, reduction: str = "mean"):
        super().__init__()
        self.gamma, self.reduction = gamma, reduction

    def forward(self, inputs, targets):
        ce = F.cross_entropy(inputs, targets, reduction="none")
        loss = (1 - torch.exp(-ce)) ** self.gamma * ce
        return loss.mean() if self.reduction == "mean" else loss.sum()


class DiceLoss(nn.Module):
    def forward(self, pred, target):
        pred = torch.sigmoid(pred).flatten(1)
        target = target.flatten(1)
        intersection = (pred * target).sum(1)
        return 1 - (2 * intersection / (pred.sum(1) + target.sum(1))).mean()


class TripletLoss(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, anchor, positive, negative):
        near, far = (anchor - positive).pow(2).sum(1), (anchor - negative).pow(2).sum(1)
        return F.relu(near - far + self.margin).mean()


class ContrastiveLoss(nn.Module):
    def __init__(self, temperature=0.07):
        super().__init__()
        self.temperature = temperature

    def forward(self, z_i, z_j):
        """z_i, z_j: (batch, dim)"""
        z = F.normalize(torch.cat([z_i, z_j], dim=0), dim=1)
        similarity = z @ z.t() / self.temperature
        n = z_i.size(0)
        labels = torch.arange(2 * n).roll(n)
        return F.cross_entropy(similarity - 1e9 * torch.eye(2 * n), labels)


class DistillationLoss(nn.Module):
    def __init__(self, T=4.0, alpha=0.5):
        super().__init__()
        self.T, self.alpha = T, alpha

    def forward(self, student_logits, teacher_logits, labels):
        soft = F.kl_div(F.log_softmax(student_logits / self.T, 1), F.softmax(teacher_logits / self.T, 1), reduction="batchmean")
        return self.alpha * soft * self.T**2 + (1 - self.alpha) * F.cross_entropy(student_logits, labels)


class VaeLoss(nn.Module):
    def forward(self, recon, x, mu, logvar):
        kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        return F.mse_loss(recon, x, reduction="sum") + kl


class LabelSmoothing(nn.Module):
    def __init__(self, classes=10, smoothing=0.1):
        super().__init__()
        self.classes, self.smoothing = classes, smoothing

    def forward(self, logits, target):
        log_probs = logits.log_softmax(dim=-1)
        true = torch.full_like(log_probs, self.smoothing / (self.classes - 1))
        true.scatter_(1, target.unsqueeze(1), 1 - self.smoothing)
        return -(true * log_probs).sum(dim=-1).mean()


class ModeSwitch(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(18, 6), nn.Linear(6, 18)

    def forward(self, x, mode: str, return_code: bool):
        if mode == "encode":
            return self.encoder(x)
        if mode == "full":
            code = self.encoder(x)
            return (self.decoder(code), code) if return_code else self.decoder(code)
        raise ValueError(f"unknown mode {mode!r}")


class WithActivation(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(26, 26)

    def forward(self, x, activation: Callable):
        return activation(self.linear(x))


class Repeated(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = nn.Linear(15, 15)

    def forward(self, x, num_iterations: int):
        for _ in range(num_iterations):
            x = torch.tanh(self.step(x))
        return x


class Variadic(nn.Module):
    def __init__(self):
        super().__init__()
        self.join = nn.Linear(60, 4)

    def forward(self, *features):
        return self.join(torch.cat(features, dim=-1))


class AnnotatedAttention(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.dim = dim
        self.scale = nn.Parameter(torch.ones(dim))

    def forward(self, tokens: "Float[Tensor, 'batch seq dim']", keep: "Bool[Tensor, 'batch seq']"):
        scores = (tokens * self.scale) @ tokens.transpose(1, 2)
        return scores.masked_fill(~keep.unsqueeze(1), -1e9).softmax(-1) @ tokens


class RmsNorm(nn.Module):
    def __init__(self, dim: int, eps: float = 1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(dim)), eps

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class VectorQuantizer(nn.Module):
    def __init__(self, num_embeddings=64, embedding_dim=16):
        super().__init__()
        self.codebook = nn.Embedding(num_embeddings, embedding_dim)

    def forward(self, z):
        # z: (B, D, H, W)
        flat = z.permute(0, 2, 3, 1).reshape(-1, self.codebook.embedding_dim)
        codes = torch.cdist(flat, self.codebook.weight).argmin(1)
        b, d, h, w = z.shape
        return self.codebook(codes).view(b, h, w, d).permute(0, 3, 1, 2)


class LoraLinear(nn.Module):
    def __init__(self, base: nn.Linear, rank: int = 4):
        super().__init__()
        self.base = base
        self.a, self.b = nn.Linear(base.in_features, rank, bias=False), nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x):
        return self.base(x) + self.b(self.a(x))


class MovedToDevice(nn.Module):
    def __init__(self):
        super().__init__()
        self.device = torch.device("cpu")
        self.net = nn.Linear(33, 3).to(self.device)

    def forward(self, x):
        return self.net(x.to(self.device))


class GradientPenalty(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(16, 32), nn.Softplus(), nn.Linear(32, 1))

    def forward(self, real, fake):
        mixed = (0.5 * real + 0.5 * fake).requires_grad_(True)
        (gradient,) = torch.autograd.grad(self.critic(mixed).sum(), mixed, create_graph=True)
        return ((gradient.norm(dim=1) - 1) ** 2).mean()
