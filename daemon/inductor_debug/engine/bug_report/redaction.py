"""Takes out of a text what a stranger must not read: home folders, names of users and hosts, addresses, and secrets.

What is replaced is named in angle brackets, so that a reader sees that something stood there. It knows this machine
through `PrivateWords` only, and never looks at what a text means.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field

_SECRET_NAMES = re.compile(
    r"TOKEN|SECRET|PASSW|CREDENTIAL|PRIVATE|COOKIE|SESSION|AUTH|(?:^|_)(?:API_?)?KEY(?:_|$)|_PAT$", re.IGNORECASE
)
_SHORTEST_SECRET = 6
"""Shorter values (`1`, `true`, `none`) are words, and taking them out would tear texts apart."""
_SHORTEST_NAME = 3
_EVERYBODY = frozenset({"root", "user", "admin", "administrator", "ubuntu", "runner", "vscode", "localhost", "nobody"})
"""Names that say nothing about anybody, and stand in many texts for other reasons."""
_LOOKS_SECRET = (
    ("token", re.compile(r"\b(?:hf|ghp|gho|ghu|ghs|ghr|glpat|xox[abprs]|npm|pypi)[_-][A-Za-z0-9_-]{16,}")),
    ("token", re.compile(r"\bgithub_pat_[A-Za-z0-9_]{20,}")),
    ("key", re.compile(r"\bsk-[A-Za-z0-9_-]{20,}")),
    ("key", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")),
    ("token", re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}")),
    ("key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----", re.DOTALL)),
)
_EMAIL = re.compile(
    r"(?<![\w.+-])[\w+-][\w.+-]*[\w+-]@(?:[\w-]+\.)+(?:com|org|net|edu|gov|info|dev|[a-z]{2})(?![\w-]|\.\w|[(\[])"
)
"""Ends in a name of a domain, so that products of matrices (`q@k.mT`) and their methods stay what they are."""
_NAMED = r"(?<![A-Za-z0-9.]){}(?![A-Za-z0-9(])"
"""Where a name stands for somebody: in `/data/max_models`, and not in `torch.max(x)`."""
_URL_LOGIN = re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)")


@dataclass(frozen=True)
class PrivateWords:
    """What is known of this machine. `homes` are absolute paths."""

    homes: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def here() -> PrivateWords:
        """Of this process."""
        home = os.path.expanduser("~")
        homes = tuple(dict.fromkeys((home, os.path.realpath(home))))
        users, hosts = {os.path.basename(home)}, set[str]()
        with contextlib.suppress(OSError, KeyError, ImportError):
            users.add(getpass.getuser())
        with contextlib.suppress(OSError):
            hosts |= {socket.gethostname(), socket.gethostname().partition(".")[0]}
        with contextlib.suppress(OSError, KeyError, ImportError):
            users.add(_full_name())
        return PrivateWords(homes, tuple(users), tuple(hosts), dict(os.environ))


def _full_name() -> str:
    """The user's own name, where the system knows one."""
    import pwd

    return pwd.getpwuid(os.getuid()).pw_gecos.partition(",")[0].strip()


class Redactor:
    """Redacts texts; `counts` says how often each kind of thing was taken out of all of them."""

    def __init__(self, surroundings: PrivateWords) -> None:
        self.counts: dict[str, int] = {}
        plain = [*_secrets(surroundings.environment)]
        plain += [(home, "~", "home folder") for home in surroundings.homes if len(home.strip("/\\")) > 1]
        # Longest first: a secret may contain a shorter one.
        plain.sort(key=lambda entry: -len(entry[0]))
        self._patterns = [(re.compile(_anywhere(value, kind)), word, kind) for value, word, kind in plain]
        self._patterns += [(pattern, f"<{kind}>", kind) for kind, pattern in _LOOKS_SECRET]
        self._patterns += [(_URL_LOGIN, "<login>", "login"), (_EMAIL, "<email>", "email")]
        for kind, names in (("user", surroundings.users), ("host", surroundings.hosts)):
            for name in names:
                if len(name) >= _SHORTEST_NAME and name.lower() not in _EVERYBODY:
                    self._patterns.append((re.compile(_NAMED.format(re.escape(name))), f"<{kind}>", kind))

    def __call__(self, text: str) -> str:
        """The text without what must not be read."""
        for pattern, word, kind in self._patterns:
            text, count = pattern.subn(word, text)
            if count:
                self.counts[kind] = self.counts.get(kind, 0) + count
        return text

    def environment(self, environment: Mapping[str, str], prefixes: tuple[str, ...]) -> dict[str, str]:
        """The variables whose names begin with one of `prefixes`, redacted; those with telling names without values."""
        return {
            name: "<redacted>" if _SECRET_NAMES.search(name) else self(value)
            for name, value in sorted(environment.items())
            if name.startswith(prefixes)
        }


def _secrets(environment: Mapping[str, str]) -> list[tuple[str, str, str]]:
    return [
        (value, f"<{name}>", "secret")
        for name, value in environment.items()
        if len(value) >= _SHORTEST_SECRET and _SECRET_NAMES.search(name) and not value.startswith(("/", "~"))
    ]


def _anywhere(value: str, kind: str) -> str:
    """The value as it is and as it stands in JSON; a home folder only where its name ends there."""
    escaped = json.dumps(value)[1:-1]
    forms = "|".join(re.escape(form) for form in dict.fromkeys((value, escaped)))
    return rf"(?:{forms})(?![\w-])" if kind == "home folder" else rf"(?:{forms})"
