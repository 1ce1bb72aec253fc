"""Why nothing was inferred, as a value that the engine can keep, and the key of all that could change it.

A refusal is known again only where the class, whatever it names, the calls of it, the file's own statements and the
project's imported files are what they were. Refusals that cost little, that the clock decided or that files and
connections had a part in are not kept at all. A restart of the daemon's analyses forgets them, as it does all hints.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import sys
from dataclasses import dataclass
from typing import Any

from inductor_debug_schema import InferenceHint, Inferred, WireError, from_wire, to_wire

from inductor_debug.capture.failures.failures import describe
from inductor_debug.capture.inference import hints
from inductor_debug.capture.inference.classes import outline
from inductor_debug.capture.inference.construction.call_sites import calls_in_project
from inductor_debug.capture.inference.construction.given_arguments import Construction
from inductor_debug.capture.inference.judging.blame import Headless
from inductor_debug.capture.inference.judging.fallbacks import comes_of_a_fallback
from inductor_debug.capture.inference.search.input_search import NotFound
from inductor_debug.capture.inference.specs.rendering import arguments_of, directive_of, inputs_of, signature_of
from inductor_debug.capture.inference.values.symbolic_values import text_of
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.absent_libraries import AbsentError
from inductor_debug.source.notebooks.reading import line_in_words
from inductor_debug.system.wall_clock import ClockReading

WORTH_KEEPING_SECONDS = 0.1
"""A refusal that took less is found out again."""
_MARK = "refused "


class NotInferableError(Exception):
    """Nothing could be inferred; the message says why. `__cause__` is what user code raised, if it did.

    `lasting` says that the same would come of trying again, `blames` that what user code raised is its own fault,
    `furthest` is the call that came furthest, `line` (from 1) the definition at fault where nothing was raised.
    """

    def __init__(
        self,
        reason: str,
        *,
        lasting: bool = True,
        blames: bool = False,
        furthest: Inferred | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason, self.lasting, self.blames, self.furthest, self.line = reason, lasting, blames, furthest, line


class KnownRefusalError(NotInferableError):
    """An earlier job could infer nothing from the same text. Has no message, so that nobody reads one for an error."""

    def __init__(self, reason: str, furthest: Inferred | None = None) -> None:
        super().__init__(reason, lasting=False, furthest=furthest)
        self.args = ()


def refuse_headless(lacking: Headless | None) -> None:
    """Blames a method that has no parameter for its own object.

    Raises:
        NotInferableError: there is one.
    """
    if lacking is not None:
        why = f"`{lacking.name}` has no parameter `self`, which Python passes first"
        raise NotInferableError(why, blames=True, line=lacking.line)


def why_not_found(found: NotFound, construction: Construction) -> NotInferableError:
    """Why no inputs were found for a class that is built so, in words for users, with the call that came furthest."""
    if found.best is None:
        why = f"{describe(found.error).rstrip('.')}" if found.error is not None else "nothing could be tried"
        return NotInferableError(f"no inputs were found: {why}")
    guess = found.best.guess
    signature, init = signature_of(guess, {}), arguments_of(construction.arguments)
    directive = directive_of(guess, init, prepared=bool(construction.prepared))
    furthest = Inferred(signature, inputs_of(guess), init, directive, list(construction.invented))
    given = f"with {signature} " if signature else ""
    if construction.prepared:
        given = f"{given}after {', '.join(f'`{call}`' for call in construction.prepared)} "
    if type(found.error) is TimeoutError:
        return NotInferableError(f"no inputs were found in time; {given}it did not end", furthest=furthest)
    assert found.best.error is not None
    line = line_in_words(found.best.place[-1][0], found.best.place[-1][1] - 1) if found.best.place else ""
    said = describe(found.best.error).rstrip(".")
    if isinstance(found.best.error, AbsentError):  # whatever it is given
        return NotInferableError(f"{said}, which {line} needs" if line else said, furthest=furthest)
    if comes_of_a_fallback(found.best.error):
        given, said = "", f"{said}, for want of what the file tries to import"
    reached = f"it came as far as {line}, {said}" if line else f"it came as far as {said}"
    return NotInferableError(f"no inputs were found; {given}{reached}", furthest=furthest)


@dataclass
class Place:
    """The file that a definition is in. `since` is when its job began."""

    tree: ast.Module
    text: str
    path: str
    project_root: str
    since: ClockReading


def key_of(name: str, value: Any, place: Place) -> str:
    """A digest of what a refusal to infer for `name`, which is `value`, rests on; empty where that is not known.

    It is not known of what is no definition of the file, nor where an imported file changed since the job began.
    """
    own, imported = hints.key_of(name, place.tree, place.text), _imported(place)
    if not own or imported is None:
        return ""
    parts = [own, *imported]
    lines = place.text.splitlines()
    around = _around(name, place.tree)
    parts += ["\n".join(lines[statement.lineno - 1 : statement.end_lineno]) for statement in around]
    if isinstance(value, type):
        calls = [[args, kwargs] for args, kwargs in calls_in_project(place.project_root, place.path, name)]
        parts.append(text_of(calls, {}))
    digest = hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16)
    return _MARK + digest.hexdigest()


def _around(name: str, tree: ast.Module) -> list[ast.stmt]:
    """The statements of a file that may tell how `name` is built: all but the definitions that do not mention it.

    Those that mention such a definition may tell what it is given.
    """
    defined = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    names, before = {name} | _namesakes(name, tree), 0
    while len(names) > before:
        before = len(names)
        names |= {item.name for item in tree.body if isinstance(item, defined) and _mentions(item, names)}
    # What those call may give the arguments.
    names |= outline(tree).reachable(sorted(names))
    return [item for item in tree.body if not isinstance(item, defined) or item.name in names - {name}]


def _namesakes(name: str, tree: ast.Module) -> set[str]:
    """Classes that arguments of the constructor of `name` are called after: they may be what is given."""
    kind = next((item for item in tree.body if isinstance(item, ast.ClassDef) and item.name == name), None)
    taken = {item.arg.replace("_", "").lower() for item in ast.walk(kind) if isinstance(item, ast.arg)} if kind else ()
    return {item.name for item in tree.body if isinstance(item, ast.ClassDef) and item.name.lower() in taken}


def _mentions(statement: ast.stmt, names: set[str]) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id in names)
        or (isinstance(node, ast.Attribute) and node.attr == "add_argument")
        for node in ast.walk(statement)
    )


def _imported(place: Place) -> list[str] | None:
    """The project's own files that are imported, each with its size and the time of its last change.

    None where one of them is gone, or may be another than the one that was imported.
    """
    if place.since.clock_was_set():
        return None
    found = []
    root = os.path.join(place.project_root, "")
    for module in list(sys.modules.values()):
        file = foreign.file_of(module)
        if file is not None and file.startswith(root) and file != place.path and "site-packages" not in file:
            try:
                status = os.stat(file)
            except OSError:
                return None
            if status.st_mtime_ns >= place.since.wall:
                return None
            found.append(f"{file} {status.st_size} {status.st_mtime_ns}")
    return sorted(found)


def written(name: str, value: Any, place: Place, cause: BaseException, seconds: float) -> InferenceHint | None:
    """A refusal for the next job on this file; None where it is not worth keeping, or not certain to come again.

    Args:
        name: the target.
        value: what it is in the executed file.
        place: where it is defined.
        cause: what was raised.
        seconds: how long it took to be found out.
    """
    if seconds < WORTH_KEEPING_SECONDS or not isinstance(cause, NotInferableError) or not cause.lasting or cause.blames:
        return None
    key = key_of(name, value, place) if not isinstance(cause.__cause__, OSError) else ""
    furthest = to_wire(cause.furthest) if cause.furthest is not None else None
    return InferenceHint(name, key, json.dumps({"refused": cause.reason, "furthest": furthest})) if key else None


def known(hint: InferenceHint | None, value: Any, place: Place) -> KnownRefusalError | None:
    """The refusal that `hint` keeps, if nothing that it rests on has changed; else None."""
    if hint is None or not hint.key.startswith(_MARK) or hint.key != key_of(hint.target, value, place):
        return None
    try:
        content = json.loads(hint.answer)
        furthest = from_wire(Inferred, content["furthest"]) if content["furthest"] is not None else None
        return KnownRefusalError(str(content["refused"]), furthest)
    except (ValueError, KeyError, TypeError, WireError):
        return None
