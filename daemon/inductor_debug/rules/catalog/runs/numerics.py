"""The page of `numerics`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class NumericsRule(RunRule):
    """A backend computes something else than the model means."""

    id = "numerics"
    summary = "A backend's results are further from the exact ones than its precision explains."
    what = """
        `inductor-debug diff` ran the model in eager, with the backend and in float64, with the same weights, inputs and
        random numbers. The backend's error was compared with the error that the same precision makes anyway, and was
        many times as large. The finding stands at the expression whose operation is wrong when it is given the
        reference's own inputs; an operation that only passes on what another got wrong is not blamed.

        More than 16 times the error to expect is wrong, more than 4 times suspicious. Absolute and relative tolerances
        play no part: they say whether a difference is large, not whether anything is at fault."""
    why = """
        A wrong kernel, a lost partial stick or an integer cut to 32 bits changes what the model computes without
        raising anything. Rounding alone changes results, too, and is nobody's fault: that is why the two are told
        apart by measuring, not by a tolerance."""
    example = """
        ```
        model.py:14:16: error[numerics] spyre with drop-last-stick@14 computes this wrongly: on the reference's
        inputs its result is off by 690 times the error to expect
        ```"""
    fix = """
        Where a backend is at fault, report it: `inductor-debug repro FILE --backend NAME` makes a script that shows it.
        Where the precision is not enough for the model, compute the blamed expression in a wider dtype, or rewrite it
        so that it subtracts no nearly equal numbers. Where sizes are at fault (a partial stick), pad them."""
