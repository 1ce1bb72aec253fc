"""`textDocument/codeAction`: fixes that are proved, comments that silence, and the pages of rules.

An answer never waits long: what is not proved yet is left out, and is there for who asks again. Edits are as small as
they can be and carry the document's version. All of it is complete when it is offered, so there is nothing to resolve.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from inductor_debug_schema import Finding, Position, Range
from lsprotocol import types

from inductor_debug.engine.settings.settings import ConfigurationError, Trigger
from inductor_debug.server.features.cell_actions import cell_actions
from inductor_debug.server.features.code_lenses import SET_INPUTS
from inductor_debug.server.state.diagnostics import SOURCE

if TYPE_CHECKING:
    from inductor_debug.engine.fixes.edits import TextEdit
    from inductor_debug.engine.fixes.proof import Proved
    from inductor_debug.server.features.verification import Mended, Verifier
    from inductor_debug.server.state.editor_texts import EditorDocument
    from inductor_debug.server.state.server import Server

FIX_ALL = "source.fixAll.inductorDebug"
REWRITE = types.CodeActionKind.RefactorRewrite
KINDS = (types.CodeActionKind.QuickFix, REWRITE, FIX_ALL)
"""The kinds of actions that are offered, for `initialize`."""
PATIENCE_SECONDS = 0.3
"""How long an answer waits for proofs that run."""
FIX_ALL_PATIENCE_SECONDS = 1.5
"""How long somebody waits who asked for all fixes at once."""
CLIENT_EXPLAINS = "inductorDebug.explainRule"
"""The command of clients that show a rule's page themselves."""
INFER_ANEW = "inductorDebug.inferAnew"
"""The command that gives up the inputs with which a class last ran."""
SERVER_EXPLAINS = "inductorDebug.explain"
UNUSED_RULE = "unused-ignore"


