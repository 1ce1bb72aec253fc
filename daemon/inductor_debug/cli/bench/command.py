"""The `bench` subcommand: runs a benchmark and prints what it measured beside what we promise."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass

from inductor_debug.cli.bench import artifacts, inductor, inference, kerneldiff, latency, numerics, repro, stages


@dataclass(frozen=True, slots=True)
class Benchmark:
    """What a benchmark measures, and what runs it: 0 when every promise was kept, 1 when one was not."""

    summary: str
    run: Callable[[argparse.Namespace], int]


def _models(arguments: argparse.Namespace) -> list[str]:
    return [name for name in arguments.models.split(",") if name]


def _latency(arguments: argparse.Namespace) -> int:
    models = _models(arguments)
    unknown = [name for name in models if name not in (*latency.SMALL, *latency.LARGE)]
    if unknown:
        raise SystemExit(f"bench: unknown model {unknown[0]!r}; there are: {', '.join(latency.SMALL + latency.LARGE)}")
    result = latency.measure(models, max(1, arguments.repeat))
    if arguments.format == "json":
        promises = [{"kept": kept, "promise": text} for kept, text in latency.promises(result)]
        print(json.dumps({"schema": 1, **dataclasses.asdict(result), "promises": promises}, indent=2))
    else:
        print(latency.render(result))
    return 0 if all(kept for kept, _ in latency.promises(result)) else 1


BENCHMARKS = {
    "latency": Benchmark("from an edit to its findings, beside a bare Dynamo trace and a cold script", _latency),
    "inference": Benchmark(
        "how often inputs are inferred, how well and how fast",
        lambda given: inference.run(given.corpus, given.sample, given.format),
    ),
    "stages": Benchmark(
        "the aot stage beside bare AOTAutograd", lambda given: stages.run(_models(given), given.format)
    ),
    "inductor": Benchmark(
        "the inductor stage beside bare lowering", lambda given: inductor.run(_models(given), given.format)
    ),
    "artifacts": Benchmark("keeping and listing graphs", lambda given: artifacts.run(given.format)),
    "numerics": Benchmark("metrics of large tensors and emulated rounding", lambda given: numerics.run(given.format)),
    "kerneldiff": Benchmark("comparing every operation of BERT", lambda given: kerneldiff.run(given.format)),
    "repro": Benchmark("reducing failures, beside torch's own minifier", lambda given: repro.run(given.format)),
}


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Adds the parser of `bench`."""
    width = max(map(len, BENCHMARKS))
    listed = "\n".join(f"  {name:{width}}  {known.summary}" for name, known in BENCHMARKS.items())
    parser = subparsers.add_parser(
        "bench",
        help="measure the speed that we promise",
        description="Measures, and prints what was measured beside what we promise. Needs a quiet machine and, for "
        f"some of the models, transformers.\n\nbenchmarks:\n{listed}",
        epilog="exit codes: 0 every promise was kept, 1 one was not",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("benchmark", choices=list(BENCHMARKS), metavar="BENCHMARK", help="what to measure")
    parser.add_argument("--corpus", default="tests/inference", help="inference: folder of the corpus (%(default)s)")
    parser.add_argument(
        "--sample", type=int, default=0, help="inference: only so many classes of each part of the corpus"
    )
    known = [*latency.SMALL, *latency.LARGE]
    parser.add_argument(
        "--models", default=",".join(known), help="latency, stages, inductor: comma-separated subset of: %(default)s"
    )
    parser.add_argument("--repeat", type=int, default=15, help="latency: edits for each small model (%(default)s)")
    parser.add_argument("--format", choices=["text", "json"], default="text", help="default: %(default)s")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Returns 0 when every promise was kept, 1 when one was not."""
    return BENCHMARKS[arguments.benchmark].run(arguments)
