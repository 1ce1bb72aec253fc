"""Transformers of every kind, written by hand."""

from dataclasses import dataclass
from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class GptConfig:
    vocab_size: int = 500
    block_size: int = 64
    n_layer: int = 2
    n_head: int = 4
    n_embd: int = 64


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(config.n_embd, 3 * config.n_embd), nn.Linear(config.n_embd, config.n_embd)
        self.n_head, self.n_embd = config.n_head, config.n_embd

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        q, k, v = (t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class GptBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(config.n_embd), nn.LayerNorm(config.n_embd)
        self.attn = CausalSelfAttention(config)
        self.mlp = nn.Sequential(nn.Linear(config.n_embd, 4 * config.n_embd), nn.GELU(), nn.Linear(4 * config.n_embd, config.n_embd))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt(nn.Module):
    def __init__(self, config: GptConfig):
        super().__init__()
        self.config = config
        self.wte, self.wpe = nn.Embedding(config.vocab_size, config.n_embd), nn.Embedding(config.block_size, config.n_embd)
        self.h = nn.ModuleList([GptBlock(config) for _ in range(config.n_layer)])
        self.ln_f = nn.LayerNorm(config.n_embd)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)

    def forward(self, idx, targets=None):
        b, t = idx.size()
        assert t <= self.config.block_size, "sequence too long"
        x = self.wte(idx) + self.wpe(torch.arange(t))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1)) if targets is not None else None
        return logits, loss


class VisionTransformer(nn.Module):
    def __init__(self, image_size=64, patch_size=8, dim=48, heads=4, classes=10):
        super().__init__()
        self.patch = nn.Conv2d(3, dim, patch_size, patch_size)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.zeros(1, (image_size // patch_size) ** 2 + 1, dim))
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(dim, heads, 2 * dim, batch_first=True), 2)
        self.head = nn.Linear(dim, classes)

    def forward(self, img):
        x = self.patch(img).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], dim=1) + self.pos
        return self.head(self.encoder(x)[:, 0])


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int):
        super().__init__()
        self.d_k, self.n_heads = d_model // n_heads, n_heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d_model, d_model) for _ in range(4))

    def split(self, x):
        return x.view(x.size(0), -1, self.n_heads, self.d_k).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        q, k, v = self.split(self.wq(query)), self.split(self.wk(key)), self.split(self.wv(value))
        scores = q @ k.transpose(-2, -1) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        out = scores.softmax(-1) @ v
        return self.wo(out.transpose(1, 2).reshape(query.size(0), -1, self.n_heads * self.d_k))


class TranslationTransformer(nn.Module):
    def __init__(self, src_vocab=200, tgt_vocab=300, d_model=32):
        super().__init__()
        self.src_embed, self.tgt_embed = nn.Embedding(src_vocab, d_model), nn.Embedding(tgt_vocab, d_model)
        self.transformer = nn.Transformer(d_model, 4, 1, 1, 64, batch_first=True)
        self.out = nn.Linear(d_model, tgt_vocab)

    def forward(self, src, tgt, src_key_padding_mask: Optional[Tensor] = None):
        h = self.transformer(self.src_embed(src), self.tgt_embed(tgt), src_key_padding_mask=src_key_padding_mask)
        return self.out(h)


class EncoderClassifier(nn.Module):
    def __init__(self, vocab_size=400, d_model=32):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.attention = nn.MultiheadAttention(d_model, 4, batch_first=True)
        self.fc = nn.Linear(d_model, 2)

    def forward(self, input_ids, attention_mask):
        x = self.embedding(input_ids)
        x, _ = self.attention(x, x, x, key_padding_mask=attention_mask == 0)
        return self.fc(x.mean(dim=1))


class CrossAttention(nn.Module):
    def __init__(self, query_dim=40, context_dim=56, heads=4, dim_head=8):
        super().__init__()
        inner = heads * dim_head
        self.heads = heads
        self.to_q, self.to_kv = nn.Linear(query_dim, inner, bias=False), nn.Linear(context_dim, 2 * inner, bias=False)
        self.to_out = nn.Linear(inner, query_dim)

    def forward(self, x, context):
        b, n, _ = x.shape
        q, (k, v) = self.to_q(x), self.to_kv(context).chunk(2, dim=-1)
        q, k, v = (t.reshape(b, t.shape[1], self.heads, -1).transpose(1, 2) for t in (q, k, v))
        return self.to_out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, -1))


