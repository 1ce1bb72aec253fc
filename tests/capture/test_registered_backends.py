"""What a file registers with torch is forgotten before it is executed again, and nothing that torch registers is."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.torch

PROGRAM = """
import torch._dynamo
from inductor_debug.capture.runtime.registered_backends import RegisteredBackends

before = RegisteredBackends()
torch.compile(lambda x: x.sin(), backend=lambda graph, _: graph.forward)(torch.ones(2))
torch._dynamo.register_backend(lambda graph, _: graph.forward, name="mine")
before.forget_later()
names = torch._dynamo.list_backends(exclude_tags=())
print("eager" in names, "inductor" in names, "mine" in names)
torch._dynamo.reset()
torch.compile(lambda x: x.cos(), backend=lambda graph, _: graph.forward)(torch.ones(2))
"""


def test_torch_keeps_its_backends_where_it_registers_them_after_the_file_was_first_executed() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert (ran.stdout.strip(), ran.returncode) == ("True True False", 0), ran.stderr
