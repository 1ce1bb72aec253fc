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

/** Takes its time to load, so that saves overtake it. */
export const SLOW = DOUBLE.replace("from torch import nn\n", "from torch import nn\nimport time\n\ntime.sleep(1)\n");

/** Takes so long that what was found before has to be marked. */
export const SLOWER = SLOW.replace("sleep(1)", "sleep(3)");

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

/** What goes in cannot be inferred. */
export const UNKNOWABLE = `from torch import nn


class Odd(nn.Module):
    def forward(self, thing):
        return thing.tokens
`;
