"""A short process in the user's interpreter that says which accelerators are installed there, and what they can do.

The daemon may live in another environment than torch and the adapters do, and it never imports an adapter. Asked for
all of them, this process reads metadata and runs nobody's code; asked for one, it loads that one; asked for the
machine's devices or for backends, it imports torch. Its answer is one JSON document, which nothing that an adapter
prints can reach.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

from inductor_debug_schema import THIS_MACHINE, AdapterDescription, AdaptersFound, DeviceSeen, to_wire
from inductor_debug_schema.compiling.backend_entries import ALL_BACKENDS, BackendEntry

from inductor_debug.accelerators.description import described, entry_of
from inductor_debug.accelerators.installed import installed_adapter, installed_adapters
from inductor_debug.worker import descriptors
from inductor_debug.worker.machine_devices import devices_of
from inductor_debug.worker.torch_backends import backends_of


def main(configuration: Mapping[str, Any]) -> NoReturn:
    """Writes an `AdaptersFound`: the adapter that `configuration["adapter"]` names, or all, or devices, or backends.

    With `configuration["report"]` the adapter is also asked for what belongs into a bug report.
    """
    answer = os.dup(1)
    descriptors.redirect_standard_streams(os.dup(2))
    name = configuration["adapter"]
    found: list[AdapterDescription] = []
    devices: list[DeviceSeen] = []
    backends: list[BackendEntry] = []
    version = ""
    if name == ALL_BACKENDS:
        torch = importlib.import_module("torch")
        backends, version = backends_of(torch), str(torch.__version__)
    elif name == THIS_MACHINE:
        devices = devices_of(importlib.import_module("torch"))
    elif name is None:
        found = [AdapterDescription(entry=entry_of(adapter)) for adapter in installed_adapters()]
    else:
        wanted = installed_adapter(name)
        found = [described(wanted, report=configuration["report"])] if wanted is not None else []
    with os.fdopen(answer, "w", encoding="utf-8") as stream:
        answered = AdaptersFound(folders=sys.path, adapters=found, devices=devices, backends=backends, torch=version)
        json.dump(to_wire(answered), stream)
    sys.stderr.flush()
    os._exit(0)  # an adapter's threads and exit handlers have nothing to add
