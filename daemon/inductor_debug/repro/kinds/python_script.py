"""From a graph break or a recompilation to its script: the statement, or the function, with what it saw.

Nothing is searched: Dynamo says which expression it is. What the code saw is read off eager runs of the target.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from inductor_debug_schema import Finding, GraphBreak, Recompilation

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.repro.kinds.looks import CodeLook
from inductor_debug.repro.minimiser.oracle import words_of
from inductor_debug.repro.program.literals import source_of
from inductor_debug.repro.script.reproducer import NotReproducibleError, Reproducer
from inductor_debug.repro.script.script_checks import ScriptCheck, raise_check
from inductor_debug.repro.script.snippets import SourceSnippet, snippet_of, statement_at
from inductor_debug.repro.script.writing import Header, assembled

_BREAK = """\
try:
    torch.compile(failing, backend="eager", fullgraph=True)(*make_inputs())
except Exception as error:
    print(f"{{type(error).__name__}}: {{error}}")
    if {words} in str(error):
        return True
# Some breaks are none with fullgraph=True, which changes what Dynamo captures.
torch._dynamo.reset()
found = torch._dynamo.explain(failing)(*make_inputs())
for item in found.break_reasons:
    print(item.reason)
return any({words} in str(item.reason) for item in found.break_reasons)"""
_RECOMPILE = """\
first, *others = make_inputs()
compiled = torch.compile(failing, backend="eager")
with torch._dynamo.config.patch(error_on_recompile=True):
    compiled(*first)
    try:
        for other in others:
            compiled(*other)
    except torch._dynamo.exc.RecompileError as error:
        print(error)
        return True
return False"""


_EAGER = """\
line = {line!r}
ran = []


def backend(graph_module, example_inputs):
    calls = [node for node in graph_module.graph.nodes if node.op.startswith("call_")]
    own = sum(line in (node.stack_trace or "") for node in calls)

    def call(*args):
        ran.append(own)
        return graph_module.forward(*args)

    return call


compiled = torch.compile(lambda *values: failing(*values), backend=backend)
missed = 0
for number, values in enumerate(make_inputs(), start=1):
    ran.clear()
    compiled(*values)
    print(f"call {{number}}: {{sum(ran)}} operations of the line ran in a graph")
    missed += not sum(ran)
