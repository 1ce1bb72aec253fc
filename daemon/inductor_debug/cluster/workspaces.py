"""Workspaces: the files below a project's root that a run may need, packed once, known by a digest of their contents.

Left out is what git would not see (`.gitignore` at any depth), hidden files and folders, what the configuration
excludes, and what belongs to somebody else (virtual environments, installed packages). Files that are named
are always packed. On a node a workspace is unpacked once, under its digest; no code of it runs here.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pathspec

from inductor_debug.engine.settings.folders import cache_folder

MOST_BYTES = 256 << 20
"""A bigger workspace is no text to be sent around: it belongs on a file system that all machines share."""
MOST_FILES = 20_000
_KEPT_SECONDS = 7 * 24 * 3600.0
_MOMENT = (1980, 1, 1, 0, 0, 0)


class WorkspaceError(Exception):
    """A workspace cannot be packed; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """The packed files of the folder `root`, and the digest of what they hold."""

    root: str
    digest: str
    archive: bytes


def pack(root: str, excluded: Callable[[str], bool], named: Iterable[str]) -> Workspace:
    """Packs the workspace at the absolute path `root`.

    Args:
        root: the project's folder.
        excluded: whether the configuration leaves out the file or folder at an absolute path.
        named: files that are packed in any case, where they lie below the root.

    Raises:
        WorkspaceError: it is too big, or a named file cannot be read.
    """
    wanted = dict.fromkeys(sorted({*files_of(root, excluded), *(path for path in named if _below(path, root))}))
    digest = hashlib.sha256()
    buffer = io.BytesIO()
    size = count = 0
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in wanted:
            try:
                content = Path(path).read_bytes()
            except OSError as error:
                raise WorkspaceError(f"{path}: {error.strerror or error}") from None
            size, count = size + len(content), count + 1
            if size > MOST_BYTES or count > MOST_FILES:
                raise _too_big(root)
            name = os.path.relpath(path, root).replace(os.sep, "/")
            digest.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
            digest.update(content)
            archive.writestr(zipfile.ZipInfo(name, _MOMENT), content, zipfile.ZIP_DEFLATED, compresslevel=1)
    return Workspace(root, digest.hexdigest(), buffer.getvalue())


def files_of(root: str, excluded: Callable[[str], bool]) -> Iterator[str]:
    """The absolute paths of the files that belong to the workspace at `root`."""
    ignoring: dict[str, list[tuple[str, pathspec.GitIgnoreSpec]]] = {}
    count = 0
    for folder, folders, files in os.walk(root):
        rules = [*ignoring.pop(folder, []), *_rules_in(folder)]

        def left_out(name: str, is_folder: bool, folder: str = folder, rules: list[_Rule] = rules) -> bool:
            path = os.path.join(folder, name)
            return (
                name.startswith(".")
                or _ignored(path, is_folder, rules)
                or (is_folder and os.path.exists(os.path.join(path, "pyvenv.cfg")))
                or excluded(path)
            )

        folders[:] = sorted(name for name in folders if not left_out(name, True))
        ignoring.update((os.path.join(folder, name), rules) for name in folders)
        for name in files:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not left_out(name, False):
                count += 1
                if count > MOST_FILES:
                    raise _too_big(root)
                yield path


_Rule = tuple[str, pathspec.GitIgnoreSpec]
"""A folder, and what the `.gitignore` in it says of what lies below."""


def unpacked(digest: str, archive: bytes) -> Path:
    """Unpacks a workspace into this machine's cache unless it is there; the folder.

    Raises:
        OSError: nothing can be written there.
    """
    folder = folder_of(digest)
    if folder.is_dir():
        os.utime(folder)
        return folder
    home = folder.parent
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    _forget_old(home)
    draft = Path(tempfile.mkdtemp(prefix="unpacking-", dir=home))
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as packed:
            packed.extractall(draft)
        os.rename(draft, folder)
    except OSError:
        if not folder.is_dir():  # else another worker of this machine was faster
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def folder_of(digest: str) -> Path:
    """Where the workspace of that digest is, once it is unpacked."""
    return cache_folder().absolute() / "workspaces" / digest


def _rules_in(folder: str) -> list[_Rule]:
    try:
        lines = Path(folder, ".gitignore").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [(folder, pathspec.GitIgnoreSpec.from_lines(lines))]


def _ignored(path: str, is_folder: bool, rules: Iterable[_Rule]) -> bool:
    """What the innermost file says that says anything."""
    verdict = False
    for folder, spec in rules:
        name = os.path.relpath(path, folder).replace(os.sep, "/") + ("/" if is_folder else "")
        said = spec.check_file(name).include
        verdict = verdict if said is None else said
    return verdict


def _below(path: str, root: str) -> bool:
    return path.startswith(root.rstrip(os.sep) + os.sep)


def _too_big(root: str) -> WorkspaceError:
    return WorkspaceError(
        f"{root} has more than {MOST_FILES:,} files or {MOST_BYTES >> 20} MiB to send to the cluster: name what models "
        "do not need in .gitignore or `exclude`, or give --shared a folder that all machines see"
    )


def _forget_old(home: Path) -> None:
    for entry in home.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - entry.stat().st_mtime > _KEPT_SECONDS:
                shutil.rmtree(entry, ignore_errors=True)
