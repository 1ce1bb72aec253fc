"""Pages of the documentation site that are made of the project itself, so that none of them can say something else.

Run by mkdocs (`mkdocs.yml`, plugin gen-files): a page a rule, the pitfalls that the tests plant, the kinds of graph
break, a page a command as `--help` says it, the guided demo, the table of settings, the public Python names with their
docstrings, and what README, ARCHITECTURE and their kin say, section by section, with links that lead to pages of the
site. Written by hand are only the pages in `docs/`. Needs no torch; torch's own names of graph breaks are there where
torch is.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import io
import json
import os
import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import inductor_debug
import mkdocs_gen_files
from inductor_debug.cli.commands.upkeep import demo as guided
from inductor_debug.cli.support.subcommands import COMMANDS, module_of, parser_of
from inductor_debug.rules.registry import all_rules
from inductor_debug.rules.words.break_kinds import BY_CALL, CAUSES, UNREACHED, page_of
from inductor_debug.rules.words.break_words import explanation_of
from inductor_debug_schema.settings import SETTINGS

ROOT = Path(__file__).resolve().parents[1]
SECTIONS = {
    "targets": "How a file says what to compile",
    "accelerators": "Accelerators",
    "costs": "See what it costs, at least",
    "survey": "Many models in one table",
    "graphs": "See what the compiler made of it",
    "live-tensors": "What is alive at this line?",
    "comparisons": "Are the numbers right?",
    "reproducers": "Hand it to somebody",
    "scripts": "In your own script",
    "containment": "What your code may do while it is checked",
    "editors": "Editors",
    "speed": "How fast",
    "coverage": "How much is found",
}
"""Sections of the README that are pages below `reference/`."""
DOCUMENTS = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "CHANGELOG.md": "project/changelog.md",
}
FIXTURES = ROOT / "tests" / "fixtures"
EXPECTED = re.compile(r"# expect(?:@(?P<ahead>[+-]\d+))?(?:\[[\w,]+\])?: .+$", re.MULTILINE)
"""What a fixture says that a check tells, at the end of a line or about a later one."""
TOLD = re.compile(r'([a-z][a-z-]+) "')
LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)\s#]+)(#[\w-]+)?(?=\))")
HEADING = re.compile(r"^(#{2,6}) (.+)$", re.MULTILINE)


def main() -> None:
    """Writes every page."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    sections = sections_of(readme)
    pages = {heading: f"reference/{name}.md" for name, heading in SECTIONS.items()}
    for heading, page in pages.items():
        write(page, f"# {heading}\n\n{raised(sections[heading])}", "", pages)
    for document, page in DOCUMENTS.items():
        write(page, (ROOT / document).read_text(encoding="utf-8"), "", pages)
    for page in sorted((ROOT / "docs").rglob("*.md")):
        name = page.relative_to(ROOT / "docs").as_posix()
        write(name, page.read_text(encoding="utf-8"), f"docs/{os.path.dirname(name)}", pages)
    first = readme.partition("\n## ")[0]
    write("index.md", f"{first}\n\n[Get started in five minutes](docs/get-started.md)\n", "", pages)
    demo()
    rules()
    pitfalls()
    breaks()
    commands()
    settings()
    python_names()


