"""What a rule is: an id, a page, and for constraints a predicate that finds root causes.

A rule is one small class in one file of `rules.catalog`; `rules.registry` finds it there. A rule never makes findings
itself and never chooses a place in the source: it names root causes, and `rules.judge` folds, places and words them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import ClassVar

from inductor_debug_schema import Facts

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots

_SILENCE = """\
Put `# inductor-debug: ignore[{rule}]` at the end of the line.

To change the severity of this rule for a whole project, or to turn it off, say so in `pyproject.toml`:

```toml
[tool.inductor-debug]
severity = {{ {rule} = "off" }}
```"""


@dataclass(frozen=True, slots=True)
class Page:
    """A rule's page: `summary` is one sentence, `text` the whole page in Markdown."""

    rule: str
    summary: str
    text: str


class Rule(ABC):
    """Something the tool can tell a user, with the page that explains it.

    The texts are Markdown. `order` places the rule in lists; rules of equal order are sorted by id.
    """

    id: str
    order: ClassVar[int] = 100
    summary: str
    what: ClassVar[str]
    why: ClassVar[str]
    example: ClassVar[str]
    fix: ClassVar[str]
    silence: ClassVar[str] = _SILENCE

    @property
    def page(self) -> Page:
        """The page that `inductor-debug explain` shows."""
        sections = {
            "What it means": self._meaning(),
            "Why it matters": self.why,
            "Example": self.example,
            "How to fix it": self.fix,
            "How to silence it": self.silence.format(rule=self.id) if self.silence is _SILENCE else self.silence,
        }
        body = "\n\n".join(f"## {title}\n\n{dedent(text).strip()}" for title, text in sections.items())
        return Page(self.id, self.summary, f"# {self.id}\n\n{self.summary}\n\n{body}\n")

    def _meaning(self) -> str:
        return dedent(self.what).strip()


class RunRule(Rule):
    """A rule about the run itself: whoever sees it happen reports it, so there is no predicate."""

    order = 200


_ONLY_CHOSEN = """\
It speaks only where an accelerator was chosen (`--accelerator mock`), or where torch sees a GPU on this machine: each
sets limits of its own."""


class Constraint(Rule):
    """A rule that a recording of ops may break. An accelerator's profile sets most; the others hold everywhere."""

    order = 10
    judges_accelerator: ClassVar[bool] = True
    """Whether it is about what an accelerator can do, so that it has nothing to say where none was chosen."""

    spoken: ClassVar[str] = _ONLY_CHOSEN
    """When it speaks, where it is about what an accelerator can do; a part of its page."""

    def _meaning(self) -> str:
        meaning = super()._meaning()
        return f"{meaning}\n\n{self.spoken}" if self.judges_accelerator else meaning

    def applies(self, profile: Profile) -> bool:
        """Whether the profile sets this constraint at all."""
        return True

    @abstractmethod
    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Adds to `roots` every op or origin that introduces what the profile forbids, and the ops that inherit it."""

    def cause(self, found: Sequence[Root]) -> str:
        """What roots at other places must share with these to be told as one finding; "" where each stands alone."""
        return ""

    def facts(self, found: Sequence[Root], profile: Profile) -> Facts | None:
        """What the message says of the roots, as data for fixes and scripts; None where it is all there is."""
        return None

    @abstractmethod
    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """One sentence for the roots that share a place in the source; all have the same kind of trouble."""
