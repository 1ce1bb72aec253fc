"""The `bench` subcommand: runs a benchmark and prints what it measured beside what we promise."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from inductor_debug_benchmarks import (
    artifact_store,
    cluster_runs,
    inductor_cost,
    inference_corpus,
    kerneldiff_cost,
    latency,
    library_sweep,
    minimiser,
    numerics_cost,
    rule_cost,
    soak,
    stage_cost,
    typed_mistakes,
)
from inductor_debug_benchmarks.bugs import mutant_runs as bugs
from inductor_debug_benchmarks.outcome import BenchmarkOutcome
from inductor_debug_benchmarks.reuse import repeated_edits, repeated_layers


@dataclass(frozen=True, slots=True)
class Benchmark:
    """What a benchmark measures, and what runs it."""

    summary: str
    run: Callable[[argparse.Namespace], BenchmarkOutcome]


_ALL = ",".join([*latency.SMALL, *latency.LARGE])


def _models(arguments: argparse.Namespace) -> list[str]:
    return [name for name in arguments.models.split(",") if name]


BENCHMARKS = {
    "latency": Benchmark(
        "from an edit to its findings, beside a bare Dynamo trace and a cold script",
        lambda given: latency.run(_models(given), given.repeat),
    ),
    "inference": Benchmark(
        "how often inputs are inferred, how well and how fast",
        lambda given: inference_corpus.run(given.corpus, given.sample),
    ),
    "bugs": Benchmark(
        "how many single mistakes in models that declare no inputs are found",
        lambda given: bugs.run(given.corpus, given.sample, given.seed, missed=given.missed, resume=given.resume),
    ),
    "typing": Benchmark(
        "how soon mistakes that are typed are shown, where, and whether the first fix mends them",
        lambda given: typed_mistakes.run(given.mistakes),
    ),
    "transformers": Benchmark(
        "how many architectures of transformers are analysed, each with two layers and no inputs declared",
        lambda given: library_sweep.run(
            given.filter, given.limit, given.stages, given.jobs, given.resume, given.cluster
        ),
    ),
    "layers": Benchmark(
        "whether equal layers that are traced once tell what full traces do, on architectures of transformers",
        lambda given: repeated_layers.run(given.corpus, given.filter, given.sample),
    ),
    "edits": Benchmark(
        "from edits of large models to the end of their analysis, beside runs from nothing that have to tell the same",
        lambda given: repeated_edits.run(_models(given) if given.models != _ALL else list(repeated_edits.EDITED), 3),
    ),
    "cluster": Benchmark(
        "a survey on a Dask cluster whose workers are killed: what is lost, what a model costs, the client's memory",
        lambda given: cluster_runs.run(given.limit, given.workers, given.trifles, given.seed),
    ),
    "stages": Benchmark("the aot stage beside bare AOTAutograd", lambda given: stage_cost.run(_models(given))),
    "inductor": Benchmark("the inductor stage beside bare lowering", lambda given: inductor_cost.run(_models(given))),
    "costs": Benchmark("rules and bounds of a GPU beside the aot stage", lambda given: rule_cost.run(_models(given))),
    "artifacts": Benchmark("keeping and listing graphs", lambda given: artifact_store.run()),
    "numerics": Benchmark("metrics of large tensors and emulated rounding", lambda given: numerics_cost.run()),
    "kerneldiff": Benchmark("comparing every operation of BERT", lambda given: kerneldiff_cost.run()),
    "soak": Benchmark(
        "random edits, reloads and kills through an editor: findings, orphans, artifacts, memory",
        lambda given: soak.run(given.minutes, given.seed, edits=given.edits, kills=given.kills),
    ),
    "repro": Benchmark("reducing failures, beside torch's own minifier", lambda given: minimiser.run()),
}

DESCRIPTION = """\
Measures, and prints what was measured beside what we promise. Needs a quiet machine and, for some of the models,
transformers.

benchmarks:
""" + "\n".join(f"  {name:{max(map(len, BENCHMARKS))}}  {known.summary}" for name, known in BENCHMARKS.items())
EPILOG = """\
examples:
  inductor-debug bench latency
  inductor-debug bench latency --models mlp,bert --repeat 30
  inductor-debug bench kerneldiff --format json

exit codes: 0 every promise was kept, 1 one was not, 2 it could not be measured
"""


FAILURES = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument("benchmark", choices=list(BENCHMARKS), metavar="BENCHMARK", help="what to measure")
    parser.add_argument(
        "--corpus",
        default="tests/inference",
        help="inference, bugs, layers: folder of the corpus (%(default)s); bugs: or of files with get_inputs()",
    )
    parser.add_argument(
        "--sample",
        type=int,
        default=0,
        help="inference: only so many classes of each part of the corpus; bugs: about so many mutants that break; "
        "layers: so many architectures",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="bugs, soak, cluster: which mistakes, which deeds (%(default)s)"
    )
    parser.add_argument(
        "--missed", "--verbose", action="store_true", help="bugs: list what was not found, each with what was said"
    )
    parser.add_argument(
        "--resume",
        default="",
        metavar="FILE",
        help="bugs, transformers: keep what was measured in this file (JSON lines), and go on where the last run ended",
    )
    parser.add_argument(
        "--filter",
        default="",
        metavar="REGEX",
        help="transformers, layers: only architectures in whose names this is found",
    )
    parser.add_argument("--limit", type=int, default=0, help="transformers: at most so many; cluster: so many models")
    parser.add_argument("--stages", default="preview", help="transformers: how deep to look (%(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="transformers: files at once (%(default)s)")
    parser.add_argument("--cluster", default="", metavar="WHERE", help="transformers: as `check --cluster` takes it")
    parser.add_argument("--workers", type=int, default=4, help="cluster: workers (%(default)s)")
    parser.add_argument("--trifles", type=int, default=0, help="cluster: results for the client's memory (10000)")
    parser.add_argument(
        "--mistakes",
        default="",
        metavar="FOLDER",
        help="typing: a folder of files and a mistakes.json, as models/typed of this package is one",
    )
    parser.add_argument(
        "--models",
        default=_ALL,
        help="latency, stages, inductor, edits: comma-separated subset of: %(default)s; edits: and resnet152",
    )
    parser.add_argument("--minutes", type=float, default=30.0, help="soak: how long at least (%(default)s)")
    parser.add_argument("--edits", type=int, default=0, help="soak: and until there were so many edits")
    parser.add_argument("--kills", type=int, default=0, help="soak: and until so many processes were killed")
    parser.add_argument("--repeat", type=int, default=15, help="latency: edits for each small model (%(default)s)")
    parser.add_argument("--format", choices=["text", "json"], default="text", help="default: %(default)s")


def run(arguments: argparse.Namespace) -> int:
    """Measures and prints; returns 0 when every promise was kept, 1 when one was not."""
    outcome = BENCHMARKS[arguments.benchmark].run(arguments)
    print(outcome.as_json() if arguments.format == "json" else outcome.as_text())
    return outcome.exit_code()
