"""The page of `not-run`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class NotRunRule(RunRule):
    """Code that the check did not run."""

    id = "not-run"
    summary = "The check did not run this code: no target of the file took the branch, or called the method."
    what = """
        A check runs a model once for each set of inputs. It sees the branches that these inputs take, and nothing of
        the others: the body of `if mask is not None:` where no mask is given, of `if self.training:` in evaluation, a
        loop over an empty list, an `except` that nothing raises, a method that `forward` never calls. The editor dims
        such code and its hover says why it did not run; `check` calls the class "partly checked", names the lines and
        lists the reasons with `--verbose`, in JSON (`untaken`) and SARIF. It is no finding and fails nothing.

        Code that has nothing to check is left out: what only raises, prints, logs or gives a constant back, branches
        for scripting, compiling and exporting, what only a constructor calls."""
    why = """
        "No findings" is good news only of what ran. The branch that nobody took is where the next graph break is."""
    example = """
        ```python
        def forward(self, x, mask=None):
            scores = self.score(x)
            if mask is not None:                       # no mask was given:
                scores = scores.masked_fill(mask, 0)   # this did not run: `mask` is None
            return scores
        ```"""
    fix = """
        Give inputs that take the branch, as a further set beside the first: `# inductor-debug: inputs=...` above the
        class. The editor's quick fix writes the inputs of the last run to begin with. The setting
        `inductorDebug.notRun.enabled` switches the dimming off."""
