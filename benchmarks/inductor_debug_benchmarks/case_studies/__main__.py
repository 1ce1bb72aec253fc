"""`npm run case-studies`: runs the studies anew and writes their pages; with `--check` says which numbers changed."""

from __future__ import annotations

import argparse
import sys

from inductor_debug_benchmarks.case_studies.pages import PAGES, pages_of
from inductor_debug_benchmarks.case_studies.studies import StudyError, all_studies, changes, keep, kept, run


def main() -> int:
    """0 where nothing changed, or all was written; 1 where something did, or is no longer so."""
    parser = argparse.ArgumentParser(prog="npm run case-studies --", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="STUDY", help="only these (all)")
    parser.add_argument("--check", action="store_true", help="write nothing, and fail where a number or page changed")
    given = parser.parse_args()
    studies = list(all_studies())
    if unknown := set(given.names) - {study.name for study in studies}:
        parser.error(f"no such study: {', '.join(sorted(unknown))}")
    wrong = False
    for study in studies:
        if given.names and study.name not in given.names:
            continue
        try:
            facts = run(study)
        except StudyError as error:
            print(error)
            wrong = True
            continue
        said = changes(study, facts)
        last = kept(study)
        if last is not None and last.versions != facts.versions:
            print(f"{study.name}: was run with {dict(last.versions)}, now with {dict(facts.versions)}")
        print("\n".join(said) if said else f"{study.name}: every number is as it was")
        wrong |= given.check and bool(said)
        if not given.check:
            keep(study, facts)
    for path, text in pages_of(studies).items():
        if not given.check:
            PAGES.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            print(f"{path.name} is not what the kept facts say: npm run case-studies")
            wrong = True
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
