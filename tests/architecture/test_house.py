"""The floor plan: small packages that say what they are for, and no two files of one name with different subjects."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOPS = (
    ROOT / "daemon" / "inductor_debug",
    ROOT / "shared_schema" / "inductor_debug_schema",
    ROOT / "benchmarks" / "inductor_debug_benchmarks",
)
MOST_MODULES = 21
ONE_SUBJECT = {
    "alignment": "the rule and its fixes",
    "bug_report": "the report and its command",
    "dtype": "the rule and its fixes",
    "guards": "what guards are, and code behind one",
    "layout": "the rule and its fixes",
    "protocol": "the words of a wire: LSP's and that of workers",
    "codec": "bytes of recordings and of the wire",
    "settings": "their table and what they are for a file",
    "tensors": "the command and its answer",
    "transfers": "the log and its command",
    "untaken": "what was not taken, found and told",
}
"""Names of several files, which are about one thing."""
PACKAGES = [path.parent for top in TOPS for path in sorted(top.rglob("__init__.py"))]


def test_a_package_can_be_seen_at_once_and_says_what_it_is_for() -> None:
    modules = {package: [path for path in package.glob("*.py") if path.stem != "__init__"] for package in PACKAGES}
    large = [str(package) for package, paths in modules.items() if len(paths) > MOST_MODULES]
    assert large == [], "make rooms of them"
    texts = {package: (package / "__init__.py").read_text(encoding="utf-8") for package in PACKAGES}
    assert [str(package) for package, text in texts.items() if not ast.get_docstring(ast.parse(text))] == []


def test_no_name_of_a_file_has_two_subjects() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for package in PACKAGES:
        for path in package.glob("*.py"):
            if not path.name.startswith("__"):
                homes[path.stem].append(str(path.relative_to(ROOT)))
    several = {name: paths for name, paths in homes.items() if len(paths) > 1}
    assert {name: paths for name, paths in several.items() if name not in ONE_SUBJECT} == {}
    assert [name for name in ONE_SUBJECT if name not in several] == []


def test_no_two_files_of_tests_have_one_name() -> None:
    """Pytest refuses the second of them (`import file mismatch`), and only where both are collected in one process."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py") if "fixtures" not in path.parts)
    assert [name for name, times in names.items() if times > 1] == []


def test_lines_and_code_units_are_counted_in_one_room() -> None:
    counting = re.compile(r"0xFFFF|\\uffff|\\r\\n\|", re.IGNORECASE)
    paths = [path for path in TOPS[0].rglob("*.py") if "source" not in path.relative_to(TOPS[0]).parts]
    assert [str(path) for path in paths if counting.search(path.read_text(encoding="utf-8"))] == []


def test_no_name_of_a_class_has_two_subjects() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in (path for top in TOPS for path in top.rglob("*.py") if "models" not in path.parts):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and "rehearsal" not in path.name:
                homes[node.name].append(str(path.relative_to(ROOT)))
    several = {name: paths for name, paths in homes.items() if len(paths) > 1}
    assert several.pop("Blame")  # of a comparison, which is public, and of a class whose inputs were inferred
    assert several == {}
