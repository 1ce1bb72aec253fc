"""`inductor-debug bench cluster`: nothing lost and nothing double while workers are killed, what a job costs, memory.

Three surveys on a Dask cluster of real processes: small models while a random worker is killed every few seconds; some
of them with no kill and no more at once than there are cores, for how long a model waits beside its own work, and again
on this machine's engine, whose rows must be equal; and files that no worker needs to look at, many of them, for how big
the client becomes and what a result takes of processors.
"""

from __future__ import annotations

import json
import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from inductor_debug.cli.support.console import CommandError
from inductor_debug.cli.support.survey_running import SurveyPlan, settings_like
from inductor_debug.cli.support.survey_running import run as run_survey
from inductor_debug.engine.pool.supervisor import WorkerPool
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug.engine.survey.model_survey import SurveyOptions
from inductor_debug.engine.survey.results_file import ResultsFile
from inductor_debug.engine.survey.survey_models import SurveyModel
from inductor_debug.system import processes

from inductor_debug_benchmarks.measuring import progress
from inductor_debug_benchmarks.outcome import BenchmarkOutcome

MODELS, COMPARED, TRIFLES = 1000, 40, 10_000
KILL_SECONDS = 6.0
"""Between two kills, on average."""
OVERHEAD_SECONDS = 0.050
GROWTH_BYTES = 32 << 20
"""How much the client may grow from a tenth of the trifles to all of them."""
_MODEL = """\
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, {size})

    def forward(self, x):
        y = self.layer(x).double()
        return torch.relu(y) * {size}


def get_inputs():
    return [torch.randn(4, 8)]


def get_init_inputs():
    return []
"""
_TRIFLE = "class Model(torch.nn.Module)  # {size}\n"


@dataclass
class _Seen:
    """What a survey was like: its rows by model, seconds, kills, overheads, and the client's bytes as it went.

    `processors` are the seconds that client, scheduler and workers had on them; what models run in is not among them.
    """

    rows: dict[str, list[dict[str, Any]]]
    seconds: float
    kills: int
    overheads: list[float]
    resident: list[int]
    processors: dict[str, float]


def run(models: int, workers: int, trifles: int, seed: int) -> BenchmarkOutcome:
    """Measures.

    Args:
        models: how many small models, 0 for the usual.
        workers: how many workers.
        trifles: how many files that no worker needs to look at, 0 for the usual.
        seed: which worker is killed when.

    Raises:
        CommandError: Dask is not installed.
    """
    try:
        from inductor_debug_benchmarks.processes.dask_cluster import running_cluster
    except ModuleNotFoundError as error:
        raise CommandError(f"a cluster needs Dask and psutil: {error}") from None
    models, trifles = models or MODELS, trifles or TRIFLES
    with tempfile.TemporaryDirectory(prefix="inductor-debug-cluster-") as scratch:
        folder = Path(scratch).resolve()
        with running_cluster(workers, folder) as cluster:
            progress(f"{models} models on {workers} workers, of which one is killed every {KILL_SECONDS:g} s")
            killed = _survey(folder, "killed", _MODEL, models, cluster, seed)
            progress(f"{COMPARED} models with no kill, {_at_once(workers)} at once")
            calm = _survey(folder, "calm", _MODEL, min(COMPARED, models), cluster, at_once=_at_once(workers))
            progress(f"{trifles} files that no worker looks at")
            many = _survey(folder, "many", _TRIFLE, trifles, cluster)
        progress(f"{COMPARED} models on this machine")
        here = _survey(folder, "here", _MODEL, min(COMPARED, models), None)
    return _outcome(killed, calm, many, here, models, _at_once(workers))


def _at_once(workers: int) -> int:
    """So many models as there are cores for: more would wait for those, and not for what the cluster does."""
    return min(workers, os.cpu_count() or 1)


