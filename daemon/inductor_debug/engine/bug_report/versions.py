"""What a bug report says of the versions of everything: torch's own account, asked in the project's interpreter."""

from __future__ import annotations

import asyncio
import contextlib

from inductor_debug.system.leash import leashed

_ENVIRONMENT_SECONDS = 90.0


async def collected(interpreter: str) -> str:
    """What `torch.utils.collect_env` says in the project's interpreter.

    Raises:
        OSError: it cannot be started.
        asyncio.TimeoutError: it takes too long.
    """
    process = await asyncio.create_subprocess_exec(
        *leashed([interpreter, "-I", "-m", "torch.utils.collect_env"]),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), _ENVIRONMENT_SECONDS)
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return output.decode("utf-8", "replace")


def versions(said: str) -> dict[str, str]:
    """The lines of `collect_env` that an issue begins with."""
    wanted = ("PyTorch version", "Python version", "OS", "GCC version", "Clang version", "CUDA used to build PyTorch")
    found = {}
    for line in said.splitlines():
        name, separator, value = line.partition(": ")
        if separator and name in wanted:
            found[name] = value.strip()
    return found
