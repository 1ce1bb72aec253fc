"""The minimiser finds the smallest program with the failure that is sought, and tries nothing twice."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inductor_debug.repro.minimiser.attempts import AttemptEnding, attempt
from inductor_debug.repro.minimiser.memo import Memo
from inductor_debug.repro.minimiser.minimise import Minimiser
from inductor_debug.repro.minimiser.minimised import GoneError, Minimised
from inductor_debug.repro.minimiser.oracle import OracleVerdict, shape_of, words_of
from inductor_debug.repro.program.program import Input, Program, ProgramStep, Ref, Spec, StepKind
from inductor_debug_benchmarks.processes.predicates import Pattern, PatternOracle, shape_of_program

pytestmark = pytest.mark.torch

SPEC = Spec((4, 4), (4, 1), "float32")
UNARY = ("relu", "sin", "tanh", "exp", "abs", "sigmoid")


def program(operations: list[tuple[str, tuple[int, ...]]]) -> Program:
    """Steps by name and the numbers of the steps they read; -1 is the input."""
    names = {-1: "x"}
    steps = []
    for index, (operation, reads) in enumerate(operations):
        names[index] = f"v{index}"
        args = tuple(Ref(names[read]) for read in reads)
        steps.append(ProgramStep(StepKind.FUNCTION, f"torch.{operation}", args, (), (f"v{index}",), (SPEC,)))
    return Program((Input("x", SPEC),), tuple(steps), (f"v{len(steps) - 1}",))


def chain(*operations: str) -> Program:
    return program([(operation, (index - 1,)) for index, operation in enumerate(operations)])


class Judge:
    """An oracle made of a function, which counts."""

    def __init__(self, fails: Callable[[Program], bool], *, deterministic: bool = True) -> None:
        self._fails = fails
        self.fingerprint = "test"
        self.deterministic = deterministic
        self.seen: list[Program] = []

    def judge(self, program: Program) -> OracleVerdict:
        self.seen.append(program)
        return OracleVerdict(self._fails(program))


def targets(found: Minimised) -> list[str]:
    return [step.target.removeprefix("torch.") for step in found.program.steps]


def test_one_operation_among_many_is_found_by_halving() -> None:
    whole = chain(*["sin"] * 200, "relu", *["tanh"] * 200)
    found = Minimiser(PatternOracle(Pattern(("torch.relu",)))).run(whole)
    assert targets(found) == ["relu"]
    assert found.for_nodes <= 12


def test_of_very_many_operations_no_half_is_tried_where_one_alone_fails() -> None:
    judge = Judge(lambda candidate: Pattern(("torch.relu",)).holds(shape_of_program(candidate)))
    whole = chain(*["sin"] * 3000, "relu", *["tanh"] * 3000)
    assert targets(Minimiser(judge).run(whole)) == ["relu"]
    assert [len(tried.steps) for tried in judge.seen if len(tried.steps) > 1] == [6001]


def test_operations_that_must_be_linked_stay_linked() -> None:
    whole = chain("sin", "relu", *["tanh"] * 20, "exp", "abs")
    found = Minimiser(PatternOracle(Pattern(("torch.relu", "torch.exp"), linked=True))).run(whole)
    assert targets(found) == ["relu", "exp"]


def test_side_branches_are_frozen_to_inputs() -> None:
    whole = program([("sin", (-1,)), ("tanh", (0,)), ("exp", (0,)), ("add", (1, 2)), ("relu", (3,))])
    found = Minimiser(PatternOracle(Pattern(("torch.tanh", "torch.relu"), linked=True))).run(whole)
    assert targets(found) == ["tanh", "relu"]  # the addition is bypassed


def test_two_transposes_in_a_row_are_taken_out() -> None:
    whole = program([("relu", (-1,)), ("t", (0,)), ("t", (1,)), ("exp", (2,))])

    def fails(candidate: Program) -> bool:
        return Pattern(("torch.relu", "torch.exp"), linked=True).holds(shape_of_program(candidate))

    assert targets(Minimiser(Judge(fails)).run(whole)) == ["relu", "exp"]


def test_repeated_layers_go_as_a_whole() -> None:
    whole = chain("relu", *["sin", "tanh"] * 8, "exp")
    steps = tuple(
        ProgramStep(s.kind, s.target, s.args, s.kwargs, s.outputs, s.specs, module=f"layers.{max(0, i - 1) // 4}")
        for i, s in enumerate(whole.steps)
    )
    found = Minimiser(PatternOracle(Pattern(("torch.relu", "torch.exp")))).run(
        Program(whole.inputs, steps, whole.outputs)
    )
    assert targets(found) == ["relu", "exp"]


def test_sizes_and_dtypes_shrink_as_long_as_it_fails() -> None:
    spec = Spec((8, 768), (768, 1), "float64")
    step = ProgramStep(StepKind.FUNCTION, "torch.relu", (Ref("x"),), (), ("y",), (spec,))
    whole = Program((Input("x", spec),), (step,), ("y",))

    def fails(candidate: Program) -> bool:
        found = candidate.inputs[0].spec
        return found is not None and found.shape[1] >= 96 and bool(candidate.steps)

    found = Minimiser(Judge(fails)).run(whole)
    assert found.program.inputs[0].spec == Spec((1, 96), (96, 1), "float32")
    assert found.neighbour.startswith("the size 96 becomes")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_what_is_left_still_fails_and_no_step_can_go(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 24))
    operations = [
        (data.draw(st.sampled_from(UNARY)), (data.draw(st.integers(-1, index - 1)),)) for index in range(count)
    ]
    whole = program(operations)
    names = tuple(dict.fromkeys(data.draw(st.lists(st.sampled_from(whole.steps), min_size=1, max_size=3))))
    pattern = Pattern(tuple(step.target for step in names))
    found = Minimiser(PatternOracle(pattern)).run(whole)
    assert pattern.holds(shape_of_program(found.program))
    assert len(found.program.steps) == len({step.target for step in names})
    bound = {item.name for item in found.program.inputs}
    for step in found.program.steps:
        assert bound.issuperset(step.uses())
        bound.update(step.outputs)


def test_nothing_is_tried_twice_and_a_later_search_goes_on(tmp_path: Path) -> None:
    whole = chain(*["sin"] * 30, "relu", *["tanh"] * 30)
    oracle = PatternOracle(Pattern(("torch.relu",)))
    first, second = (Judge(lambda candidate: oracle.judge(candidate).failed) for _ in range(2))
    Minimiser(first, Memo(tmp_path, "failure")).run(whole)
    keys = [candidate.key for candidate in first.seen]
    assert len(keys) == len(set(keys))
    again = Minimiser(second, Memo(tmp_path, "failure")).run(whole)
    assert targets(again) == ["relu"]
    assert len(second.seen) == 1  # whether it still fails at all


def test_what_was_remembered_of_a_backend_that_has_changed_is_forgotten(tmp_path: Path) -> None:
    whole = chain(*["sin"] * 5, "relu", *["tanh"] * 5, "exp", *["tanh"] * 5)
    before, after = (PatternOracle(Pattern((name,))) for name in ("torch.relu", "torch.exp"))
    judge = Judge(lambda candidate: before.judge(candidate).failed, deterministic=False)
    assert targets(Minimiser(judge, Memo(tmp_path, "failure")).run(whole)) == ["relu"]
    judge = Judge(lambda candidate: after.judge(candidate).failed, deterministic=False)
    found = Minimiser(judge, Memo(tmp_path, "failure")).run(whole)
    assert targets(found) == ["exp"]
    assert found.flaky is None


def test_a_memory_that_cannot_be_written_costs_nothing_else() -> None:
    whole = chain("sin", "relu")
    memo = Memo(Path("/dev/null/nowhere"), "failure")
    assert targets(Minimiser(PatternOracle(Pattern(("torch.relu",))), memo).run(whole)) == ["relu"]


def test_a_failure_that_is_gone_is_said_to_be_gone() -> None:
    judge = Judge(lambda candidate: False)
    with pytest.raises(GoneError):
        Minimiser(judge).run(chain("sin"))
    assert len(judge.seen) == 3


def test_a_flaky_failure_is_noticed() -> None:
    turns = iter(range(1000))
    judge = Judge(lambda candidate: next(turns) % 3 == 1, deterministic=False)
    found = Minimiser(judge).run(chain("sin", "relu"))
    assert found.flaky == (1, 3)


def test_a_search_that_runs_out_of_time_gives_what_it_has() -> None:
    found = Minimiser(Judge(lambda candidate: True), seconds=-1.0).run(chain("sin", "relu"))
    assert not found.finished
    assert len(found.program.steps) == 2


def test_every_smaller_program_is_handed_on() -> None:
    better: list[int] = []
    oracle = PatternOracle(Pattern(("torch.relu", "torch.exp")))
    whole = chain("relu", "sin", "tanh", "exp")
    Minimiser(oracle, better=lambda candidate, attempts: better.append(len(candidate.steps))).run(whole)
    assert better
    assert better[-1] == 2


@pytest.mark.parametrize(
    ("work", "ending"),
    [
        (lambda: {"status": 1}, AttemptEnding.DONE),
        (lambda: os.kill(os.getpid(), signal.SIGSEGV) or {}, AttemptEnding.CRASHED),
        (lambda: 1 / 0, AttemptEnding.CRASHED),
        (lambda: os._exit(3), AttemptEnding.CRASHED),
        (lambda: time.sleep(60), AttemptEnding.HUNG),
    ],
)
def test_an_attempt_may_crash_or_hang(work: Callable[[], dict[str, object]], ending: AttemptEnding) -> None:
    assert attempt(work, timeout=0.3 if ending is AttemptEnding.HUNG else 120.0).ending is ending


def test_messages_are_compared_without_what_changes() -> None:
    first = "shape '[2, 3]' is invalid for input of size 12 at 0x7f00"
    second = "shape '[20, 3, 1]' is invalid for input of size 7 at 0x11"
    assert shape_of(first) == shape_of(second)
    assert shape_of(first) != shape_of("device-side assert triggered")
    assert words_of(first) in first
    assert words_of(first) in second
