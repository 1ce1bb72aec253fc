"""Findings about what keeps a file from being analysed: syntax, imports, exceptions before any target runs.

One place decides which rule a fault belongs to and which words the user reads. What a running target raises is told by
its stages (`failures`).
"""

from __future__ import annotations

import argparse
import os
import re
import traceback
import warnings
from dataclasses import replace

from inductor_debug_schema import Finding, JobRequest, Location, Position, Range, Related, Severity, Stage, UnknownName

from inductor_debug.accelerators.guarded_adapter import problems_of
from inductor_debug.accelerators.profile import Profile
from inductor_debug.capture.entry.main_program import Followed, summary
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.attributes.missing import MissingAttribute
from inductor_debug.capture.failures.broken_libraries import broken_library, imported_library, missing_toolkit
from inductor_debug.capture.failures.failures import (
    describe,
    place,
    with_refused_division,
    with_unknown_name,
    with_wrong_call,
)
from inductor_debug.capture.failures.fractional_sizes import refused_division
from inductor_debug.capture.failures.misspellings import unknown_name
from inductor_debug.capture.failures.wrong_calls.binding import wrong_call
from inductor_debug.capture.runtime.containment import refusal_of
from inductor_debug.capture.runtime.running_cells import is_notebook
from inductor_debug.capture.targets.candidates import Complaint
from inductor_debug.capture.targets.environment_variables import lacking_variable
from inductor_debug.capture.targets.lacking_modules import builder_of, lacking_module, submodule_of
from inductor_debug.capture.tensors.fake_mode import is_limitation
from inductor_debug.source.directives import name_range
from inductor_debug.source.source_text import SourceText
from inductor_debug.source.syntax_tree import tree_of
from inductor_debug.source.text_lines import utf16_length
from inductor_debug.system.torch_names import TorchDiffersError

_WEIGHTS_HINT = " Checks need no weights: build the model without loading them, or give another target."
_WEIGHTS = (".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".h5", ".npz", ".npy", ".tar", ".pkl", ".model")
_WITHOUT = "What does without it was checked all the same."
_DEFINES = ("def ", "async def ", "class ")
_OFFLINE_HINT = " The analysis never downloads anything; build the model from a configuration instead."


def adapter_findings(profile: Profile, request: JobRequest) -> list[Finding]:
    """What the accelerator's adapter raised while the file was looked at, at the top of the file."""
    start = Location(request.path, Range(Position(0, 0), Position(0, 0)))
    problems = problems_of(profile, request.profile)
    found = [_finding("accelerator-adapter", f"{said} The analysis went on without it.", start) for said in problems]
    return [replace(finding, severity=Severity.WARNING) for finding in found]


def torch_finding(differs: TorchDiffersError, path: str) -> Finding:
    """What this torch lacks, where nothing of a file could be looked at without it."""
    return _finding("environment", f"{differs}.", Location(path, Range(Position(0, 0), Position(0, 0))))


def syntax_fault(path: str, text: str) -> Finding | None:
    """Why a text, which may begin with a byte order mark, cannot be compiled; None if it can."""
    plain = text.removeprefix("\ufeff")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = tree_of(plain)
            if not is_notebook(path):  # whose statements are compiled one by one, and passed over if they can't be
                compile(tree, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return syntax_finding(path, plain, error)
    return None


def syntax_finding(path: str, text: str, error: Exception) -> Finding:
    """A text that cannot be parsed, at the place that Python's parser names."""
    if isinstance(error, SyntaxError):
        return _finding("syntax-error", f"{type(error).__name__}: {error.msg}", Location(path, _range(text, error)))
    words = "nested too deeply" if isinstance(error, RecursionError | MemoryError) else str(error)
    return _finding("syntax-error", f"The file cannot be parsed: {words}.", Location(path, _null_range(text)))


_RELATIVE = re.compile(r"\s*from\s+(?P<dots>\.+)\s*(?P<part>[\w.]*)\s+import\b")
_OF_THE_CODE = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError, ValueError),
    FileNotFoundError,
)
"""What is raised again wherever the same code meets the same libraries and files; others may come of the machine."""


