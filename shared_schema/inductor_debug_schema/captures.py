"""What a stage saw of a target, as a worker sends it so that it can be judged again without being captured again.

One capture is judged for several accelerators, or with other sizes, by whoever keeps it. Recordings are byte strings
of `inductor_debug.rules.captures.codec`, which nobody needs to read before they are judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from inductor_debug_schema.findings import Finding, Stage
from inductor_debug_schema.positions import Location
from inductor_debug_schema.sizes import FreeSize


@dataclass(frozen=True, slots=True)
class Blame:
    """That a class is at fault where its inferred inputs do not run.

    `proven` says that no inputs can run; else others do, `instead` by their signature, the class was built with
    arguments that nobody wrote down, or for another reason, `because` as a sentence.
    """

    proven: bool
    instead: str = ""
    because: str = ""


@dataclass(frozen=True, slots=True)
class Basis:
    """What findings of a target with inferred inputs rest on.

    `signature` shows the inputs, `kept_since` when they were inferred where they are those of an earlier text, `place`
    where the target is offered. `made_up` says that sizes which nobody asked for may stand in the recording as numbers;
    `symbols` are the names of sizes that are free, `lengths` those of lists that are ours. `precision_known` says that
    no script converts the model, `fixed` that its call has no symbols, `given` that the user set sizes of the call.
    """

    signature: str
    place: Location
    kept_since: str = ""
    made_up: bool = False
    symbols: list[str] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    precision_known: bool = True
    fixed: bool = False
    given: bool = False
    blame: Union[Blame, None] = None


@dataclass(frozen=True, slots=True)
class RunCaptured:
    """One run of a target in a stage.

    `found` is what the run itself met (an exception, a graph break); `retold` are findings of rules in the user's own
    terms, to be told in place of those of the same rule and expression; `beside` is told as it is. `basis` is None
    where the inputs were given. `aside` is said at the end of each message.
    """

    recording: bytes
    found: list[Finding] = field(default_factory=list)
    retold: list[Finding] = field(default_factory=list)
    beside: list[Finding] = field(default_factory=list)
    basis: Union[Basis, None] = None
    aside: str = ""


@dataclass(frozen=True, slots=True)
class StageCaptured:
    """All runs of a target in a stage; the last one saw most. `place` is where the target is offered.

    `others` are runs with further inputs, whose findings are of no stage.
    """

    target: str
    stage: Stage
    place: Location
    runs: list[RunCaptured]
    others: list[RunCaptured] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SizedCapture:
    """A run of a target with symbols for sizes of its inputs, called as these; true of sizes for which `guards` hold.

    Guards are formulas of the names.
    """

    guards: list[str]
    captured: StageCaptured


@dataclass(frozen=True, slots=True)
class SizesSeen:
    """Which sizes of a target's inputs are free, and what happens with others, as far as that is known.

    No capture is there for sizes that the target does not run with as symbols. `inputs` is a Python expression for the
    inputs with `{name}` in place of each size, "" where they cannot be written down.
    """

    target: str
    sizes: list[FreeSize]
    captures: list[SizedCapture] = field(default_factory=list)
    inputs: str = ""
