"""README's recipe for Helix, run as it stands by a real Helix in a terminal, where one is on the path."""

from __future__ import annotations

import os
import re
import select
import sys
import time
from pathlib import Path

import needed
import pytest
from server_harness import PATIENCE

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals"),
]

README = Path(__file__).resolve().parents[2] / "README.md"
OLDEST = (25, 1)
MODEL = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(4, 8),)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return self.linear(x.flatten())
"""
TO_THE_ERROR = b":12\rt)"
HOVER = b" k"
CONTROL = re.compile(rb"\x1b\[[0-9;?:>= ]*[a-zA-Z]|\x1b[()=>][A-Z0-9]?")


class Terminal:
    """A Helix that shows a file, and all that it has written to its terminal so far."""

    def __init__(self, program: str, folder: Path, environment: dict[str, str]) -> None:
        import pty

        self._process, self._terminal = pty.fork()
        if self._process == 0:
            os.chdir(folder)
            os.execve(program, [program, "model.py"], environment)
        import fcntl
        import struct
        import termios

        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
        self.shown = b""

    def press(self, keys: bytes) -> None:
        os.write(self._terminal, keys)

    def wait_for(self, text: str) -> bool:
        """Whether a text appears before patience ends."""
        ends = time.monotonic() + PATIENCE * 6
        while text not in CONTROL.sub(b"", self.shown).decode(errors="replace"):
            if time.monotonic() > ends:
                return False
            if select.select([self._terminal], [], [], 0.2)[0]:
                self.shown += os.read(self._terminal, 65536)
        return True

    def close(self) -> None:
        self.press(b"\x1b\x1b:q!\r")
        os.waitpid(self._process, 0)
        os.close(self._terminal)


def test_the_recipe_shows_findings_and_hovers(tmp_path: Path) -> None:
    program = needed.editor("hx", OLDEST)
    readme = README.read_text(encoding="utf-8")
    [recipe] = re.findall(r"^Helix, in .*?```toml\n(.*?)```", readme, re.DOTALL | re.MULTILINE)
    configuration = tmp_path / "configuration" / "helix" / "languages.toml"
    configuration.parent.mkdir(parents=True)
    configuration.write_text(recipe, encoding="utf-8")
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    (project / "model.py").write_text(MODEL, encoding="utf-8")
    environment = {
        **os.environ,
        "TERM": "xterm-256color",
        "XDG_CONFIG_HOME": str(tmp_path / "configuration"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
    }
    helix = Terminal(program, project, environment)
    try:
        assert helix.wait_for("takes 8 features"), helix.shown[-2000:]
        helix.press(TO_THE_ERROR + HOVER)
        assert helix.wait_for("inductor-debug explain capture-error"), helix.shown[-2000:]
    finally:
        helix.close()
