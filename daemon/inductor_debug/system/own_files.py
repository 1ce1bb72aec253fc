"""Where this package lies on disk, so that its own frames and files are told from the user's. Knows no single file."""

from __future__ import annotations

import os

OWN_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
"""The folder of `inductor_debug`, with a separator at its end."""
STAND_INS = os.path.join(OWN_PACKAGE, "capture", "entry") + os.sep
"""What user code calls in place of Python's own functions there: it is still the user's code that does it."""
