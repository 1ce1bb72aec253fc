"""The pages of case studies, made of kept facts and of the files themselves: `docs/case-studies`."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from inductor_debug_benchmarks.case_studies.studies import ROOT, CaseFacts, CaseStudy, kept

PAGES = ROOT / "docs" / "case-studies"


def pages_of(studies: Sequence[CaseStudy]) -> dict[Path, str]:
    """The texts of all pages by path, of those studies that have been run."""
    known = [(study, facts) for study in studies if (facts := kept(study)) is not None]
    found = {PAGES / f"{study.name}.md": _page(study, facts) for study, facts in known}
    listed = [(study, facts, ", ".join(map(" ".join, facts.versions.items()))) for study, facts in known]
    found[PAGES / "index.md"] = _rendered(ROOT, "index.md.j2", {"studies": listed})
    return found


def _page(study: CaseStudy, facts: CaseFacts) -> str:
    before, after = ((study.folder / name).read_text(encoding="utf-8") for name in ("before.py", "after.py"))
    changed = difflib.unified_diff(before.splitlines(), after.splitlines(), "before.py", "after.py", "", "", 1, "")
    known = {
        **facts.told,
        "study": study,
        "versions": ", ".join(map(" ".join, facts.versions.items())),
        "before": before.rstrip(),
        "difference": "\n".join(changed),
        "folder": f"../../{study.folder.relative_to(ROOT).as_posix()}",
    }
    return _rendered(study.folder, "story.md.j2", known)


def _rendered(folder: Path, template: str, known: dict[str, object]) -> str:
    loader = FileSystemLoader([folder, Path(__file__).parent])
    environment = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, autoescape=False)
    return environment.get_template(template).render(**known).strip() + "\n"
