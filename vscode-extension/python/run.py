"""Starts the daemon that comes with the extension: its own libraries first, nothing of the workspace.

The extension runs this by path in the user's interpreter, isolated (`-I`). Workers get none of this; the daemon tells
them itself where its packages are. The syntax is kept old, so that an old interpreter can still be told what is wrong.
"""

import os
import sys

BUNDLED = os.path.dirname(os.path.abspath(__file__))

if sys.version_info < (3, 10):
    sys.stderr.write("inductor-debug needs Python 3.10 or newer; this is %d.%d\n" % sys.version_info[:2])
    sys.exit(2)

sys.path[:0] = [os.path.join(BUNDLED, "daemon"), os.path.join(BUNDLED, "libraries")]

from inductor_debug.cli.main import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
