"""`inductor-debug bench transformers`: how many of a library's architectures are analysed with no inputs declared.

Every architecture that can be built from its default configuration with two layers is put to one engine, as an editor
would, in a file that only builds it. One that two layers leave a part out of (state spaces and attention, without the
attention) is put with four, eight, or all its layers, and is listed. That one cannot be built, or has no `forward`, is
learned by trying (`processes.two_layers`), and that no call runs by a default configuration is proven by trying
(`refused_defaults`): what the tool says of an architecture takes none out of the count. Each that was not analysed is
listed with the reason that the tool gave. Nothing here imports torch.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from inductor_debug.cli.support.console import CommandError
from inductor_debug.cli.support.running.places import AT_ONCE, CheckPlace
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug_schema import Checked, FileReport, Severity

from inductor_debug_benchmarks.measuring import measured_by, progress
from inductor_debug_benchmarks.outcome import BenchmarkOutcome, Promise

SHARE = 0.98
"""Of the architectures that can be built and have a `forward`, how many are to be analysed."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """One architecture, and what became of its file.

    `unbuildable` says why it cannot be built, and `refused` why no call of it runs, which was proven; `doubt` is why
    that could not be. `checked` is that of the target, `no` where there was none, and `reason` what the user is told of
    it. `errors` are the findings of that severity. `deeper` are files with more layers.
    """

    name: str
    text: str
    deeper: tuple[str, ...]
    unbuildable: str
    forward: bool
    checked: str = Checked.NO.value
    reason: str = ""
    errors: tuple[str, ...] = ()
    seconds: float = 0.0
    deep: bool = False
    """Whether this is of a file with more layers."""
    refused: str = ""
    doubt: str = ""

    @property
    def counts(self) -> bool:
        """Whether it can be built and called at all, as far as a machine can say."""
        return self.forward and not self.unbuildable and not self.refused

    @property
    def analysed(self) -> bool:
        """Whether a run of it was seen."""
        return self.checked != Checked.NO.value


def run(wanted: str, limit: int, stages: str, jobs: int, resume: str, cluster: str = "") -> BenchmarkOutcome:
    """Measures the architectures whose names a regular expression finds.

    Args:
        wanted: the regular expression; empty for all.
        limit: at most so many; 0 for all.
        stages: how deep to look, as `check --stages` takes it.
        jobs: files at once.
        resume: a file that keeps what was measured, and is gone on with; empty for none.
        cluster: a Dask cluster to run on, as `check --cluster` takes it; empty for this machine.

    Raises:
        CommandError: transformers cannot be asked, or `resume` cannot be read.
    """
    path = Path(resume) if resume else None
    progress("building each architecture with two layers")
    listed = measured_by("inductor_debug_benchmarks.processes.two_layers", wanted, str(limit))["architectures"]
    known = [
        Architecture(
            row["name"],
            row["text"],
            tuple(row["deeper"]),
            row["error"],
            row["forward"],
            refused=row["refused"],
            doubt=row["doubt"],
        )
        for row in listed
    ]
    try:
        kept = _kept(path, known)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CommandError(f"--resume {resume}: {error}") from error
    left = [item for item in known if item.counts and item.name not in kept]
    with tempfile.TemporaryDirectory() as folder:
        measured = asyncio.run(_measure(left, Path(folder).resolve(), stages, jobs, path, cluster))
    rows = [kept.get(item.name) or measured.get(item.name) or item for item in known]
    return BenchmarkOutcome({"architectures": [asdict(row) for row in rows]}, promises(rows), table(rows))


def _kept(path: Path | None, known: list[Architecture]) -> dict[str, Architecture]:
    """What an earlier run measured of the same texts. A line that was cut off is measured again."""
    if path is None or not path.exists():
        return {}
    texts = {item.name: item.text for item in known if item.counts}
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    rows = [
        Architecture(**{**row, "deeper": tuple(row["deeper"]), "errors": tuple(row["errors"])})
        for row in map(json.loads, lines)
    ]
    return {row.name: row for row in rows if texts.get(row.name) == row.text}


async def _measure(
    left: list[Architecture], folder: Path, stages: str, jobs: int, kept: Path | None, cluster: str
) -> dict[str, Architecture]:
    """Has each analysed in a file of its own, here or on a cluster; what is done is added to the file that keeps it."""
    settings = SettingsResolver(command_line={"stages": stages.split(","), "accelerator": "none"})
    for item in left:
        for text in (item.text, *item.deeper):
            _file_of(folder, item, text).write_text(text, encoding="utf-8")
    place = _place(cluster, settings, jobs)
    gate = asyncio.Semaphore(AT_ONCE if cluster else jobs)
    measured: dict[str, Architecture] = {}

    async def checked(item: Architecture, text: str) -> Architecture:
        started = asyncio.get_running_loop().time()
        report = await place.check(str(_file_of(folder, item, text)))
        seconds = asyncio.get_running_loop().time() - started
        return replace(judged(item, report), seconds=round(seconds, 2), deep=text != item.text)

    async def one(item: Architecture) -> None:
        async with gate:
            row = await checked(item, item.text)
            for text in item.deeper if not row.analysed else ():
                deep = await checked(item, text)
                if deep.analysed:
                    row = deep
                    break
        measured[item.name] = row
        if kept is not None:
            with kept.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(row)) + "\n")
        progress(f"{len(measured)} of {len(left)}, {item.name}: {row.checked} {row.reason[:100]}".rstrip())

    try:
        await asyncio.gather(*map(one, left))
    finally:
        await place.shutdown()
    return measured


def _file_of(folder: Path, item: Architecture, text: str) -> Path:
    return folder / f"{item.name.lower()}_{(item.text, *item.deeper).index(text)}.py"


def _place(cluster: str, settings: SettingsResolver, jobs: int) -> CheckPlace:
    """Where the files are analysed.

    Raises:
        ClusterError: the cluster is none.
    """
    if not cluster:
        return Engine(settings_for=settings, listener=lambda update: None, jobs=jobs)
    from inductor_debug.cluster.cluster_place import ClusterOptions, ClusterPlace
    from inductor_debug.cluster.connecting import require_known

    require_known(cluster)
    return ClusterPlace(ClusterOptions(cluster, say=progress), settings)


def judged(item: Architecture, report: FileReport) -> Architecture:
    """What a report says of an architecture."""
    target = next(iter(report.targets), None)
    errors = tuple(f"{found.rule}: {found.message}" for found in report.findings if found.severity is Severity.ERROR)
    told = (target.why or (target.inferred.reason if target.inferred else "")) if target else report.status.value
    checked = target.checked.value if target else Checked.NO.value
    return replace(item, checked=checked, reason=told, errors=errors)


def promises(rows: list[Architecture]) -> list[Promise]:
    """The goal, with what was measured."""
    some = [row for row in rows if row.counts]
    analysed = sum(row.analysed for row in some)
    share = analysed / len(some) if some else 0.0
    text = f"{analysed} of {len(some)} architectures analysed, {share:.1%} (at least {SHARE:.0%})"
    return [(share >= SHARE, text)]


def table(rows: list[Architecture]) -> list[str]:
    """The figures, and whatever somebody has to judge: what was not analysed, and every error that was told."""
    refused = Counter(row.unbuildable.partition(":")[0] for row in rows if row.unbuildable)
    without = [row.name for row in rows if not row.unbuildable and not row.forward]
    lines = [f"{len(rows)} architectures, {sum(refused.values())} cannot be built with two layers, "]
    lines[0] += f"{len(without)} have no forward: {', '.join(without) or 'none'}"
    lines += [f"  {count:4} {kind}" for kind, count in refused.most_common()]
    lines += [f"{sum(bool(row.refused) for row in rows)} cannot be called as they are by default, which was proven"]
    return [*lines, *_to_judge(rows), ""]


def _to_judge(rows: list[Architecture]) -> Iterator[str]:
    for row in rows:
        if row.unbuildable:
            yield f"cannot be built: {row.name}: {row.unbuildable}"
        elif row.refused:
            yield f"cannot be called: {row.name}: {row.refused}"
        elif row.forward and not row.analysed:
            yield f"not analysed: {row.name}: {row.reason}"
        elif row.deep:
            yield f"analysed with more than two layers: {row.name}"
        if row.doubt:
            yield f"not proven to be uncallable: {row.name}: {row.doubt}"
        yield from (f"error told: {row.name}: {said}" for said in row.errors)