class RotaryAttention(nn.Module):
    def __init__(self, dim=64, n_heads=4, n_kv_heads=2):
        super().__init__()
        self.hd, self.nh, self.nk = dim // n_heads, n_heads, n_kv_heads
        self.wq, self.wk = nn.Linear(dim, dim, bias=False), nn.Linear(dim, n_kv_heads * self.hd, bias=False)
        self.wv, self.wo = nn.Linear(dim, n_kv_heads * self.hd, bias=False), nn.Linear(dim, dim, bias=False)

    def forward(self, x: Tensor, freqs_cos: Tensor, freqs_sin: Tensor):
        # x: (bsz, seqlen, dim), freqs_cos: (seqlen, 8), freqs_sin: (seqlen, 8)
        b, t, _ = x.shape
        q, k = self.wq(x).view(b, t, self.nh, self.hd), self.wk(x).view(b, t, self.nk, self.hd)
        v = self.wv(x).view(b, t, self.nk, self.hd)
        cos, sin = freqs_cos.view(1, t, 1, self.hd // 2), freqs_sin.view(1, t, 1, self.hd // 2)

        def rotate(z):
            a, c = z.chunk(2, -1)
            return torch.cat([a * cos - c * sin, a * sin + c * cos], -1)

        q, k = rotate(q), rotate(k).repeat_interleave(self.nh // self.nk, 2)
        v = v.repeat_interleave(self.nh // self.nk, 2)
        y = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(b, t, -1))


class SwiGlu(nn.Module):
    def __init__(self, dim: int, hidden_dim: int):
        super().__init__()
        self.w1, self.w2, self.w3 = nn.Linear(dim, hidden_dim), nn.Linear(hidden_dim, dim), nn.Linear(dim, hidden_dim)

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        return self.w2(F.silu(self.w1(hidden_states)) * self.w3(hidden_states))


class WindowAttention(nn.Module):
    """Attention in windows of an image. x: (B, H, W, C)"""

    def __init__(self, dim=32, window_size=8, heads=4):
        super().__init__()
        self.window_size, self.heads = window_size, heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        B, H, W, C = x.shape
        s = self.window_size
        x = x.view(B, H // s, s, W // s, s, C).permute(0, 1, 3, 2, 4, 5).reshape(-1, s * s, C)
        q, k, v = self.qkv(x).view(x.shape[0], s * s, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(-1, s * s, C)
        return self.proj(x).view(B, H // s, W // s, s, s, C).permute(0, 1, 3, 2, 4, 5).reshape(B, H, W, C)


class MlpMixer(nn.Module):
    def __init__(self, tokens=64, dim=32):
        super().__init__()
        self.token = nn.Sequential(nn.Linear(tokens, 2 * tokens), nn.GELU(), nn.Linear(2 * tokens, tokens))
        self.channel = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim))

    def forward(self, x):
        x = x + self.token(x.transpose(1, 2)).transpose(1, 2)
        return x + self.channel(x)


class DiffusionTransformer(nn.Module):
    def __init__(self, input_size=16, channels=4, hidden_size=48, num_classes=10):
        super().__init__()
        self.patch = nn.Conv2d(channels, hidden_size, 2, 2)
        self.pos = nn.Parameter(torch.zeros(1, (input_size // 2) ** 2, hidden_size))
        self.label, self.time = nn.Embedding(num_classes + 1, hidden_size), nn.Linear(1, hidden_size)
        self.block = nn.TransformerEncoderLayer(hidden_size, 4, 96, batch_first=True)
        self.modulate = nn.Linear(hidden_size, 2 * hidden_size)

    def forward(self, x, t, y):
        """x: (N, C, H, W) latents; t: (N,) diffusion timesteps; y: (N,) class labels."""
        x = self.patch(x).flatten(2).transpose(1, 2) + self.pos
        c = self.time(t.float().unsqueeze(-1)) + self.label(y)
        shift, scale = self.modulate(c).chunk(2, dim=1)
        return self.block(x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1))


class Perceiver(nn.Module):
    def __init__(self, latents=8, dim=32, input_dim=24):
        super().__init__()
        self.latents = nn.Parameter(torch.randn(latents, dim))
        self.attend = nn.MultiheadAttention(dim, 4, kdim=input_dim, vdim=input_dim, batch_first=True)

    def forward(self, data):
        queries = self.latents.unsqueeze(0).expand(data.size(0), -1, -1)
        return self.attend(queries, data, data)[0]


class TwoTower(nn.Module):
    def __init__(self, vocab=300, dim=32):
        super().__init__()
        self.text = nn.Embedding(vocab, dim)
        self.image = nn.Conv2d(3, dim, 16, 16)
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, image, text):
        a = F.normalize(self.image(image).mean((2, 3)), dim=-1)
        b = F.normalize(self.text(text).mean(1), dim=-1)
        return self.scale.exp() * a @ b.t()


class DetectionTransformer(nn.Module):
    def __init__(self, num_queries=10, hidden_dim=32, num_classes=5):
        super().__init__()
        self.backbone = nn.Conv2d(3, hidden_dim, 16, 16)
        self.query = nn.Parameter(torch.rand(num_queries, hidden_dim))
        self.decoder = nn.TransformerDecoderLayer(hidden_dim, 4, 64, batch_first=True)
        self.classes, self.boxes = nn.Linear(hidden_dim, num_classes + 1), nn.Linear(hidden_dim, 4)

    def forward(self, inputs):
        memory = self.backbone(inputs).flatten(2).transpose(1, 2)
        h = self.decoder(self.query.unsqueeze(0).repeat(inputs.shape[0], 1, 1), memory)
        return {"logits": self.classes(h), "boxes": self.boxes(h).sigmoid()}


class RelativeBias(nn.Module):
    def __init__(self, heads=4, buckets=32):
        super().__init__()
        self.table = nn.Embedding(buckets, heads)
        self.buckets = buckets

    def forward(self, q, k, v):
        # q: (batch, heads, length, head_dim)
        length = q.shape[2]
        distance = (torch.arange(length)[:, None] - torch.arange(length)[None]).abs().clamp(max=self.buckets - 1)
        bias = self.table(distance).permute(2, 0, 1).unsqueeze(0)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)


attention = MultiHeadAttention(64, 4)
feed_forward = SwiGlu(48, 128)
