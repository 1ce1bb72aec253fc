"""The classes that benchmarks of inference measure: where their text comes from and what is true of them.

A corpus is a folder with `corpus/*.py`, the true inputs in `truth.py`, how classes are called in `calls.py`,
transformers' architectures in `architectures.py` and torchvision's models in `vision_models.py`. Any other folder is
one of files in the convention of KernelBench: `get_inputs()` and `get_init_inputs()` tell how the class `Model` (or the
last of the file) is called. Nothing of the truth is ever in a text that the tool sees, and nothing here imports torch.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import tokenize
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeVar

Key = tuple[str, str]
"""A file and a class in it."""
Truth = dict[Key, list[str]]
"""The true inputs of each class, written as in signatures."""
_CONVENTION = ("get_inputs", "get_init_inputs")
_REGISTERS = re.compile(r"^@register_model\b.*$", re.MULTILINE)
"""What a library knows its models by: a second one of a name is refused."""
_RELATIVE = re.compile(r"^(\s*)from (\.+)([\w.]*) import", re.MULTILINE)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CorpusCase:
    """One class, the text that has it, and how it is really built and called (`processes.true_runs.Call`)."""

    group: str
    label: str
    path: str
    text: str
    name: str
    build: str
    call: str
    tensors: list[str]
    setup: str = ""


def is_corpus(folder: Path) -> bool:
    """Whether a folder has the truth of its classes in tables."""
    return (folder / "truth.py").is_file()


def written(folder: Path) -> tuple[dict[str, str], Truth]:
    """The texts of the classes written for the corpus, and their truth; parts of other classes have none."""
    module = load(folder / "truth.py")
    files: dict[str, str] = {}
    truth: Truth = {}
    for path in sorted((folder / "corpus").glob("*.py")):
        file = str(path.resolve())
        files[file] = path.read_text(encoding="utf-8")
        truth |= {(file, kind): tensors for kind, tensors in module.truth(path.stem).items()}
    return files, truth


def architectures(folder: Path, scratch: Path) -> tuple[dict[str, str], Truth]:
    """The same for transformers' architectures, whose files are written to `scratch`."""
    files: dict[str, str] = {}
    truth: Truth = {}
    for name, (text, tensors) in load(folder / "architectures.py").architectures().items():
        path = scratch / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        files[str(path.resolve())] = text
        truth[str(path.resolve()), "Small"] = tensors
    return files, truth


def written_cases(folder: Path) -> list[CorpusCase]:
    """The classes written for the corpus with their real calls."""
    files, truth = written(folder)
    module = load(folder / "calls.py")
    cases = []
    for (path, name), tensors in truth.items():
        build, call = module.calls(Path(path).stem).get(name, (f"{name}()", "*t"))
        real = [item for item in tensors if item != "_"]
        cases.append(CorpusCase("written", name, path, files[path], name, build, call, real))
    return cases


def architecture_cases(folder: Path, scratch: Path) -> list[CorpusCase]:
    """Transformers' own source of each architecture as a user's file, small; none where it is not installed."""
    models = _models("transformers")
    if models is None:
        return []
    cases = []
    both = load(folder / "calls.py").ENCODER_AND_DECODER
    for name, (text, tensors) in load(folder / "architectures.py").architectures().items():
        source = _defining(models, name)
        if source is not None:
            call = both if len(tensors) == 2 and tensors[1].startswith("i64") else "*t"
            own = text.replace(f", {name}", "", 1)
            cases.append(_library_case("transformers", name, source, own, scratch, call, tensors))
    return cases


def torchvision_cases(folder: Path, scratch: Path) -> list[CorpusCase]:
    """The same for torchvision's models."""
    models = _models("torchvision")
    if models is None:
        return []
    return [
        _library_case("torchvision", file.replace("/", "_"), models / f"{file}.py", text, scratch, "*t", tensors)
        for file, (text, tensors) in load(folder / "vision_models.py").models().items()
    ]


def _library_case(
    library: str, name: str, source: Path, own: str, scratch: Path, call: str, tensors: list[str]
) -> CorpusCase:
    """A file of a library with a class `Small` of ours at its end."""
    path = scratch / f"{name}.py"
    whole = f"{_standing_alone(source, library)}\n\n{own}"
    path.write_text(whole, encoding="utf-8")
    return CorpusCase(library, name, str(path.resolve()), whole, "Small", "Small()", call, tensors)


def folder_cases(folder: Path) -> list[CorpusCase]:
    """The class of each file that has `get_inputs`, which is cut out of what the tool sees."""
    found = (_folder_case(folder.name, path) for path in sorted(folder.rglob("*.py")))
    return [case for case in found if case is not None]


def evenly(items: list[T], count: int) -> list[T]:
    """So many of them, evenly taken; all where `count` is 0."""
    if not 0 < count < len(items):
        return items
    return [items[index * len(items) // count] for index in range(count)]


def load(path: Path) -> ModuleType:
    """Executes a table of the corpus."""
    spec = importlib.util.spec_from_file_location(f"inference_corpus_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _models(library: str) -> Path | None:
    spec = importlib.util.find_spec(library)
    return Path(spec.origin).parent / "models" if spec is not None and spec.origin is not None else None


def _defining(models: Path, name: str) -> Path | None:
    """The modelling file that defines a class."""
    wanted = f"\nclass {name}("
    return next((path for path in sorted(models.glob("*/modeling_*.py")) if wanted in path.read_text("utf-8")), None)


def _standing_alone(source: Path, library: str) -> str:
    """The text of a library's file with its relative imports made absolute."""
    parts = source.parent.parts
    package = parts[len(parts) - 1 - parts[::-1].index(library) :]

    def absolute(found: re.Match[str]) -> str:
        whole = [*package[: len(package) + 1 - len(found[2])], *filter(None, [found[3]])]
        return f"{found[1]}from {'.'.join(whole)} import"

    return _RELATIVE.sub(absolute, _REGISTERS.sub("", source.read_text(encoding="utf-8")))


def _folder_case(group: str, path: Path) -> CorpusCase | None:
    try:
        with tokenize.open(path) as stream:
            text = stream.read()
        tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError):
        return None
    hidden = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in _CONVENTION]
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    if not classes or "get_inputs" not in [node.name for node in hidden]:
        return None
    lines = text.split("\n")
    setup = []
    for node in hidden:
        for number in range(node.lineno - 1, node.end_lineno or node.lineno):
            setup.append(lines[number])
            lines[number] = ""
    name = "Model" if "Model" in classes else classes[-1]
    build = f"{name}(*get_init_inputs())" if len(hidden) == len(_CONVENTION) else f"{name}()"
    label = f"{path.stem}.{name}"
    return CorpusCase(
        group, label, str(path.resolve()), "\n".join(lines), name, build, "*get_inputs()", [], "\n".join(setup)
    )
