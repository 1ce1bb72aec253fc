"""Edits of `# inductor-debug: ignore[rule]` comments: one that silences a finding, one that removes what silences none.

Whether a comment would count is asked of the code that reads comments, on the edited text. Comments change nothing that
runs, so these edits need no proof.
"""

from __future__ import annotations

from inductor_debug_schema import Finding, IdleIgnore, Position, Range

from inductor_debug.engine.fixes.edits import TextEdit, applied
from inductor_debug.engine.text.source_facts import PolicySource, source_of
from inductor_debug.source.comments import Ignore
from inductor_debug.source.text_lines import index_of_utf16, slice_of, utf16_length

UNUSED_RULE = "unused-ignore"
_UNSILENCED = frozenset({UNUSED_RULE, "syntax-error", "configuration", "environment", "internal-error", "unreadable"})
"""Rules that no comment in the text can do anything about."""
_CRASHES = frozenset({"capture-error", "import-error", "crash", "timeout"})
"""Rules of what does not run: a comment counts there, too, but it mends nothing, so none is offered."""


def silence(text: str, finding: Finding) -> TextEdit | None:
    """The edit that silences a finding of this text; None where no comment can, or none should."""
    if finding.rule in _UNSILENCED | _CRASHES:
        return None
    source = source_of(text.removeprefix("\ufeff"))
    first, last = finding.range.start.line, finding.range.end.line
    for line in dict.fromkeys((first, last, source.statement_line(first))):
        if line < len(source.lines):
            edit = _merged(source, line, finding.rule) or _appended(source, line, finding.rule)
            if _counts(source.text, edit, line, finding.rule):
                return edit
    return None


def without_idle(text: str, finding: Finding) -> TextEdit | None:
    """The edit that takes away what an `unused-ignore` finding names: rules of the comment, or all of it."""
    source = source_of(text.removeprefix("\ufeff"))
    comment = next((ignore for ignore in source.ignores if ignore.range == finding.range), None)
    if finding.rule != UNUSED_RULE or comment is None:
        return None
    idle = finding.facts.idle_rules if isinstance(finding.facts, IdleIgnore) else []
    kept = [rule for rule in comment.rules if rule not in idle]
    if idle and kept:
        return TextEdit(comment.range, f"# inductor-debug: ignore[{', '.join(kept)}]")
    return _removed(source, comment)


def _merged(source: PolicySource, line: int, rule: str) -> TextEdit | None:
    """The rule added to a comment that is there."""
    comment = next((ignore for ignore in source.ignores if ignore.line == line and ignore.rules), None)
    if comment is None:
        return None
    close = Position(line, comment.range.end.character - 1)
    before = slice_of(source.lines, Range(comment.range.start, close)).rstrip()
    return TextEdit(Range(close, close), f" {rule}" if before.endswith(",") else f", {rule}")


def _appended(source: PolicySource, line: int, rule: str) -> TextEdit:
    end = Position(line, utf16_length(source.lines[line].rstrip()))
    return TextEdit(Range(end, end), f"  # inductor-debug: ignore[{rule}]")


def _counts(text: str, edit: TextEdit, line: int, rule: str) -> bool:
    """Whether the edited text has a comment for the rule on the line, and code that goes on where it went on."""
    if source_of(text).lines[line].rstrip().endswith("\\"):
        return False  # behind a backslash nothing may stand; inside of a string it would be none
    edited = source_of(applied(text, [edit]))
    return any(ignore.line == line and rule in ignore.rules for ignore in edited.ignores)


def _removed(source: PolicySource, comment: Ignore) -> TextEdit:
    """Takes the comment and the words that belong to it; what other tools say on the line stays."""
    number = comment.line
    line = source.lines[number]
    start = index_of_utf16(line, comment.range.start.character)
    end = index_of_utf16(line, comment.range.end.character)
    other = line.find("#", end)
    end = len(line) if other < 0 else other
    before = line[:start].rstrip()
    if before and other < 0:
        start = len(before)
    elif not before and other < 0:
        return TextEdit(_whole_line(source, number), "")
    return TextEdit(Range(Position(number, utf16_length(line[:start])), Position(number, utf16_length(line[:end]))), "")


def _whole_line(source: PolicySource, number: int) -> Range:
    """A line with its end, or with the end of the line before where it is the last."""
    if number + 1 < len(source.lines):
        return Range(Position(number, 0), Position(number + 1, 0))
    end = Position(number, utf16_length(source.lines[number]))
    if number == 0:
        return Range(Position(0, 0), end)
    return Range(Position(number - 1, utf16_length(source.lines[number - 1])), end)
