"""The `bench` subcommand: runs a benchmark and prints what it measured beside what we promise."""

from __future__ import annotations

import argparse
import dataclasses
import json

from inductor_debug.cli.bench import artifacts, inductor, inference, kerneldiff, latency, numerics, repro, stages


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Adds the parser of `bench`."""
    parser = subparsers.add_parser(
        "bench",
        help="measure the speed that we promise",
        description="Measures how soon an edit becomes findings, against a bare Dynamo trace and a cold script of the "
        "same model in the same run. Needs a quiet machine and, for two of the models, transformers.",
    )
    parser.add_argument(
        "benchmark",
        choices=["latency", "artifacts", "inference", "inductor", "kerneldiff", "numerics", "repro", "stages"],
        help="what to measure",
    )
    parser.add_argument("--corpus", default="tests/inference", help="folder of the inference corpus (%(default)s)")
    parser.add_argument(
        "--sample", type=int, default=0, help="take only so many classes of each part of the corpus (default: all)"
    )
    known = [*latency.SMALL, *latency.LARGE]
    parser.add_argument("--models", default=",".join(known), help="comma-separated subset of: %(default)s")
    parser.add_argument("--repeat", type=int, default=15, help="edits for each small model (default: %(default)s)")
    parser.add_argument("--format", choices=["text", "json"], default="text", help="default: %(default)s")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Returns 0 when every promise was kept, 1 when one was not."""
    if arguments.benchmark == "inference":
        return inference.run(arguments.corpus, arguments.sample, arguments.format)
    if arguments.benchmark == "inductor":
        return inductor.run(arguments.models.split(","), arguments.format)
    if arguments.benchmark == "repro":
        return repro.run(arguments.format)
    if arguments.benchmark == "stages":
        return stages.run(arguments.models.split(","), arguments.format)
    if arguments.benchmark == "artifacts":
        return artifacts.run(arguments.format)
    if arguments.benchmark == "kerneldiff":
        return kerneldiff.run(arguments.format)
    if arguments.benchmark == "numerics":
        return numerics.run(arguments.format)
    models = [name for name in arguments.models.split(",") if name]
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
