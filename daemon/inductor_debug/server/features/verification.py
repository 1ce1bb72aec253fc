"""Which fixes are proved (`engine.fixes.proof`), and which rewrites that nobody needs are as good as what is there.

Proofs run in the background when somebody first asks for the fixes of a finding, one at a time and after every analysis
(`Engine.try_edits`). What is known is kept until the text or its findings change. It never applies an edit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from inductor_debug_schema import FileReport, Finding, Range

from inductor_debug.engine.fixes.edits import Fix, apart, applied
from inductor_debug.engine.fixes.fix_candidates import FIXABLE, guesses
from inductor_debug.engine.fixes.going_back.pieces_put_back import going_back
from inductor_debug.engine.fixes.proof import Proved, ends_run
from inductor_debug.engine.fixes.rewrites.offers import rewrites
from inductor_debug.engine.fixes.tried_edits import Unknown, first_proved, together
from inductor_debug.engine.results.analysis import AnalysisUpdate
from inductor_debug.engine.results.folding import at_each_place, more_places
from inductor_debug.engine.results.merge import key_of
from inductor_debug.engine.settings.settings import ConfigurationError

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

Proof = asyncio.Task["Proved | None"]


@dataclass(frozen=True)
class Mended:
    """A finding and the fix that is proved to mend it."""

    finding: Finding
    proved: Proved

    @property
    def fix(self) -> Fix:
        """What mends it."""
        return self.proved.fix


@dataclass
class _Known:
    """What is known, or being found out, of one document's text with the findings of `report`.

    `proofs` are by what they would mend (usually one finding, or several that are mended together) and how, or rewrite.
    """

    text: str
    report: FileReport
    proofs: dict[tuple[object, ...], Proof] = field(default_factory=dict)


class Verifier:
    """Proofs of the fixes of every open document."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: dict[str, _Known] = {}

    def hear(self, update: AnalysisUpdate) -> None:
        """Drops what is known of a document once its text or findings are others."""
        known = self._known.get(update.uri)
        if known is not None and not self._holds(known, update):
            self.forget(update.uri)

    def forget(self, uri: str) -> None:
        """Stops every proof of a document."""
        known = self._known.pop(uri, None)
        for proof in known.proofs.values() if known is not None else ():
            proof.cancel()

    async def fixes(
        self, uri: str, findings: Iterable[Finding], *, patience: float, start: bool = True
    ) -> list[Mended]:
        """The proved fixes of those findings of a document, as far as they are known within `patience` seconds.

        Proofs go on afterwards, for whoever asks next. With `start` false only what is known already counts.
        """
        deadline = asyncio.get_running_loop().time() + patience
        fixable = [finding for finding in findings if finding.rule in FIXABLE or ends_run(finding)]
        known = await self._settled(uri, patience) if fixable else None
        if known is None:
            return []
        asked = [finding for finding in fixable if finding in known.report.findings]
        for finding in asked if start else ():
            if (key_of(finding),) not in known.proofs:
                self._begin(uri, known, _back(finding), [finding], self._returns(uri, known, finding))
                self._begin(uri, known, (key_of(finding),), [finding], self._guesses(known, finding))
                if len(places := at_each_place(finding)) > 1:
                    self._begin(uri, known, _everywhere(finding), places, self._guesses_everywhere(known, places))
        ways = {
            key_of(each): [known.proofs.get(subject) for subject in (_everywhere(each), _back(each), (key_of(each),))]
            for each in asked
        }
        await _wait([proof for each in ways.values() for proof in each if proof is not None], deadline)
        found = []
        for finding in asked:
            everywhere, back, here = map(_result, ways[key_of(finding)])
            offered = [*([] if everywhere is None else [everywhere]), *_once(known.text, back, here)]
            found += [Mended(finding, proved) for proved in offered]
        return found

    async def rewrites(self, uri: str, place: Range, *, patience: float, start: bool = True) -> list[Proved]:
        """What stands in the lines of `place` in a better form that is proved to compute the same; else as `fixes`."""
        document = self._server.documents.get(uri)
        found = rewrites(document.text, place) if document is not None else []
        deadline = asyncio.get_running_loop().time() + patience
        known = await self._settled(uri, patience) if found else None
        if known is None:
            return []
        proofs = []
        for rewrite in found:
            proof = known.proofs.get(rewrite.guesses)
            if proof is None and start:
                targets = {target.name for target in known.report.targets}
                target = rewrite.owner if rewrite.owner in targets else ""
                proof = self._begin(uri, known, rewrite.guesses, [], rewrite.guesses, target)
            proofs += [] if proof is None else [proof]
        await _wait(proofs, deadline)
        proved = [result for proof in proofs if (result := _result(proof)) is not None]
        return [each for each in proved if each.same_results]

    async def together(self, uri: str, proved: Sequence[Mended], *, patience: float) -> Proved | None:
        """One fix of all that `proved` mend, proved as a whole; None while that is not known, or where it fails.

        Of fixes that touch each other the first one is taken.
        """
        deadline = asyncio.get_running_loop().time() + patience
        kept = apart([each.fix for each in proved])
        chosen = [each for each in proved if each.fix in kept]
        if len(chosen) < 2:
            return chosen[0].proved if chosen else None
        known = await self._settled(uri, patience)
        if known is None:
            return None
        findings = [each.finding for each in chosen]
        subject = tuple(map(key_of, findings))
        proof = known.proofs.get(subject)
        if proof is None:
            proof = self._begin(uri, known, subject, findings, [together([each.fix for each in chosen])])
        await _wait([proof], deadline)
        return _result(proof)

    async def _settled(self, uri: str, patience: float) -> _Known | None:
        """What is known of the document's present text, once that is analysed to its end."""
        try:
            update = await asyncio.wait_for(self._server.engine.settled(uri), patience)
        except asyncio.TimeoutError:
            return None
        document = self._server.documents.get(uri)
        if document is None or update is None or not update.conclusive:
            return None
        if update.version != document.version:
            return None
        known = self._known.get(uri)
        if known is None or not self._holds(known, update):
            self.forget(uri)
            known = self._known[uri] = _Known(document.text, update.report)
        return known

    def _holds(self, known: _Known, update: AnalysisUpdate) -> bool:
        document = self._server.documents.get(update.uri)
        same = document is not None and document.text == known.text
        return same and update.conclusive and update.report.findings == known.report.findings

    def _guesses(self, known: _Known, finding: Finding) -> list[Fix]:
        if finding.path != known.report.path:
            return []
        try:
            profile = self._server.configuration.settings_for(finding.path).profile
        except ConfigurationError:
            return []
        return guesses(known.text, finding, profile)

    def _guesses_everywhere(self, known: _Known, places: Sequence[Finding]) -> list[Fix]:
        """What would mend a finding at each of its places, the likeliest at each."""
        each = [self._guesses(known, place)[:1] for place in places]
        if not all(each):
            return []
        whole = together([fix for guess in each for fix in guess])
        return [replace(whole, title=f"{each[0][0].title} here and at {more_places(len(places) - 1)}")]

    def _returns(self, uri: str, known: _Known, finding: Finding) -> list[Fix]:
        """What goes back to the last text with which the finding's target ran."""
        ran = self._server.engine.last_ran(uri, finding.target or "") if ends_run(finding) else None
        if ran is None or finding.path != known.report.path:
            return []
        return going_back(known.text, ran, finding)

    def _begin(
        self,
        uri: str,
        known: _Known,
        subject: tuple[object, ...],
        findings: Sequence[Finding],
        fixes: Sequence[Fix],
        target: str = "",
    ) -> Proof:
        async def prove() -> Proved | None:
            try:
                engine = self._server.engine
                return await first_proved(engine, uri, known.text, known.report, findings, fixes, target)
            except Unknown:  # whoever asks again begins again
                known.proofs.pop(subject, None)
                return None

        proof = known.proofs[subject] = self._server.spawn(prove())
        return proof


def _back(finding: Finding) -> tuple[object, ...]:
    """The subject of the proof that goes back to what ran."""
    return key_of(finding), "going back"


def _everywhere(finding: Finding) -> tuple[object, ...]:
    """The subject of the proof of what mends a finding at each of its places."""
    return key_of(finding), "everywhere"


def _once(text: str, back: Proved | None, guessed: Proved | None) -> list[Proved]:
    """What goes back to what ran, then what was guessed; of one edit only the guess, which says why.

    Who has typed something new wants it mended rather than gone, so that comes first there.
    """
    if back is None or guessed is None:
        return [each for each in (back, guessed) if each is not None]
    if applied(text, back.fix.edits) == applied(text, guessed.fix.edits):
        return [guessed]
    only_takes_away = all(edit.text.isspace() or not edit.text for edit in back.fix.edits)
    return [guessed, back] if only_takes_away else [back, guessed]


async def _wait(proofs: Sequence[Proof], deadline: float) -> None:
    if proofs:
        await asyncio.wait(proofs, timeout=max(0.0, deadline - asyncio.get_running_loop().time()))


def _result(proof: Proof | None) -> Proved | None:
    if proof is None or not proof.done() or proof.cancelled() or proof.exception() is not None:
        return None
    return proof.result()