def raised_finding(
    error: BaseException, what: str, sources: SourceMap, fallback: Location, target: str = ""
) -> Finding:
    """What user code raised while the file was loaded or a target was made.

    Args:
        error: the exception.
        what: what was going on ("while the file was loaded", "in the constructor of Model").
        sources: turns the traceback into places.
        fallback: where to point when the traceback holds no line of the user's.
        target: the target that is lost by it, if it is only one.
    """
    if isinstance(error, SyntaxError) and error.filename and sources.in_project(error.filename):
        return _broken_import(error, sources, fallback)
    location, related = place(sources.frames_of_traceback(error.__traceback__), fallback, "raised in {}")
    related = list(dict.fromkeys(related))  # a recursion is told once
    refusal = refusal_of(error)
    if refusal is not None:
        return replace(_finding("environment", str(refusal), location, target, related), cause=refusal.cause)
    broken = broken_library(error) or missing_toolkit(error)
    if broken is not None:
        library = imported_library(error) or "CUDA"
        return replace(_finding("environment", broken, location, target, related), cause=library)
    if (variable := lacking_variable(error)) is not None:
        words = f"This reads the environment variable `{variable}`, which is not set ({what})."
        return replace(_finding("environment", words, location, target, related), cause=variable)
    if isinstance(error, ImportError):
        lacking = _finding("import-error", _import_words(error, sources), location, target, related)
        inside = _relative_import(location, sources)
        return replace(lacking, cause=_what_is_lacking(error) if inside is None else _lacking_part(error, inside))
    if isinstance(error, SystemExit):
        return _finding("capture-error", _exit_words(error, what), location, target, related)
    if is_limitation(error):
        message = (
            f"A tensor's value is needed {what}, and real tensors would take more memory than the analysis allows."
        )
        return _finding("capture-error", message, location, target, related)
    missing, refused = unknown_name(error), wrong_call(error, sources)
    message = f"{describe(error).rstrip('.')} ({what})."
    wanting = not target and _wants_command_line(error, sources)
    hint = f" {_COMMAND_LINE[what == _MAIN]}" if wanting else _hint(error)
    finding = _finding("capture-error", message + hint, location, target, related)
    if isinstance(error, _OF_THE_CODE) and not target:
        finding = replace(finding, cause=type(error).__name__)
    if refused is not None:
        return with_wrong_call(finding, refused)
    if (division := refused_division(error)) is not None:
        return with_refused_division(finding, division, sources)
    if missing is None:
        return finding
    told = with_unknown_name(finding, missing)
    without_place = told.message != finding.message and location == fallback
    return replace(told, message=f"{told.message} ({what})") if without_place else told


def _relative_import(location: Location, sources: SourceMap) -> str | None:
    """Where the part of its own package lies that a relative import asks for, without an ending; None for any other."""
    text, line = sources.text(location.path), location.range.start.line
    written = text.lines[line] if text is not None and line < len(text.lines) else ""
    match = _RELATIVE.match(written)
    if match is None:
        return None
    folder = os.path.join(os.path.dirname(location.path), *[os.pardir] * (len(match["dots"]) - 1))
    return os.path.normpath(os.path.join(folder, *match["part"].split(".")))


def _lacking_part(error: ImportError, asked: str) -> str:
    """The part of a package that is not there, by its path: it has as many names as ways lead to it."""
    if not error.name:  # there is no such package around it
        return asked
    missing = error.name if isinstance(error, ModuleNotFoundError) else ""
    return asked if missing.rpartition(".")[2] == os.path.basename(asked) else ""


def _what_is_lacking(error: ImportError) -> str:
    """The library that is not there, or what a library has not; nothing where an import goes in a circle."""
    if isinstance(error, ModuleNotFoundError):
        return error.name or ""
    return str(error) if error.name and "partially initialized" not in str(error) else ""


def passed_over_finding(error: Exception, request: JobRequest, sources: SourceMap) -> Finding:
    """What a cell of a notebook raised, after which those after it were run all the same."""
    if isinstance(error, SyntaxError) and error.filename == request.path:
        told = syntax_finding(request.path, request.text.removeprefix("\ufeff"), error)
        return replace(told, severity=Severity.WARNING)
    start = Location(request.path, Range(Position(0, 0), Position(0, 0)))
    told = raised_finding(error, "while the cells were run", sources, start)
    message = f"{told.message} The cells after it were run all the same."
    return replace(told, severity=Severity.WARNING, message=message)


def absent_finding(error: Exception, request: JobRequest, sources: SourceMap) -> Finding:
    """What could not be imported, without which the file was loaded all the same."""
    start = Location(request.path, Range(Position(0, 0), Position(0, 0)))
    told = raised_finding(error, "while the file was loaded", sources, start)
    return replace(told, message=f"{told.message.rstrip('.')}. {_WITHOUT}")


def definition_finding(message: str, request: JobRequest, line: int, target: str) -> Finding:
    """What is wrong with a definition of the analysed file, at its name; `line` (from 1) is where it begins."""
    lines = SourceText(request.text).lines
    first = next(
        (index for index in range(line - 1, len(lines)) if lines[index].lstrip().startswith(_DEFINES)), line - 1
    )
    return _finding("capture-error", message, Location(request.path, name_range(lines, first)), target)


_MAIN = "while the main program ran"
_TYPED = re.compile(r"\b(argv|stdin)\b")
"""Names of what whoever starts a program gives it."""
_COMMAND_LINE = {
    True: "Give it a command line with `--argv`.",
    False: "Nothing after it can be analysed; read the command line in a function that only "
    '`if __name__ == "__main__":` calls.',
}