class CodeActions:
    """Answers for one server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._made: Verifier | None = None

    @property
    def _verifier(self) -> Verifier:
        """Made when it is first needed: `initialize` is answered without it."""
        if self._made is None:
            from inductor_debug.server.features.verification import Verifier

            self._made = Verifier(self._server)
            self._server.listeners.append(self._made.hear)
            self._server.closed_listeners.append(self._made.forget)
        return self._made

    async def answer(self, params: types.CodeActionParams) -> list[types.Command | types.CodeAction]:
        """The actions for a range of a document."""
        document = self._server.documents.get(params.text_document.uri)
        if document is None:
            return []
        actions: list[types.Command | types.CodeAction] = []
        only = params.context.only
        if only is None or _includes(only, types.CodeActionKind.QuickFix):
            actions += await self._quick_fixes(document, params)
        if (only is None or _includes(only, REWRITE)) and self._server.client.action_literals:
            actions += await self._rewrites(document, params)
            actions += self._shapes(document, params)
        if only is None and self._server.client.action_literals:
            actions += self._reproducers(document, params)
        if only is not None and self._server.client.action_literals and _includes(only, FIX_ALL):
            actions += await self._fix_all(document, everything=FIX_ALL in only)
        return actions

    async def _quick_fixes(
        self, document: EditorDocument, params: types.CodeActionParams
    ) -> list[types.Command | types.CodeAction]:
        hints = [hint for hint in self._server.unchecked.findings(document.uri) if _touches(hint, params.range)]
        findings = [*self._found(document, params), *hints]
        if not findings:
            return []
        if not self._server.client.action_literals:
            return [_explain(rule, self._server) for rule in dict.fromkeys(finding.rule for finding in findings)]
        version = document.version
        start = self._may_start(document, params.context.trigger_kind)
        proved = await self._verifier.fixes(document.uri, findings, patience=PATIENCE_SECONDS, start=start)
        if document.version != version:
            return []  # the text that was asked about is gone
        shown = params.context.diagnostics
        return [
            *self._fixes(document, proved, shown),
            *self._directives(document, hints, shown),
            *self._anew(document, findings, shown),
            *self._comments(document, findings, shown),
            *self._explanations(findings, shown),
        ]

    async def _rewrites(self, document: EditorDocument, params: types.CodeActionParams) -> list[types.CodeAction]:
        """What could stand at the cursor instead, though nothing is found against what does."""
        start, end = (Position(each.line, each.character) for each in (params.range.start, params.range.end))
        version = document.version
        may_start = self._may_start(document, params.context.trigger_kind)
        proved = await self._verifier.rewrites(
            document.uri, Range(start, end), patience=PATIENCE_SECONDS, start=may_start
        )
        if document.version != version:
            return []
        return [
            types.CodeAction(title=each.title, kind=REWRITE, edit=self._edit(document, each.fix.edits))
            for each in proved
        ]

    def _shapes(self, document: EditorDocument, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """The shapes of values in the function whose head the cursor is in, as the analysis of this text saw them."""
        from inductor_debug.server.features.shape_writing import shapes_written

        latest = self._server.engine.latest(document.uri)
        if latest is None or latest.version != document.version:
            return
        start, end = (Position(each.line, each.character) for each in (params.range.start, params.range.end))
        known = (each for each in self._server.engine.expressions(document.uri) if not each.stale)
        written = shapes_written(document.text, Range(start, end), {each.range: each.fact for each in known})
        if written is not None:
            title, fix = written
            yield types.CodeAction(title=title, kind=REWRITE, edit=self._edit(document, fix.edits))

    def _found(self, document: EditorDocument, params: types.CodeActionParams) -> list[Finding]:
        """What is found in the range: by the document's own analysis, or by another's that imports the file.

        The positions of another's are those of the file on disk; only where the client shows one at that very place is
        it sure to be there still.
        """
        found: list[Finding] = []
        for uri in self._server.documents:
            latest = self._server.engine.latest(uri)
            if latest is None or (uri == document.uri and latest.version != document.version):
                continue
            for finding in latest.report.findings:
                if finding.path != document.path or finding in found or not _touches(finding, params.range):
                    continue
                if uri == document.uri or _diagnostics(params.context.diagnostics, [finding]):
                    found.append(finding)
        return found

    def _may_start(self, document: EditorDocument, kind: types.CodeActionTriggerKind | None) -> bool:
        """Whether code may run for this request: with the trigger "manual", only if it was the user who asked."""
        try:
            trigger = self._server.configuration.settings_for(document.path).trigger
        except ConfigurationError:
            return False
        return trigger is not Trigger.MANUAL or kind is types.CodeActionTriggerKind.Invoked

    def _fixes(
        self, document: EditorDocument, mended: Sequence[Mended], shown: Sequence[types.Diagnostic]
    ) -> Iterator[types.CodeAction]:
        by_fix: dict[Proved, list[Finding]] = {}
        for each in mended:
            by_fix.setdefault(each.proved, []).append(each.finding)
        preferred = {each.proved for each in _first_of_each(mended)}
        for proved, findings in by_fix.items():
            yield types.CodeAction(
                title=proved.title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=_diagnostics(shown, findings),
                is_preferred=proved in preferred,
                edit=self._edit(document, proved.fix.edits),
            )

    def _directives(
        self, document: EditorDocument, hints: list[Finding], shown: Sequence[types.Diagnostic]
    ) -> Iterator[types.CodeAction]:
        """Inputs for what was not checked: those that came furthest, as a comment to mend, or the client's dialogue."""
        for hint, edit in self._server.unchecked.directives(document.uri, hints):
            title = f"Set example inputs of {hint.target}"
            diagnostics = _diagnostics(shown, [hint])
            if edit is not None:
                yield types.CodeAction(
                    title=f"{title}: {edit.text.strip()}",
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=diagnostics,
                    edit=self._edit(document, [edit]),
                )
            elif SET_INPUTS in self._server.client.commands:
                command = types.Command(title=title, command=SET_INPUTS, arguments=[document.uri, hint.target])
                yield types.CodeAction(
                    title=title, kind=types.CodeActionKind.QuickFix, diagnostics=diagnostics, command=command
                )

    def _anew(
        self, document: EditorDocument, findings: Sequence[Finding], shown: Sequence[types.Diagnostic]
    ) -> Iterator[types.CodeAction]:
        """For classes that are judged by the inputs which they last ran with: others that are meant from now on."""
        latest = self._server.engine.latest(document.uri)
        for target in latest.report.targets if latest is not None else ():
            blamed = [each for each in findings if each.target == target.name and each.rule == "capture-error"]
            if blamed and target.inferred is not None and target.inferred.kept_since:
                instead = f": {target.inferred.instead}" if target.inferred.instead else ""
                title = f"Infer the inputs of {target.name} anew{instead}"
                command = types.Command(title=title, command=INFER_ANEW, arguments=[document.uri])
                yield types.CodeAction(
                    title=title,
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=_diagnostics(shown, blamed),
                    command=command,
                )

    def _comments(
        self, document: EditorDocument, findings: Sequence[Finding], shown: Sequence[types.Diagnostic]
    ) -> Iterator[types.CodeAction]:
        from inductor_debug.engine.fixes.silence import silence, without_idle

        edits: dict[tuple[str, TextEdit], list[Finding]] = {}
        for finding in findings:
            unused = finding.rule == UNUSED_RULE
            edit = without_idle(document.text, finding) if unused else silence(document.text, finding)
            if edit is not None:
                title = "Remove what silences nothing" if unused else f"Silence {finding.rule} here"
                edits.setdefault((title, edit), []).append(finding)
        for (title, edit), silenced in edits.items():
            yield types.CodeAction(
                title=title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=_diagnostics(shown, silenced),
                edit=self._edit(document, [edit]),
            )

    def _explanations(
        self, findings: Sequence[Finding], shown: Sequence[types.Diagnostic]
    ) -> Iterator[types.CodeAction]:
        for rule in dict.fromkeys(finding.rule for finding in findings):
            yield types.CodeAction(
                title=f"Explain {rule}",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=_diagnostics(shown, [finding for finding in findings if finding.rule == rule]),
                command=_explain(rule, self._server),
            )

    def _reproducers(self, document: EditorDocument, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """Edits nothing, so it has no kind; who asks for quick fixes alone does not get it."""
        from inductor_debug.server.commands.repro_commands import actions

        shown = params.context.diagnostics
        compared = self._server.numerics.findings(document.path)
        found = [*self._found(document, params), *(finding for finding in compared if _touches(finding, params.range))]
        for command, finding in actions(self._server, found, document.uri):
            yield types.CodeAction(command.title, diagnostics=_diagnostics(shown, [finding]), command=command)

    async def _fix_all(self, document: EditorDocument, *, everything: bool) -> Sequence[types.CodeAction]:
        """All proved fixes as one action, which is proved as a whole.

        An editor may ask for every `source.fixAll` there is whenever a file is saved. It gets those only that leave the
        model's numbers as they are; the others are for users who name our kind.
        """
        latest = self._server.engine.latest(document.uri)
        if latest is None or not self._may_start(document, types.CodeActionTriggerKind.Invoked):
            return []
        version = document.version
        patience = FIX_ALL_PATIENCE_SECONDS
        proved = _first_of_each(await self._verifier.fixes(document.uri, latest.report.findings, patience=patience))
        chosen = [each for each in proved if everything or each.fix.keeps_results]
        whole = await self._verifier.together(document.uri, chosen, patience=patience)
        if whole is None or document.version != version:
            return []
        title = "Apply all fixes (verified, same results)" if whole.same_results else "Apply all fixes (verified)"
        return [types.CodeAction(title=title, kind=FIX_ALL, edit=self._edit(document, whole.fix.edits))]

    def _edit(self, document: EditorDocument, edits: Sequence[TextEdit]) -> types.WorkspaceEdit:
        changes = [
            types.TextEdit(
                range=types.Range(
                    start=types.Position(line=edit.range.start.line, character=edit.range.start.character),
                    end=types.Position(line=edit.range.end.line, character=edit.range.end.character),
                ),
                new_text=edit.text,
            )
            for edit in edits
        ]
        if not self._server.client.versioned_edits:
            return types.WorkspaceEdit(changes={document.uri: changes})
        identifier = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
        return types.WorkspaceEdit(
            document_changes=[types.TextDocumentEdit(text_document=identifier, edits=list(changes))]
        )


def _first_of_each(mended: Sequence[Mended]) -> list[Mended]:
    """The first fix of each finding; the others say other ways to mend the same."""
    first: dict[object, Mended] = {}
    for each in mended:
        first.setdefault((each.finding.rule, each.finding.path, each.finding.range), each)
    return list(first.values())


def _explain(rule: str, server: Server) -> types.Command:
    """The command that shows a rule's page: the client's own where it has one."""
    if CLIENT_EXPLAINS in server.client.commands:
        return types.Command(title=f"Explain {rule}", command=CLIENT_EXPLAINS, arguments=[rule])
    arguments = [{"rule": rule, "show": True}]
    return types.Command(title=f"Explain {rule}", command=SERVER_EXPLAINS, arguments=arguments)


def _includes(only: Sequence[str], kind: str) -> bool:
    """Whether one of the kinds that are asked for is this one or above it."""
    return any(asked in ("", kind) or kind.startswith(f"{asked}.") for asked in only)


def _touches(finding: Finding, place: types.Range) -> bool:
    start = (finding.range.start.line, finding.range.start.character)
    end = (finding.range.end.line, finding.range.end.character)
    return start <= (place.end.line, place.end.character) and (place.start.line, place.start.character) <= end


def _diagnostics(shown: Sequence[types.Diagnostic], findings: Sequence[Finding]) -> list[types.Diagnostic] | None:
    """The client's diagnostics that show those findings."""
    places = {
        (item.rule, item.range.start.line, item.range.start.character, item.range.end.line, item.range.end.character)
        for item in findings
    }
    return [
        item
        for item in shown
        if item.source == SOURCE
        and (
            item.code,
            item.range.start.line,
            item.range.start.character,
            item.range.end.line,
            item.range.end.character,
        )
        in places
    ] or None


def register(server: Server) -> None:
    """Answers `textDocument/codeAction`."""
    actions = CodeActions(server)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    async def answer(params: types.CodeActionParams) -> list[types.Command | types.CodeAction]:
        await server.ready.wait()
        notebook = server.cells.notebook_of(params.text_document.uri)
        return await (actions.answer(params) if notebook is None else cell_actions(actions.answer, notebook, params))
