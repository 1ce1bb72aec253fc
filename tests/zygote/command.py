"""`inductor-debug` as a process of its own, whose fork servers are the zygote's children."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])
import zygote  # noqa: E402

del sys.path[0]
zygote.use()

from inductor_debug.cli.main import main  # noqa: E402

if sys.argv[1:2] == ["watch"]:  # which starts a server
    from functools import partial

    from inductor_debug.server.rpc import headless_client

    headless_client.HeadlessEditor = partial(headless_client.HeadlessEditor, [*zygote.COMMAND, "serve"])
sys.exit(main(sys.argv[1:]))
