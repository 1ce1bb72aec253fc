"""The minimiser: from a program that fails to the smallest one that still fails in the same way.

The order matters more than anything else. In a very large program, one operation of each kind is tried alone: that
costs next to nothing, and half of the program minutes. Then comes the shortest failing beginning (a binary search),
then the latest start that still fails (a gallop backwards from the end); what lies between is removed by delta
debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002) over steps, whole modules
first. A step that is removed leaves its results behind as inputs, frozen at the recorded values, so the rest still
runs. Then steps are bypassed, sizes and dtypes shrunk (`shrinking`), and recorded values replaced by seeded ones.

It runs nothing itself: an `Oracle` judges. Every program is judged once.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence

from inductor_debug.repro.minimiser.bypassing import bypasses
from inductor_debug.repro.minimiser.memo import Memo
from inductor_debug.repro.minimiser.minimised import CONFIRMATIONS, GONE_AFTER, GoneError, Minimised
from inductor_debug.repro.minimiser.oracle import Oracle, OracleVerdict
from inductor_debug.repro.minimiser.shrinking import Shrunk, shrinkings
from inductor_debug.repro.minimiser.step_layers import kinds, modules
from inductor_debug.repro.program.bodies import inlined
from inductor_debug.repro.program.program import Input, Program, ProgramValues, cone, cut
from inductor_debug.repro.program.sharing import unlinked

_NEVER_AGAIN = (1, CONFIRMATIONS)


class _OutOfTime(Exception):  # noqa: N818 (it ends the search, nothing is wrong)
    pass


class Minimiser:
    """One search.

    Args:
        oracle: judges programs.
        memo: remembers verdicts.
        better: told of every smaller program that fails, with the number of attempts so far.
        progress: told of every attempt: steps left, attempts, seconds.
        seeded: gives an input the statistics of its recorded values, for a constructor to make such ones.
        seconds: after so long the search ends with what it has.
    """

    def __init__(
        self,
        oracle: Oracle,
        memo: Memo | None = None,
        *,
        better: Callable[[Program, int], None] | None = None,
        progress: Callable[[int, int, float], None] | None = None,
        seeded: Callable[[Input], Input] | None = None,
        seconds: float = 300.0,
    ) -> None:
        self._oracle, self._memo = oracle, Memo(None, "") if memo is None else memo
        self._better, self._progress = better, progress
        self._seeded = seeded or (lambda item: item)
        self._started, self._seconds = time.monotonic(), seconds
        self._repeat = 1
        self._best: Program | None = None
        self._verdict = OracleVerdict(True)
        self._passing: dict[str, str] = {}
        self._for_nodes = 0
        self.attempts = 0

    def run(self, program: Program) -> Minimised:
        """Reduces `program`.

        Raises:
            GoneError: it does not fail.
        """
        flaky = self._confirm(program)
        finished = True
        try:
            self._reduce(program)
        except _OutOfTime:
            finished = False
        assert self._best is not None
        steady = self._steadiness(self._best)
        if steady == _NEVER_AGAIN and self._memo.resumed:
            # What was remembered does not hold any more: a backend's code has changed since.
            self._memo.forget()
            return self.run(program)
        flaky = flaky or steady
        neighbour = self._neighbour(self._best) if finished else ""
        return Minimised(self._best, self.attempts, self._for_nodes, neighbour, self._verdict, flaky, finished)

    def _reduce(self, program: Program) -> None:
        best = self._steps(self._inlined(self._apart(program)))
        while True:
            smaller = self._bypassed(best)
            if len(smaller.steps) == len(best.steps):
                break
            best = self._removed(smaller)
        self._for_nodes = self.attempts
        best = self._outputs(best)
        best = self._shrunk(best)
        self._valued(best)

    def _apart(self, program: Program) -> Program:
        """Memory of its own for each input, where the failure does not need them to share it."""
        candidate = unlinked(program)
        return self._take(candidate) if candidate != program and self._fails(candidate) else program

    def _inlined(self, program: Program) -> Program:
        """The steps of branches and loops in place of these, where the failure does not need them."""
        for candidate in inlined(program):
            if self._fails(candidate):
                return self._inlined(self._take(candidate))
        return program

    # Steps.

    def _steps(self, program: Program) -> Program:
        for index in kinds(program):
            alone = self._smaller(program, [index])
            if alone is not None:
                return alone
        last = self._shortest(program)
        if last == 0:
            return self._take(cut(program, [0]))
        whole = list(range(last + 1))
        alone = self._smaller(program, [last])
        if alone is not None:
            return alone
        needed = cone(cut(program, whole), program.steps[last].outputs)
        kept = needed if len(needed) < len(whole) and self._smaller(program, needed) is not None else whole
        kept = self._latest(program, kept)
        ends = [kept[0], kept[-1]]
        if len(kept) > 2 and self._smaller(program, ends) is not None:
            kept = ends
        return self._removed(cut(program, kept))

    def _shortest(self, program: Program) -> int:
        """The last step of the shortest beginning that fails, by binary search; then told by nothing but its length."""
        hint = self._verdict.step
        low, high = 0, len(program.steps) - 1
        if hint is not None and 0 <= hint < high and self._fails(cut(program, range(hint + 1))):
            high = hint
            if hint == 0 or not self._fails(cut(program, range(hint))):
                return hint
            high = hint - 1
        while low < high:
            middle = (low + high) // 2
            if self._fails(cut(program, range(middle + 1))):
                high = middle
            else:
                low = middle + 1
        return high

    def _latest(self, program: Program, kept: Sequence[int]) -> list[int]:
        """The fewest of the last of these steps that still fail: a gallop from the end, then a binary search."""
        size, passing = 2, 1
        while size < len(kept) and self._smaller(program, kept[-size:]) is None:
            passing, size = size, size * 2
        low, high = passing + 1, min(size, len(kept))
        while low < high:
            middle = (low + high) // 2
            if self._smaller(program, kept[-middle:]) is not None:
                high = middle
            else:
                low = middle + 1
        return list(kept[-high:])

    def _removed(self, program: Program) -> Program:
        """Delta debugging: groups of one module, then halves, quarters and so on, until no single step can go."""
        best = program
        for group in modules(best):
            rest = [index for index in range(len(best.steps)) if best.steps[index].module not in group]
            if rest and len(rest) < len(best.steps):
                best = self._smaller(best, rest) or best
        size = max(1, len(best.steps) // 2)
        while True:
            before = len(best.steps)
            start = 0
            while start < len(best.steps) and len(best.steps) > 1:
                rest = [index for index in range(len(best.steps)) if not start <= index < start + size]
                smaller = self._smaller(best, rest) if rest else None
                if smaller is None:
                    start += size
                else:
                    best = smaller
            if size == 1 and len(best.steps) == before:
                return best
            size = max(1, min(size // 2, len(best.steps) // 2)) if size > 1 else 1

    def _bypassed(self, program: Program) -> Program:
        """Takes out steps whose result may as well be one of their inputs: `transpose(transpose(x))` is x."""
        best = program
        again = True
        while again:
            again = False
            for candidate in bypasses(best):
                if self._fails(candidate):
                    best, again = self._take(candidate), True
                    break
        return best

    def _outputs(self, program: Program) -> Program:
        if len(program.outputs) < 2:
            return program
        last = [name for name in program.steps[-1].outputs if name]
        for wanted in ([last[0]] if last else [], *([name] for name in program.outputs)):
            candidate = dataclasses.replace(program, outputs=tuple(wanted))
            if wanted and self._fails(candidate):
                return self._take(candidate)
        return program

    # What is left of sizes, dtypes and values.

    def _shrunk(self, program: Program) -> Program:
        best = program
        tried: set[str] = set()
        again = True
        while again:
            again = False
            for change in shrinkings(best):
                if change.program.key in tried:
                    continue
                tried.add(change.program.key)
                if self._fails(change.program):
                    best, again = self._take(change.program), True
                    break
                self._note(best, change)
        return best

    def _note(self, best: Program, change: Shrunk) -> None:
        self._passing[best.key] = change.words

    def _valued(self, program: Program) -> Program:
        """Seeded values in place of recorded ones: for all inputs at once, else one by one."""
        recorded = [index for index, item in enumerate(program.inputs) if item.values is ProgramValues.RECORDED]
        best = program
        for group in [recorded, *([index] for index in recorded)] if recorded else []:
            inputs = tuple(
                dataclasses.replace(self._seeded(item), values=ProgramValues.SEEDED) if index in group else item
                for index, item in enumerate(best.inputs)
            )
            candidate = dataclasses.replace(best, inputs=inputs)
            if candidate == best:
                continue
            if self._fails(candidate):
                best = self._take(candidate)
            elif group is not recorded or len(recorded) == 1:
                self._passing[best.key] = f"{best.inputs[group[0]].name} has other values"
        return best

    # Attempts.

    def _smaller(self, program: Program, kept: Sequence[int]) -> Program | None:
        candidate = cut(program, kept)
        return self._take(candidate) if self._fails(candidate) else None

    def _take(self, program: Program) -> Program:
        self._best = program
        if self._better is not None:
            self._better(program, self.attempts)
        return program

    def _fails(self, program: Program) -> bool:
        known = self._memo.get(program.key)
        if known is not None:
            return known
        if time.monotonic() - self._started > self._seconds:
            raise _OutOfTime
        failed = any(self._judged(program).failed for _ in range(self._repeat))
        self._memo.put(program.key, failed)
        return failed

    def _judged(self, program: Program) -> OracleVerdict:
        self.attempts += 1
        if self._progress is not None:
            left = len(self._best.steps) if self._best is not None else len(program.steps)
            self._progress(left, self.attempts, time.monotonic() - self._started)
        return self._oracle.judge(program)

    def _confirm(self, program: Program) -> tuple[int, int] | None:
        """Tries the whole program; how often of how many times it failed where that was not always."""
        self._best = program
        verdicts = [self._judged(program)]
        if not self._oracle.deterministic and verdicts[0].failed:
            verdicts.append(self._judged(program))
        if not all(verdict.failed for verdict in verdicts):
            verdicts += [self._judged(program) for _ in range(CONFIRMATIONS - len(verdicts))]
        while not self._oracle.deterministic and len(verdicts) < GONE_AFTER and not any(v.failed for v in verdicts):
            verdicts.append(self._judged(program))
        failing = [verdict for verdict in verdicts if verdict.failed]
        if not failing:
            self._memo.forget()
            raise GoneError(verdicts[0].detail)
        self._verdict = failing[0]
        self._memo.put(program.key, True)
        if len(failing) == len(verdicts):
            return None
        self._repeat = CONFIRMATIONS
        return len(failing), len(verdicts)

    def _steadiness(self, best: Program) -> tuple[int, int] | None:
        """Runs the result again: how often of how many times it failed, where that was not always."""
        if self._oracle.deterministic:
            return None
        failing = sum(self._judged(best).failed for _ in range(CONFIRMATIONS - 1))
        return None if failing == CONFIRMATIONS - 1 else (failing + 1, CONFIRMATIONS)

    def _neighbour(self, best: Program) -> str:
        """The smallest change to the smallest program that makes the failure go."""
        if best.key in self._passing:
            return self._passing[best.key]
        if len(best.steps) > 1:
            return f"the step {best.steps[0].target} is left out"
        return f"{best.steps[0].target} is left out" if best.steps else ""
