"""Runs in place of `worker/bootstrap.py`, as a script: has the fork server forked by the zygote, and stands for it.

Where the zygote does not serve it, it becomes what users have: `worker/bootstrap.py` itself.
"""

from __future__ import annotations

import json
import os
import sys

from request import ask, stand_for

if __name__ == "__main__":
    configuration = json.loads(sys.argv[1])
    control = configuration["control"]
    zygote = "torch alone" if any(name.startswith("INDUCTOR_DEBUG_TEST_") for name in os.environ) else "torch"
    connection = None if control is None else ask(zygote, "fork server", (control,), configuration=configuration)
    if connection is None:
        bootstrap = os.path.join(configuration["packages"]["inductor_debug"], "worker", "bootstrap.py")
        os.execv(sys.executable, [sys.executable, bootstrap, sys.argv[1]])
    os.close(control)
    stand_for(connection)
