/** The models of the end-to-end tests, as text. Each has one thing to find, or none. */

export const CLEAN = `import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(8, 64),)
class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.second = nn.Linear(64, 10)

    def forward(self, x):
        hidden = torch.relu(self.first(x))
        return self.second(hidden.float())
`;

/** float64 slips in at line 13. */
export const DOUBLE = CLEAN.replace("torch.relu(self.first(x))", "torch.relu(self.first(x)).double()");
export const CULPRIT = "torch.relu(self.first(x)).double()";

/** float64 where the index at line 15 is odd: one key press makes it wrong or right, ten times without a text seen before. */
export const SWITCHED = CLEAN.replace("from torch import nn\n", "from torch import nn\n\nDTYPES = [torch.float32, torch.float64] * 5\n")
  .replace("torch.relu(self.first(x))", "torch.relu(self.first(x)).to(DTYPES[0])");
export const SWITCH = { line: 15, column: "        hidden = torch.relu(self.first(x)).to(DTYPES[".length + 1, last: 9 } as const;

/** The process that runs it dies. */
export const CRASH = CLEAN.replace("        hidden =", "        import os\n        os._exit(3)\n        hidden =");

/** With one to nine lines more at its top it never ends, so that saves of these overtake it; float64 is at line 16. */
export const OVERTAKEN = DOUBLE.replace("from torch import nn\n", "from torch import nn\nimport sys, time\n\nwhile 5 < sys._getframe().f_lineno < 15: time.sleep(0.02)\n");

/** `DOUBLE` that is not through as long as there is a file at `path`; float64 is at line 16. */
export function held(path: string): string {
  return DOUBLE.replace("from torch import nn\n", `from torch import nn\n${waiting(path)}`);
}

/** What waits while a file exists. */
export function waiting(path: string): string {
  return `import os, time\n\nwhile os.path.exists(${JSON.stringify(path)}): time.sleep(0.02)\n`;
}

/** Leaves a trace on disk when it runs. */
export function witness(path: string): string {
  return CLEAN.replace("import torch\n", `import torch\nopen(${JSON.stringify(path)}, "a").write("ran")\n`);
}

/** Nobody has said what goes in; it can be inferred. */
export const BARE = `import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.linear = nn.Linear(width, classes)

    def forward(self, x):
        return self.linear(x).double()
`;

/** What goes in cannot be inferred: no file is opened to find out. */
export const UNKNOWABLE = `from torch import nn


class Odd(nn.Module):
    def forward(self, path):
        with open(path) as stream:
            return stream.read()
`;

/** A network for digits that declares no inputs. */
export const DIGITS = `import torch
import torch.nn.functional as F
from torch import nn


class Digits(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 64, 5)
        self.dropout = nn.Dropout(0.25)
        self.fc1 = nn.Linear(9216, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, images):
        x = F.max_pool2d(F.relu(self.conv(images)), 2)
        x = self.dropout(x)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)
`;

/** Attention that declares no inputs. */
export const ATTENTION = `import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim: int = 128, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1)
        out = scores.softmax(-1) @ v
        return self.proj(out.transpose(1, 2).reshape(B, T, C))
`;

/** A causal language model that declares no inputs, with what people get wrong in one: heads, masks, concatenations, positions. */
export const LANGUAGE = `import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.norm(x)).split(C, dim=2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        scores = (q @ k.transpose(-2, -1)).masked_fill(~mask, float("-inf"))
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C)
        x = x + self.out(mixed)
        return x + self.mlp(x)


class Language(nn.Module):
    def __init__(self, words: int = 500, width: int = 96, heads: int = 6) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.positions = nn.Embedding(64, width)
        self.start = nn.Parameter(torch.zeros(width))
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(2))
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        B, T = tokens.shape
        x = self.embedding(tokens) + self.positions(torch.arange(T))
        start = self.start.expand(B, -1).unsqueeze(1)
        x = torch.cat([start, x], dim=1)
        for block in self.blocks:
            x = block(x)
        return self.head(F.layer_norm(x, x.shape[-1:]))
`;

/** Three layers of attention, whose lines run three times each; the sizes are no multiples of a stick. */
export const LAYERS = `import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        query = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        key = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        value = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        scores = (query @ key.transpose(-2, -1)).softmax(dim=-1)
        return x + (scores @ value).transpose(1, 2).reshape(B, T, C)


# inductor-debug: inputs=(torch.randn(2, 64, 96),)
class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Attention(96, 4) for _ in range(3)])

    def forward(self, tokens):
        hidden = tokens * 2
        for layer in self.layers:
            hidden = layer(hidden)
        return hidden
`;
