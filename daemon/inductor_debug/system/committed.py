"""What git has of a file at HEAD, read by git itself; nothing of the repository is changed, no filter of its runs."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress

_SECONDS = 5.0
_QUIET = ("-c", "core.fsmonitor=false", "--no-optional-locks")


async def committed_content(path: str, largest: int) -> bytes | None:
    """The content of the file at the absolute `path` at HEAD.

    None where there is no git, no repository or no such file in it, or where it has more than `largest` bytes.
    """
    folder, name = os.path.split(path)
    command = ("git", *_QUIET, "show", "--no-textconv", f"HEAD:./{name}")
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return None
    try:
        content, _ = await asyncio.wait_for(process.communicate(), _SECONDS)
    except asyncio.TimeoutError:
        return None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return content if process.returncode == 0 and len(content) <= largest else None
