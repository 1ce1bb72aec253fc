"""Keeps torch's structured trace log readable for tlparse after words were taken out of it.

Each record of the log is a line that ends in a JSON object; its payload follows, every line behind a tab, and the
object holds the MD5 sum of the payload, which tlparse checks. This never looks at what a record says.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

_SUM = re.compile(r'("has_payload": ")[0-9a-f]{32}(")')


def resealed(text: str) -> str:
    """The log with the sums of its payloads as they are now."""
    return "".join(f"{line}\n" for line in _records(text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")))


def _records(lines: list[str]) -> Iterator[str]:
    index = 0
    while index < len(lines):
        head = lines[index]
        index += 1
        payload = []
        while index < len(lines) and lines[index].startswith("\t"):
            payload.append(lines[index])
            index += 1
        if payload:
            content = "\n".join(line[1:] for line in payload)
            digest = hashlib.md5(content.encode("utf-8"), usedforsecurity=False).hexdigest()
            head = _SUM.sub(rf"\g<1>{digest}\g<2>", head)
        yield head
        yield from payload
