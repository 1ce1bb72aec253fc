"""Which vector instructions Inductor writes its loops for, asked once and held in another process.

Torch asks a process of its own, and takes no answer within a minute for none: so it is in a debugger, or on a machine
that has much to do, and other code is written than before. Private names, read against torch 2.11 to 2.14:
`valid_vec_isa_list` and `supported_vec_isa_list` of `torch._inductor.cpu_vec_isa`; where one is gone, torch asks again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from inductor_debug.system.torch_names import with_settings


def vector_instructions() -> list[str] | None:
    """The names of those that there are, the best first; None where nobody can say."""
    from torch._inductor import cpu_vec_isa

    ask = getattr(cpu_vec_isa, "valid_vec_isa_list", None)
    return [str(known) for known in ask()] if ask is not None else None


@contextlib.contextmanager
def held_instructions(names: list[str] | None) -> Iterator[None]:
    """Inductor knows those of these names, without asking, until it is left."""
    from torch._inductor import config, cpu_vec_isa

    module: Any = cpu_vec_isa
    ask = getattr(module, "valid_vec_isa_list", None)
    supported = {str(known): known for known in getattr(module, "supported_vec_isa_list", [])}
    if names is None or ask is None or not supported.keys() >= set(names):
        yield
        return
    known = [supported[name] for name in names]
    module.valid_vec_isa_list = lambda: known
    try:
        with with_settings(config, **{"cpp.vec_isa_ok": bool(known)}):
            yield
    finally:
        module.valid_vec_isa_list = ask