def main_findings(followed: Followed, request: JobRequest, sources: SourceMap) -> list[Finding]:
    """What ended a main program that was followed, and which of its models it did not call."""
    line = followed.line or 0
    lines = SourceText(request.text).lines
    here = Location(request.path, Range(Position(line, 0), Position(line, utf16_length(lines[line]))))
    found = []
    if followed.error is not None:
        raised = raised_finding(followed.error, _MAIN, sources, here)
        found.append(replace(raised, severity=Severity.WARNING))
    words = summary(followed)
    if words:
        found.append(Finding("not-checked", Severity.INFORMATION, words, here.path, here.range, Stage.LOAD))
    return found


def missing_finding(missing: MissingAttribute, path: str, sources: SourceMap) -> Finding:
    """An attribute that a method of the file reads and nothing sets."""
    node, text = missing.node, sources.text(path)
    line, end = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    start, stop = node.col_offset, node.end_col_offset or node.col_offset
    if text is not None:
        start, stop = text.character(line, start), text.character(end, stop)
    message = f"`{missing.owner}` has no `{node.attr}`: nothing sets it."
    place = Range(Position(line, start), Position(end, stop))
    finding = Finding("missing-attribute", Severity.WARNING, message, path, place, Stage.LOAD)
    return with_unknown_name(finding, UnknownName(node.attr, missing.owner, missing.nearest))


def complaint_finding(complaint: Complaint) -> Finding:
    """A directive or a convention that the user got wrong."""
    where = complaint.location
    return Finding("directive", Severity.WARNING, complaint.message, where.path, where.range, Stage.LOAD)


def _finding(
    rule: str, message: str, where: Location, target: str = "", related: list[Related] | None = None
) -> Finding:
    return Finding(
        rule, Severity.ERROR, message, where.path, where.range, Stage.LOAD, target=target, related=related or []
    )


def _import_words(error: ImportError, sources: SourceMap) -> str:
    module = lacking_module(error)
    if not module:
        return describe(error)
    builder = builder_of(module, error, sources.project_root)
    brought = f" It is an extension that {builder} builds." if builder else ""
    if submodule := submodule_of(module, error, sources):
        brought = f" The git submodule {submodule!r} was not fetched: run `git submodule update --init`."
    return f"There is no module named {module!r} in the interpreter that runs this file.{brought}"


def _exit_words(error: SystemExit, what: str) -> str:
    refusal = _parser_refusal(error)
    if refusal:
        return f"argparse ended the program {what}: {refusal}. {_COMMAND_LINE[what == _MAIN]}"
    code = "" if error.code is None else repr(error.code)
    return f"sys.exit({code}) was called {what}: nothing after it can be analysed."


def _wants_command_line(error: BaseException, sources: SourceMap) -> bool:
    """Whether code of the user's on the way to an exception looks at the command line, or at what is typed."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        text = sources.text(code.co_filename) if sources.in_project(code.co_filename) else None
        if text is None:
            continue
        read = text.lines[line - 1 : line] if code.co_name == "<module>" else code.co_names
        if _TYPED.search(" ".join(read)):
            return True
    return False


def _parser_refusal(error: SystemExit) -> str:
    """What an argparse parser said before it ended the program; nothing where it was not one."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code is argparse.ArgumentParser.error.__code__:
            return str(frame.f_locals.get("message", ""))
    return ""


def _hint(error: BaseException) -> str:
    words = str(error)
    if "huggingface" in words.lower() or "offline mode" in words.lower():
        return _OFFLINE_HINT
    if isinstance(error, FileNotFoundError) and str(error.filename).lower().endswith(_WEIGHTS):
        return _WEIGHTS_HINT
    return ""


def _broken_import(error: SyntaxError, sources: SourceMap, fallback: Location) -> Finding:
    """A file of the user's that was imported and does not parse."""
    path = error.filename or fallback.path
    text = sources.text(path)
    importer, related = place(sources.frames_of_traceback(error.__traceback__), fallback, "raised in {}")
    related.insert(0, Related(importer.path, importer.range, "imported here"))
    where = Location(path, _range("\n".join(text.lines) if text is not None else "", error))
    return _finding("syntax-error", f"{type(error).__name__}: {error.msg}", where, "", related)


def _range(text: str, error: SyntaxError) -> Range:
    lines = SourceText(text).lines
    start = _position(lines, error.lineno, error.offset)
    end = _position(lines, error.end_lineno, error.end_offset) if error.end_offset else start
    if end <= start:
        length = utf16_length(lines[start.line])
        end = Position(start.line, min(start.character + 1, length))
        if end <= start:  # past the end of a line: point at its last character
            start = Position(start.line, max(length - 1, 0))
    return Range(start, end)


def _position(lines: list[str], lineno: int | None, offset: int | None) -> Position:
    line = min(max((lineno or 1) - 1, 0), len(lines) - 1)
    return Position(line, utf16_length(lines[line][: max((offset or 1) - 1, 0)]))


def _null_range(text: str) -> Range:
    before, found, _ = text.partition("\0")
    if not found:
        return Range(Position(0, 0), Position(0, 0))
    lines = SourceText(before).lines
    start = Position(len(lines) - 1, utf16_length(lines[-1]))
    return Range(start, Position(start.line, start.character + 1))
