"""Whoever changes the wire is told to generate the other languages' view of it again."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import jsonschema
import msgpack
import pytest
from inductor_debug_schema import from_wire, to_wire

SCHEMA_FOLDER = Path(__file__).resolve().parents[2] / "shared_schema"
GOLDEN = sorted((SCHEMA_FOLDER / "golden").glob("*.msgpack"))


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    specification = importlib.util.spec_from_file_location("generate", SCHEMA_FOLDER / "generate.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["generate"] = module
    specification.loader.exec_module(module)
    return module


def test_the_generated_files_are_up_to_date(generate: ModuleType) -> None:
    names = [str(path.relative_to(SCHEMA_FOLDER)) for path in generate.stale()]
    assert not names, "run `python shared_schema/generate.py`"


def test_every_type_of_the_wire_has_a_golden_vector(generate: ModuleType) -> None:
    names = {kind.__name__ for kind in generate.public_types() if hasattr(kind, "__dataclass_fields__")}
    assert {path.stem for path in GOLDEN} == names


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_vectors_are_read_and_written_byte_for_byte(path: Path, generate: ModuleType) -> None:
    kind = next(kind for kind in generate.public_types() if kind.__name__ == path.stem)
    data = msgpack.unpackb(path.read_bytes())
    values = [from_wire(kind, item) for item in data]
    assert msgpack.packb([to_wire(value) for value in values], use_bin_type=True) == path.read_bytes()


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_vectors_fit_the_json_schema(path: Path) -> None:
    schema = json.loads((SCHEMA_FOLDER / "generated" / "wire.schema.json").read_text(encoding="utf-8"))
    document = {"$ref": f"#/$defs/{path.stem}", "$defs": schema["$defs"]}
    validator = jsonschema.Draft202012Validator(document)
    for value in msgpack.unpackb(path.read_bytes()):
        plain = json.loads(json.dumps(value, default=lambda content: content.decode("latin-1")))
        assert list(validator.iter_errors(plain)) == []


def test_a_type_that_is_not_exported_is_refused(generate: ModuleType) -> None:
    class Stranger:
        pass

    with pytest.raises(TypeError, match="does not export"):
        generate._typescript(Stranger)
