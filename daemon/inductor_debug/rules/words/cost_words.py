"""Costs in words: what a hover and a code lens say of the bound of an expression, a class or a target."""

from __future__ import annotations

from inductor_debug_schema import ClassCost, CostBound, RunCost

from inductor_debug.rules.amounts import counted, in_bytes, in_seconds, in_thousands

_LEAST_CHANGE = 0.005


def lines_of_cost(cost: CostBound, accelerator: str) -> list[str]:
    """`at least 38 µs on h100 (compute), 12 % of the run; 52 µs unfused`, and what is moved and computed."""
    lines = []
    if cost.seconds is not None:
        roof = f" ({cost.limited_by.value})" if cost.limited_by is not None else ""
        bound = (
            f"at least {in_seconds(cost.seconds)} on {accelerator}{roof}" if cost.seconds else "costs nothing if fused"
        )
        share = f", {_percent(cost.share)} of the run" if cost.share else ""
        lines.append(f"{bound}{share}; {in_seconds(cost.unfused_seconds or 0.0)} unfused")
    parts = [f"reads {in_bytes(cost.bytes_read)}, writes {in_bytes(cost.bytes_written)}"]
    if cost.operations:
        parts += [in_thousands(cost.operations, "FLOP"), f"{cost.intensity:,.0f} FLOP a byte"]
    if cost.uncounted:
        parts.append(f"{counted(cost.uncounted, 'op')} may cost more")
    return [*lines, " · ".join(parts)]


def bound_of(run: RunCost, saved: RunCost | None = None, committed: RunCost | None = None) -> str:
    """`forward pass: at least 38 µs on h100 (62 % memory), +12 % since the last save`; "" where no speed is known.

    Which passes are counted is told where gradients are wanted: the first stages know of the forward pass alone.

    Args:
        run: the cost of the present text.
        saved: that of the saved text, where it is known.
        committed: that of the text at git's HEAD, where it is known.
    """
    total = run.total
    if not total.seconds:
        return ""
    share = run.by_roof[total.limited_by.value] / total.seconds if total.limited_by is not None else 0.0
    roof = f" ({_percent(share)} {total.limited_by.value})" if total.limited_by is not None else ""
    told = f"at least {in_seconds(total.seconds)} on {run.accelerator}{roof}{_changes(run, saved, committed)}"
    return f"{_passes(run)}: {told}" if run.backward is not None else told


def _passes(run: RunCost) -> str:
    return "forward and backward" if run.backward else "forward pass"


def _changes(run: RunCost, saved: RunCost | None, committed: RunCost | None) -> str:
    """What has changed since the last save, and since the last commit where that is something else."""
    since_save = "" if saved is None or saved == committed else _change(run, saved, "the last save")
    since_commit = "" if committed is None else _change(run, committed, "HEAD", bytes_too=True)
    return since_save + since_commit


def _change(run: RunCost, before_it: RunCost, when: str, *, bytes_too: bool = False) -> str:
    """By how much costs differ, where that is anything that one reads as a percentage."""
    if (before_it.accelerator, before_it.backward) != (run.accelerator, run.backward):
        return ""
    pairs = [("", before_it.total.seconds, run.total.seconds), ("peak ", before_it.peak_bytes, run.peak_bytes)]
    if bytes_too:
        pairs.insert(1, ("bytes ", before_it.total.crossing_bytes, run.total.crossing_bytes))
    changes = [(what, now / before - 1) for what, before, now in pairs if before and now]
    told = [f"{what}{change * 100:+.0f} %" for what, change in changes if abs(change) >= _LEAST_CHANGE]
    return f", {', '.join(told)} since {when}" if told else ""


def part_of(cost: ClassCost, target: str, run: RunCost) -> str:
    """`38 % of the bound of GPT's forward pass: 12 ms on h100, compute`."""
    bound = cost.cost
    roof = f", {bound.limited_by.value}" if bound.limited_by is not None else ""
    seconds = f"{in_seconds(bound.seconds or 0.0)} on {run.accelerator}{roof}"
    whole = target if run.backward is None else f"{target}'s {_passes(run)}"
    return f"{_percent(bound.share or 0.0)} of the bound of {whole}: {seconds}"


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %" if share >= 0.01 else "less than 1 %"