return missed > 0"""


def break_drafts(look: CodeLook, finding: Finding, header: Header, name: str) -> Iterator[Reproducer]:
    """The script for a `graph-break`: the statement, on what it saw first.

    Raises:
        NotReproducibleError: the statement needs what cannot be written down, or was not reached.
        UnprintableError: an argument cannot be written down.
    """
    if not isinstance(finding.facts, GraphBreak) or not finding.facts.torch_kind:
        raise NotReproducibleError("torch does not say what breaks the graph")
    statement, function = _place(look.sources, finding)
    frames = look.frames(finding.path, statement.lineno, function)
    if not frames:
        raise NotReproducibleError("the statement was not reached when the target ran eagerly")
    if any(isinstance(node, (ast.Break, ast.Continue)) for node in ast.walk(statement)) and not isinstance(
        statement, (ast.For, ast.While)
    ):
        raise NotReproducibleError("the statement ends or goes on with a loop around it")
    kind = finding.facts.torch_kind.rstrip(".")
    body = _BREAK.format(words=source_of(kind))
    check = ScriptCheck(f"torch.compile breaks the graph: {kind}", (), "", body)
    made = _alone(snippet_of([statement], frames[0].values), function, check, header, name)
    made.why = "the statement alone does not break a graph"
    yield made


def recompile_drafts(look: CodeLook, finding: Finding, header: Header, name: str) -> Iterator[Reproducer]:
    """Scripts for a `recompile`: the function around it, called with two and with all that it was called with.

    Raises:
        NotReproducibleError: the function needs what cannot be written down, or is called the same way every time.
        UnprintableError: an argument cannot be written down.
    """
    _, function = _place(look.sources, finding)
    function = _told(look.sources, finding) or function
    if function is None:
        raise NotReproducibleError("what is compiled again is no function of the file")
    # Twice, because what a call leaves behind in the model may be what the next one is compiled again for.
    frames = look.frames(finding.path, function.body[0].lineno, function, runs=2)
    snippets = [snippet_of(function.body, frame.values, arguments=_arguments(function)) for frame in frames]
    calls = list(dict.fromkeys(tuple(snippet.constructors) for snippet in snippets))
    if len(calls) < 2:
        raise NotReproducibleError("the function was called in one way only when the target ran eagerly")
    check = ScriptCheck("torch.compile compiles the function again", (), "", _RECOMPILE)
    for made in _called(function, snippets[0], (calls[:2], calls), check, header, name):
        made.why = "the function alone is compiled once"
        yield made


def eager_drafts(look: CodeLook, finding: Finding, header: Header, name: str) -> Iterator[Reproducer]:
    """Scripts for an `eager-fallback`: the function around it, called as it was, with a backend that counts.

    Raises:
        NotReproducibleError: the function needs what cannot be written down, or was not reached.
        UnprintableError: an argument cannot be written down.
    """
    statement, function = _place(look.sources, finding)
    if function is None:
        raise NotReproducibleError("what runs eagerly is no function of the file")
    frames = look.frames(finding.path, function.body[0].lineno, function)
    if not frames:
        raise NotReproducibleError("the function was not reached when the target ran eagerly")
    snippets = [
        snippet_of(
            function.body,
            frame.values,
            arguments=_arguments(function),
            decorators=function.decorator_list,
            asked=statement,
        )
        for frame in frames
    ]
    seeks = "in a call of the function, operations of a line run in no graph"
    check = ScriptCheck(seeks, (), "", _EAGER.format(line=snippets[0].line))
    calls = list(dict.fromkeys(tuple(snippet.constructors) for snippet in snippets))
    for made in _called(function, snippets[0], (calls[:1], calls), check, header, name):
        made.why = "the function alone is compiled"
        yield made


def statement_drafts(
    look: CodeLook, error: BaseException, finding: Finding, header: Header, name: str
) -> Iterator[Reproducer]:
    """The script for an exception that Python code raises by itself: the statement, on what it saw last.

    Raises:
        NotReproducibleError: the statement needs what cannot be written down.
        UnprintableError: an argument cannot be written down.
    """
    kind = type(error).__name__
    statement, function = _place(look.sources, finding)
    frames = look.frames(finding.path, statement.lineno, function)
    if not frames:
        raise NotReproducibleError(f"{kind} is raised by Python code that does not belong to a function of the file")
    check = raise_check(kind, words_of(str(error)))
    made = _alone(snippet_of([statement], frames[-1].values), function, check, header, name)
    made.why = f"the statement alone does not raise {kind}"
    yield made


def _alone(
    snippet: SourceSnippet, function: ast.FunctionDef | None, check: ScriptCheck, header: Header, name: str
) -> Reproducer:
    """The statement by itself."""
    text = assembled(snippet.source, _one(snippet), check, header, **_rest(snippet))
    return Reproducer(text, name, _size(function), 1, 1)


def _called(
    function: ast.FunctionDef,
    snippet: SourceSnippet,
    choices: Sequence[list[tuple[str, ...]]],
    check: ScriptCheck,
    header: Header,
    name: str,
) -> Iterator[Reproducer]:
    """The function with each of the `choices` of calls."""
    before, after = _size(function), len(function.body)
    for attempts, shown in enumerate(choices, start=1):
        text = assembled(snippet.source, _several(snippet, shown), check, header, **_rest(snippet))
        yield Reproducer(text, name, before, after, attempts)


def _arguments(function: ast.FunctionDef) -> tuple[str, ...]:
    given = [item.arg for item in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    return tuple(given[1:] if given[:1] == ["self"] else given)


def _place(sources: SourceMap, finding: Finding) -> tuple[ast.stmt, ast.FunctionDef | None]:
    text = sources.text(finding.path)
    source = "\n".join(text.lines) if text is not None else ""
    start = finding.range.start
    line = source.split("\n")[start.line] if source else ""
    column = len(line.encode("utf-16-le")[: 2 * start.character].decode("utf-16-le", "ignore").encode())
    try:
        statement, function = statement_at(ast.parse(source), start.line, column)
    except SyntaxError as error:
        raise NotReproducibleError(f"the source cannot be read: {error}") from error
    if statement is None:
        raise NotReproducibleError("there is no statement at the finding's place")
    return statement, function


def _told(sources: SourceMap, finding: Finding) -> ast.FunctionDef | None:
    """The function of the file that the finding is about: Dynamo shows where it is called."""
    facts, text = finding.facts, sources.text(finding.path)
    if not isinstance(facts, Recompilation) or text is None:
        return None
    name = facts.recompiled_function.rpartition(".")[2]
    nodes = ast.walk(ast.parse("\n".join(text.lines)))
    return next((node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == name), None)


def _size(function: ast.FunctionDef | None) -> int:
    """Statements of the function."""
    return sum(isinstance(node, ast.stmt) for node in ast.walk(function)) - 1 if function is not None else 1


def _rest(snippet: SourceSnippet) -> dict[str, Any]:
    return {"definitions": snippet.definitions, "standard": snippet.imports}


def _one(snippet: SourceSnippet) -> str:
    lines = ["def make_inputs():", '    """What the statement saw."""', "    torch.manual_seed(0)"]
    pairs = zip(snippet.arguments, snippet.constructors, strict=True)
    lines += [f"    {name} = {maker}" for name, maker in pairs]
    return "\n".join([*lines, f"    return [{', '.join(snippet.arguments)}]"])


def _several(snippet: SourceSnippet, calls: list[tuple[str, ...]]) -> str:
    lines = [
        "def make_inputs():",
        '    """What the function was called with, call by call."""',
        "    torch.manual_seed(0)",
    ]
    lines += ["    return [", *(f"        [{', '.join(call)}]," for call in calls), "    ]"]
    return "\n".join([f"# The arguments are {', '.join(snippet.arguments)}.", *lines])
