"""Says what of the wire would no longer be understood by a peer of the last released version, in either direction.

An editor and a daemon one minor version apart work together (`released/` has the shapes of the last one that was
released): what is new may be missing, and what is gone may still be said. Whoever has to break that raises
`PROTOCOL_VERSION`, on both sides, and writes the shapes anew:

    python shared_schema/compatibility.py --release
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import wire_shapes
from wire_shapes import Shapes

_SPARED = frozenset(kind.__name__ for kind in wire_shapes.TOLD) - {"AnalysisNotification", "PartialResult"}
"""What a member that is not known cannot spoil: what is read in parts, and files, which answer what was asked for."""
RELEASED = Path(__file__).resolve().parent / "released" / "shapes.json"


def now() -> dict[str, Shapes]:
    """The shapes of this version, by direction."""
    return {"told": wire_shapes.told(), "asked": wire_shapes.asked()}


def released() -> dict[str, Shapes]:
    """Those of the last version that was released."""
    return {name: Shapes(**said) for name, said in json.loads(RELEASED.read_text(encoding="utf-8")).items()}


def broken(before: dict[str, Shapes], after: dict[str, Shapes]) -> list[str]:
    """What an editor of one version and a daemon of the other would not understand, in words."""
    return [*_told(before["told"], after["told"]), *_asked(before["asked"], after["asked"])]


def _told(before: Shapes, after: Shapes) -> Iterator[str]:
    yield from _roots(before, after)
    needed = _needed(after)
    for enum, members in after.enums.items():
        if enum in needed and (new := [member for member in members if member not in before.enums.get(enum, members)]):
            yield f"{enum} has new members, {new}, and older editors cannot do without one"
    for record, fields in after.records.items():
        earlier = before.records.get(record, fields)
        for field, shape in fields.items():
            if not field.endswith("?") and field not in earlier:
                yield f"{record}.{field} is required, and older daemons do not tell it"
            elif field in earlier and not _fits(earlier[field], shape, dispensable=field.endswith("?")):
                yield f"{record}.{field} was {earlier[field]} and is {shape}"
        for field in earlier.keys() - fields.keys():
            if not field.endswith("?"):
                yield f"{record}.{field} is not always told any more, and older editors require it"


def _asked(before: Shapes, after: Shapes) -> Iterator[str]:
    # A request may have become one of another name, which is read as the earlier one was.
    renamed = {
        after.roots[name]: shape
        for name, shape in before.roots.items()
        if isinstance(shape, str) and shape in before.records and after.roots.get(name) in after.records
    }
    yield from _roots(before, after, spared=frozenset(renamed.values()))
    for enum, members in before.enums.items():
        if gone := [member for member in members if member not in after.enums.get(enum, members)]:
            yield f"{enum} lacks {gone}, which older editors ask for"
    for record, fields in after.records.items():
        known = before.records.get(record) or before.records.get(renamed.get(record, ""), fields)
        earlier = {field.rstrip("?"): shape for field, shape in known.items()}
        names = {field.rstrip("?") for field in fields}
        yield from (f"{record}.{field} is gone, and older editors send it" for field in earlier.keys() - names)
        for field, shape in fields.items():
            name = field.rstrip("?")
            if name not in earlier and not field.endswith("?"):
                yield f"{record}.{field} is required, and older editors do not send it"
            elif name in earlier and not _fits(earlier[name], shape, dispensable=True):
                yield f"{record}.{name} was {earlier[name]} and is {shape}"


def _roots(before: Shapes, after: Shapes, *, spared: frozenset[Any] = frozenset()) -> Iterator[str]:
    for name, shape in before.roots.items():
        if after.roots.get(name) != shape and not (shape in spared and after.roots.get(name) in after.records):
            yield f"{name} was {shape} and is {after.roots.get(name)}"


def _fits(before: Any, after: Any, *, dispensable: bool) -> bool:
    """Whether a value of the later shape is understood as the earlier one, or done without."""
    earlier, later = _choices(before), _choices(after)
    return later == earlier or (all(one in later for one in earlier) and (dispensable or "null" in earlier))


def _choices(shape: Any) -> list[Any]:
    return sorted(shape[1:] if isinstance(shape, list) and shape[0] == "or" else [shape], key=json.dumps)


def _needed(shapes: Shapes) -> set[str]:
    """The names of all without which something that is told as a whole cannot be read."""
    found: set[str] = set()
    left = [shape for name, shape in shapes.roots.items() if isinstance(shape, str) and name not in _SPARED]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            fields = shapes.records.get(name, {})
            left += [shape for field, shape in fields.items() if isinstance(shape, str) and not field.endswith("?")]
    return found


def main() -> int:
    """Tells what is broken (exit code 1), or takes the shapes of now for those of a release."""
    if "--release" in sys.argv[1:]:
        shapes = {name: dataclasses.asdict(said) for name, said in now().items()}
        RELEASED.parent.mkdir(exist_ok=True)
        RELEASED.write_text(json.dumps(shapes, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return 0
    problems = broken(released(), now())
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
