"""For every test: one thread for torch, which must be said before torch is loaded; no limits of time; zygotes.

Failures of those in quarantine (`quarantine.py`) are told and do not count.

Tests fork children as the fork server does. A child of a process that has used OpenMP's threads waits for them forever
(libgomp keeps its pool over a fork); the fork server itself never uses any. Properties hold on slow machines, too; they
are tried with the same examples in every run, and with many others where those are asked for (`npm run properties`).
"""

import contextlib
import os
import sys
from typing import Any

import pytest
import quarantine
import zygote
from hypothesis import HealthCheck, settings
from zygote import sharing

os.environ.setdefault("OMP_NUM_THREADS", "1")
# Errors of strict backends would wait for processes that import torch; tests of that ask for it.
os.environ.setdefault("MOCK_REPROS", "unverified")
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", _PATIENT, derandomize=True)
settings.register_profile("search", _PATIENT, max_examples=1000, print_blob=True)
settings.load_profile(os.environ.get("INDUCTOR_DEBUG_PROPERTIES", "same"))


def pytest_configure(config: pytest.Config) -> None:
    """One zygote of each kind for the whole run: where tests run in several processes, for all of them."""
    if not hasattr(config, "workerinput") and sys.platform == "linux":
        stack = contextlib.ExitStack()
        stack.enter_context(zygote.running())
        config.add_cleanup(stack.close)
    zygote.use()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(specs: list[Any]) -> None:
    """Test processes are forked where torch is loaded: they share it, and none of them waits for it."""
    if sys.platform == "linux":
        for spec in specs:
            spec.python = zygote.PYTHON


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    quarantine.mark(items, quarantine.listed())


def pytest_collection_finish(session: pytest.Session) -> None:
    """A collection in a forked child copies no page of what is loaded, and its fork is cheap."""
    sharing.settle()
