"""Links in what people read: each leads somewhere as far as can be known here, and is written in one way.

Whether a site still answers is asked every night (`lychee.toml`), of the documentation as it is built, with the page of
every rule. Here no network is asked: addresses are well-formed and https, a site has one spelling, and what leads into
this repository has its file and its heading.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
READ = (
    "*.md",
    "*.yml",
    "*.yaml",
    "*.cff",
    "*.toml",
    "daemon/*.py",
    "shared_schema/*.py",
    "package.json",
    "*/package.json",
)
"""What people read, or is shown to them."""
ADDRESS = re.compile(r"\bhttps?:/?/?[^\s<>\"'`)\]}|\\]+")
PATTERNS = ROOT / "lychee.toml"
"""Which has patterns of addresses, and no addresses."""
NOT_OUTSIDE = ("127.0.0.1", "localhost", "www.w3.org", "json-schema.org")
"""This machine, and names that are no addresses: of XML and of schemas."""
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, check=True, text=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name and not name.startswith("tests/")]


def addresses() -> dict[str, list[str]]:
    """Every address of another machine, with where it stands."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in set(tracked(*READ)) - {PATTERNS}:
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            for address in ADDRESS.findall(line):
                if not address.endswith("//") and "{" not in address and not aim_of(address).startswith(NOT_OUTSIDE):
                    found[address.rstrip(".,;:")].append(f"{path.relative_to(ROOT)}:{number}")
    return dict(found)


def aim_of(address: str) -> str:
    """The address without what kind of one it is."""
    return address.partition("://")[2]


def slug(heading: str) -> str:
    """The anchor that is made of a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.replace("`", "")).lower()
    return re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")


def test_every_address_is_one_and_asks_for_a_safe_connection() -> None:
    found = addresses()
    assert len(found) >= 10
    for address, places in found.items():
        parts = urlsplit(address)
        assert parts.scheme == "https", (address, places)
        assert re.fullmatch(r"(?:[a-z0-9-]+\.)+[a-z]{2,}", parts.netloc), (address, places)
        assert "//" not in parts.path, (address, places)


def test_a_site_is_written_in_one_way() -> None:
    """With or without `www.`, and with or without a slash at the end."""
    spellings: defaultdict[str, set[str]] = defaultdict(set)
    for address in addresses():
        spellings[address.removeprefix("https://").removeprefix("www.").rstrip("/").lower()].add(address)
    assert {site: sorted(ways) for site, ways in spellings.items() if len(ways) > 1} == {}


@pytest.mark.parametrize("page", tracked("*.md"), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_link_into_the_repository_has_its_file_and_its_heading(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name, anchor in LINK.findall(FENCE.sub("", text)):
        aim = (page.parent / name).resolve() if name else page
        if _is_built(aim):
            continue
        assert aim.exists(), f"{page.name}: {name}"
        if anchor and aim.suffix == ".md":
            headings = HEADING.findall(FENCE.sub("", aim.read_text(encoding="utf-8")))
            assert anchor in set(map(slug, headings)), f"{page.name}: {name}#{anchor}"


def _is_built(aim: Path) -> bool:
    """Whether a page is made when the documentation is, which fails where a link leads nowhere."""
    return aim.is_relative_to(ROOT / "docs") and aim.suffix == ".md" and not aim.exists()