def sections_of(readme: str) -> dict[str, str]:
    """The sections of the README by their headings, whose own headings are kept."""
    parts = re.split(r"^## (.+)\n", readme, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def raised(text: str) -> str:
    """A section with its headings one level up, as those of a page."""
    return HEADING.sub(lambda match: f"{match[1][1:]} {match[2]}", text)


def write(page: str, text: str, folder: str, pages: dict[str, str]) -> None:
    """Writes a page whose links are told from a folder of the repository; pictures come along."""

    def moved(match: re.Match[str]) -> str:
        target = os.path.normpath(os.path.join(folder, match[1]))
        anchor = match[2] or ""
        return os.path.relpath(site_path(target, anchor, pages), os.path.dirname(page) or ".") + (
            "" if target == "README.md" else anchor
        )

    with mkdocs_gen_files.open(page, "w", encoding="utf-8") as file:
        file.write(LINK.sub(moved, text))


def site_path(target: str, anchor: str, pages: dict[str, str]) -> str:
    """Where a file of the repository is on the site; the file itself, as it is, where it is no page."""
    if target == "README.md":
        slug = anchor.removeprefix("#")
        return next((page for heading, page in pages.items() if slug_of(heading) == slug), "index.md")
    if target in DOCUMENTS:
        return DOCUMENTS[target]
    if target.startswith(("docs/", "reference/")):
        return target.removeprefix("docs/")
    source = ROOT / target
    if source.is_dir():
        source = next(iter(sorted(source.glob("*.py"))), source / "README.md")
    copy = f"files/{source.relative_to(ROOT).as_posix()}"
    # What is no picture is shown as a text, whatever the server makes of its ending.
    copy += "" if source.suffix in (".png", ".svg") else ".txt"
    with mkdocs_gen_files.open(copy, "wb") as file:
        file.write(source.read_bytes())
    return copy


def slug_of(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-"))


def demo() -> None:
    """The steps of the guided demo, and its model."""
    with mkdocs_gen_files.open("demo.md", "w", encoding="utf-8") as page:
        page.write(f"# Guided demo\n\n```console\n$ inductor-debug demo\n```\n\n{guided.DESCRIPTION}\n")
        model = guided.all_files()["model.py"].decode()
        page.write(f"The model, `model.py`:\n\n```py\n{model}```\n")
        for number, step in enumerate(guided.all_steps(), start=1):
            command = shlex.join(["inductor-debug", *step.arguments])
            page.write(f"\n## {number}. {step.title}\n\n{step.what}\n\n```console\n$ {command}\n```\n\n{step.look}\n")


def rules() -> None:
    """A page for each rule, and the list of them."""
    with mkdocs_gen_files.open("reference/rules/index.md", "w") as index:
        index.write("# Rules\n\n`inductor-debug explain RULE` prints the same pages.\n\n| rule | finds |\n|---|---|\n")
        for rule in all_rules():
            index.write(f"| [`{rule.id}`]({rule.id}.md) | {rule.summary} |\n")
            with mkdocs_gen_files.open(f"reference/rules/{rule.id}.md", "w") as page:
                page.write(rule.page.text)


def pitfalls() -> None:
    """What the tests plant, and where a check tells of it; what a fix makes of it, as the tests prove it."""
    with mkdocs_gen_files.open("reference/pitfalls.md", "w") as page:
        page.write(
            "# Pitfalls\n\nWhat people stumble over with torch.compile and torch.export, as code that the project's "
            "tests run: each `# ←` is a finding of `inductor-debug check` at that line, by its rule. Below are the "
            "quick fixes, as the tests prove them.\n"
        )
        for fixture in sorted((FIXTURES / "pitfalls").glob("*.py")):
            code = fixture.read_text(encoding="utf-8")
            title = ast.get_docstring(ast.parse(code)) or ""
            rules = dict.fromkeys(each for said in EXPECTED.finditer(code) for each in TOLD.findall(said[0]))
            links = ", ".join(f"[`{rule}`](rules/{rule}.md)" for rule in rules) or "nothing"
            page.write(f"\n## {fixture.stem.replace('_', ' ').capitalize()}\n\n{title} Told: {links}.\n\n")
            page.write(f"```py\n{shown(code)}```\n")
        for pair in sorted((FIXTURES / "fixes").iterdir()):
            texts = [(pair / name).read_text(encoding="utf-8").splitlines() for name in ("before.py", "after.py")]
            changes = "\n".join(list(difflib.unified_diff(*texts, lineterm="", n=2))[2:])
            page.write(f"\n## A fix: {pair.name}\n\n```diff\n{changes}\n```\n")


def shown(code: str) -> str:
    """The code of a fixture without what only tests need; what is told stands at the end of its line, by rule."""
    lines: list[str] = []
    ahead: dict[int, list[str]] = {}
    for line in code.splitlines():
        match = EXPECTED.search(line)
        told = TOLD.findall(match[0]) if match is not None else []
        rest = line[: match.start()].rstrip() if match is not None else line
        if match is not None and match["ahead"]:
            about = len(lines) + int(match["ahead"]) - (not rest and int(match["ahead"]) > 0)
            if about < len(lines):
                lines[about] += f"  # ← {', '.join(told)}"
            ahead.setdefault(about, []).extend(told)
            told = []
        told += ahead.pop(len(lines), []) if rest else []
        if rest or match is None:
            lines.append(f"{rest}  # ← {', '.join(told)}" if told else rest)
    lines = [line for line in lines if not line.startswith("# case:")]
    start = ast.parse(code).body
    cut = (start[0].end_lineno or 0) if ast.get_docstring(ast.parse(code)) is not None else 0
    return "\n".join(lines[cut:]).strip("\n") + "\n"


def breaks() -> None:
    """Every kind of graph break of torch's registry, in the words of our findings, by cause."""
    torch = find_spec("torch")
    registry = Path(torch.origin).parent / "_dynamo" / "graph_break_registry.json" if torch and torch.origin else None
    known = json.loads(registry.read_text(encoding="utf-8")) if registry is not None and registry.is_file() else {}
    with mkdocs_gen_files.open("reference/graph-breaks.md", "w") as page:
        page.write(
            "# Graph breaks\n\nThe kinds of break that torch.compile knows, by the ids of torch's registry, and what "
            "`inductor-debug` says of them: a finding [`graph-break`](rules/graph-break.md) has the expression in the "
            "place of `…`, and a link to torch's page. `inductor-debug explain GB0264` says the same of one.\n"
        )
        ids = {cause: [number for number, other in CAUSES.items() if other is cause] for cause in CAUSES.values()}
        for numbers in (*ids.values(), sorted(BY_CALL)):
            page.write(f"\n## {explanation_of(numbers[0])}\n\n")
            page.writelines(f"- [{number}]({page_of(number)}){named(number, known)}\n" for number in sorted(numbers))
        page.write("\n## Kinds that code of yours is not told of\n\n| kind | it is |\n|---|---|\n")
        for number, why in sorted(UNREACHED.items()):
            page.write(f"| [{number}]({page_of(number)}){named(number, known)} | {why} |\n")


def named(number: str, known: dict[str, list[dict[str, str]]]) -> str:
    """What torch calls a kind of break, where there is a torch that says so."""
    versions = known.get(number)
    return " " + re.sub(r"([_*<|])", r"\\\1", versions[0]["Gb_type"]) if versions else ""


def commands() -> None:
    """What `--help` says of each command."""
    os.environ["COLUMNS"] = "110"
    with mkdocs_gen_files.open("reference/commands.md", "w") as page:
        page.write("# Commands\n\n")
        page.writelines(f"- [`{name}`](#{name}): {command.summary}\n" for name, command in COMMANDS.items())
        for name in COMMANDS:
            parser = parser_of({name: module_of(name)})
            page.write(f"\n## {name}\n\n```text\n{help_of(parser, name)}\n```\n")


def help_of(parser: argparse.ArgumentParser, name: str) -> str:
    """The help of a subcommand."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        parser.parse_args([name, "--help"])
    return said.getvalue().rstrip()


def settings() -> None:
    """Every setting: its key in `pyproject.toml`, its key in the editor, and what it means."""
    with mkdocs_gen_files.open("reference/settings.md", "w") as page:
        page.write(
            "# Settings\n\nNearest first: the command line, the editor's settings, environment variables, "
            "`[tool.inductor-debug]` in the nearest `pyproject.toml`.\n\n"
            "| `pyproject.toml` | editor | meaning |\n|---|---|---|\n"
        )
        for setting in SETTINGS:
            project = f"`{setting.name}`" if setting.project else ""
            editor = f"`inductorDebug.{setting.editor_key}`" if setting.scope else ""
            meaning = " ".join(filter(None, (setting.meaning, setting.unset))).replace("|", "\\|")
            choices = ", ".join(f"`{choice.value}`" for choice in setting.choices)
            page.write(f"| {project} | {editor} | {meaning}{f' One of {choices}.' if choices else ''} |\n")


def python_names() -> None:
    """The public names of the package, from their docstrings."""
    with mkdocs_gen_files.open("reference/python.md", "w") as page:
        page.write("# Python\n\n`import inductor_debug` imports no torch; each name loads what it needs.\n")
        for name in sorted(set(inductor_debug.__all__) - {"__version__"}):
            page.write(f"\n::: inductor_debug.{name}\n")


main()
