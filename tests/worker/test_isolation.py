"""What a worker's process may use before any code of the user's runs in it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

resource = pytest.importorskip("resource", reason="has no limits of this kind")
_SAYS = """
import resource
from inductor_debug.worker import job

job.isolate()
print(*resource.getrlimit(resource.RLIMIT_STACK))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere the stack has the size that it starts with")
def test_the_stack_of_a_worker_may_be_deep_as_far_as_the_system_allows() -> None:
    """What autograd saved over some thousand steps is let go of one within the other."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def lower() -> None:
        resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))

    ran = subprocess.run(
        [sys.executable, "-c", _SAYS], env=environment, preexec_fn=lower, capture_output=True, text=True, check=True
    )
    soft, hard = map(int, ran.stdout.split())
    wanted = 64 << 20
    assert soft == (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard))
