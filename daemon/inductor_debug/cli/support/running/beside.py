"""What a check makes of a file beside its findings, where it was asked to: kept graphs, guards, comparisons.

Both are orders that other commands have, too. Nothing is judged or printed here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from inductor_debug_schema import Checked, DiffDocument, DiffOptions, FileReport

from inductor_debug.engine.engine import Engine
from inductor_debug.engine.orders.comparing import diff_order, no_comparison
from inductor_debug.engine.orders.made_documents import guards_of
from inductor_debug.engine.orders.orders import Order
from inductor_debug.engine.results.analysis import AnalysisUpdate
from inductor_debug.report.run_report import MadeBeside

COMPARISON_SECONDS = 600.0
"""How long a comparison may take where nobody says so, as that of `diff`: backends build kernels."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What to make: `graphs` are captured and kept, the guards of calls that differ among them; `backends` compared.

    `timeout` are the seconds of one comparison.
    """

    graphs: bool = False
    backends: tuple[str, ...] = ()
    timeout: float = COMPARISON_SECONDS


async def checked_beside(
    engine: Engine, path: str, beside: Beside, show: Callable[[AnalysisUpdate], None], tell: Callable[[str], None]
) -> tuple[FileReport, MadeBeside]:
    """The report of a file, and what else was made of it; `tell` is told what is being done.

    Raises:
        ConfigurationError: the settings for it cannot be used.
    """
    made = MadeBeside()
    if beside.graphs:
        performed = await engine.perform(path, Order(keep_graphs=True))
        report = performed.report
        made = MadeBeside(
            tuple(guards_of(performed.artifacts)), (), tuple(performed.references), tuple(performed.notes)
        )
    else:
        report = await engine.check(path, show)
    compared: list[DiffDocument] = []
    for target in report.targets:
        if target.checked is not Checked.NO:
            for backend in beside.backends:
                tell(f"{target.name}: comparing {backend}")
                order = diff_order(DiffOptions(backend=backend), target=target.name, timeout=beside.timeout)
                performed = await engine.perform(path, order)
                compared += performed.documents(DiffDocument) or [no_comparison(target.name, backend, performed)]
                made = replace(made, kept=(*made.kept, *performed.references), notes=(*made.notes, *performed.notes))
    return report, replace(made, compared=tuple(compared), notes=tuple(dict.fromkeys(made.notes)))
