"""For every test: one thread for torch, which must be said before torch is loaded.

Tests fork children as the fork server does. A child of a process that has used OpenMP's threads waits for them forever
(libgomp keeps its pool over a fork); the fork server itself never uses any.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
# Errors of strict backends would wait for processes that import torch; tests of that ask for it.
os.environ.setdefault("MOCK_REPROS", "unverified")