def _outcome(killed: _Seen, calm: _Seen, many: _Seen, here: _Seen, models: int, at_once: int) -> BenchmarkOutcome:
    names = Counter({name: len(rows) for name, rows in killed.rows.items()})
    double = sum(count > 1 for count in names.values())
    broken = [name for name, rows in killed.rows.items() if any(row["status"] == "crashed" for row in rows)]
    same = [name for name, rows in here.rows.items() if calm.rows.get(name) == rows == killed.rows.get(name)]
    cost = median(calm.overheads)
    tenth = many.resident[len(many.resident) // 10]
    growth = max(many.resident) - tenth
    takes = {who: round(seconds / len(many.rows) * 1000, 1) for who, seconds in many.processors.items()}
    figures = {
        "models": models,
        "lost": models - len(names),
        "double": double,
        "given_up": broken,
        "kills": killed.kills,
        "seconds": round(killed.seconds, 1),
        "overhead_seconds": cost,
        "at_once": at_once,
        "processor_milliseconds": takes,
        "results": len(many.rows),
        "results_seconds": round(many.seconds, 1),
        "client_bytes": [tenth, max(many.resident)],
    }
    promises = [
        (
            len(names) == models and not double,
            f"{models} models, {killed.kills} workers killed: {models - len(names)} lost, {double} double "
            f"({len(broken)} given up after three deaths) in {killed.seconds:.0f} s",
        ),
        (len(same) == len(here.rows), f"{len(same)} of {len(here.rows)} models have the rows of a run here"),
        (cost <= OVERHEAD_SECONDS, f"{cost * 1000:.0f} ms a model beside its work, {at_once} at once (at most 50 ms)"),
        (
            growth <= GROWTH_BYTES,
            f"{len(many.rows)} results, {many.seconds / len(many.rows) * 1000:.0f} ms each: the client has "
            f"{tenth / (1 << 20):.0f} MiB after a tenth and {max(many.resident) / (1 << 20):.0f} MiB at most (+32 MiB)",
        ),
    ]
    parts = ", ".join(f"{who} {amount:g} ms" for who, amount in takes.items())
    note = f"of processors a result takes {sum(takes.values()):.0f} ms beside the model ({parts}); the rest is waiting"
    return BenchmarkOutcome(figures, promises, [note])


def _survey(
    folder: Path, name: str, text: str, count: int, cluster: Any, seed: int | None = None, at_once: int = 0
) -> _Seen:
    """Surveys so many files on the cluster, `at_once` (0: as it has threads), or here; with a `seed`, workers die."""
    from inductor_debug.cluster.cluster_place import ClusterOptions, ClusterPlace

    models = list(_written(folder / f"project-{len(text)}", text, count))
    settings = SettingsResolver(command_line={"artifacts": "off"})
    like = settings_like(settings)
    options = SurveyOptions({})
    place = None
    if cluster is not None:
        place = ClusterPlace(ClusterOptions(cluster.address, jobs=at_once, say=progress), settings, options, like)
    file = ResultsFile(folder / f"{name}.jsonl", resume=False)
    resident: list[int] = []
    add = file.add

    def note(rows: Sequence[Any]) -> None:
        add(rows)
        resident.append(processes.resident_bytes(os.getpid()))

    file.add = note  # type: ignore[method-assign]
    before = _processor_seconds(cluster)
    started = time.monotonic()
    with _killing(cluster, seed) as kills:
        run_survey(SurveyPlan(name, models, options, settings, file, 1, WorkerPool, True, place))
    seconds = time.monotonic() - started
    had = {who: after - before[who] for who, after in _processor_seconds(cluster).items()}
    overheads = list(place.overheads) if place is not None else []
    return _Seen(_rows(file.path), seconds, len(kills), overheads, resident, had)


def _processor_seconds(cluster: Any) -> dict[str, float]:
    return {"client": time.process_time(), **(cluster.processor_seconds() if cluster is not None else {})}


def _written(folder: Path, text: str, count: int) -> Iterator[SurveyModel]:
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    for number in range(count):
        path = folder / f"model{number}.py"
        path.write_text(text.format(size=number % 50 + 1) + f"# {number}\n", encoding="utf-8")
        yield SurveyModel(path.name, (str(path),), index=number)


def _rows(path: Path) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        row = json.loads(line)
        row.pop("seconds")
        found.setdefault(row["model"], []).append(row)
    return found


@contextmanager
def _killing(cluster: Any, seed: int | None) -> Iterator[list[int]]:
    """Kills a random worker every few seconds while the context lasts."""
    kills: list[int] = []
    ended = threading.Event()

    def kill() -> None:
        chance = random.Random(seed)
        while not ended.wait(chance.expovariate(1 / KILL_SECONDS)):
            if workers := cluster.workers():
                victim = chance.choice(workers)
                os.kill(victim, signal.SIGKILL)
                kills.append(victim)

    killer = threading.Thread(target=kill)
    if seed is not None:
        killer.start()
    try:
        yield kills
    finally:
        ended.set()
        if seed is not None:
            killer.join()
