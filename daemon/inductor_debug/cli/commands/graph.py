"""`inductor-debug graph`: what the compiler makes of a target, as text, JSON, DOT, SVG or one HTML page."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace

from inductor_debug_schema import GraphDocument, Stage

from inductor_debug.artifacts.errors import ArtifactError
from inductor_debug.artifacts.graph_columns import SUFFIX
from inductor_debug.cli.support.captured import is_artifact, read_graph
from inductor_debug.cli.support.check_arguments import add_sizes
from inductor_debug.cli.support.console import CommandError, say
from inductor_debug.cli.support.imported import read_imported
from inductor_debug.cli.support.kernel_compiling import compiled
from inductor_debug.cli.support.order_runner import Perform, Tell, perform_orders
from inductor_debug.cli.support.output import Output, add_output, styler
from inductor_debug.cli.support.size_arguments import require_sizes
from inductor_debug.cli.support.target_arguments import add_run_arguments, add_subject, said, subject_of
from inductor_debug.engine.orders.file_targets import FileTarget
from inductor_debug.engine.orders.made_documents import documents_of, statistics_of
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.orders.outcomes import failure, shortfall
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.engine.settings.settings_ladder import ConfigurationError
from inductor_debug.report.data_pages import PageError
from inductor_debug.report.file_names import FileNames, repository_root
from inductor_debug.report.source_characters import ShownTexts

FORMATS = ("readable", "json", "dot", "svg", "html")
STAGES = tuple(stage.value for stage in (Stage.MOCK, Stage.AOT, Stage.INDUCTOR))
_CUT_SHORT = ("capture-error", "timeout", "crash")
_NOTHING = "no graph was captured: there is no tensor operation in it that torch.compile could compile"
DESCRIPTION = "Captures the graphs of a target, without weights and without building anything, and shows them."
EPILOG = """\
examples:
  inductor-debug graph model.py                          the graphs that Dynamo captures, under the lines they come from
  inductor-debug graph model.py::Net --stage aot         forward and backward
  inductor-debug graph model.py --stage export           the program that torch.export makes of it
  inductor-debug graph model.py --stage inductor         down to kernels; nothing is built
  inductor-debug graph model.py --stage inductor --accelerator h100      Triton kernels for a GPU that need not be there
  inductor-debug graph model.py --stage inductor --accelerator h100 --compile    and their registers, PTX and SASS
  inductor-debug graph model.py --stage inductor --accelerator spyre     and what each kernel asks of its memory
  inductor-debug graph model.py --format html -o net.html    every stage, in one page that needs no network
  inductor-debug graph debug_artifacts/aot_graphs/net.graph --format svg -o net.svg
  inductor-debug graph --artifacts torch_compile_debug/      what a compile of yours has written, tied to your source
  inductor-debug graph --artifacts trace/::0/0 --format json

stages:
  mock       what Dynamo captures, before autograd
  aot        joint, forward and backward graphs
  inductor   graphs after Inductor's passes, IR with its loops, kernels
  export     what torch.export makes, with every size open that can be

For an accelerator that lays tensors out in its own way (Spyre: in sticks) the kernels come with their specs: loops in
padded sizes, device sizes and stride maps of arguments, and what has to be laid out anew. They are derived from
Inductor's IR; what only the accelerator's compiler knows is left out and named.

For a GPU the kernels are those that Inductor makes for it, forward and backward; neither it nor Triton is needed.
With `--compile` Triton (pip install inductor-debug[gpu]) compiles each: registers, spilled bytes, shared memory,
occupancy, widths of loads; PTX and SASS or AMDGCN are in the JSON and the page.

A page (`html`) has all stages down to the one named, with their findings; other formats have that stage alone. A kept
graph (`.graph`) can be named in place of a Python file. Formats other than `readable` take one target.

without a Python file, `--artifacts DIR` reads what a compiler has written, and runs nothing:
  a folder of TORCH_COMPILE_DEBUG=1, a folder or log of TORCH_TRACE, kernel files and a spyre_provenance.json of
  torch-spyre. Each compile is a document; DIR::NAME chooses one. Files that were not understood are named.

exit codes: 0, or 2 where nothing was captured
"""


FAILURES = (ConfigurationError, ArtifactError, PageError)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    add_subject(parser, optional=True)
    parser.add_argument(
        "--stage", choices=(*STAGES, Stage.EXPORT.value), help="how far down to go (default: mock; for html: inductor)"
    )
    parser.add_argument(
        "--compile", action="store_true", help="compile the kernels for the GPU with Triton, which need not be there"
    )
    add_sizes(parser)
    add_output(parser, FORMATS, "readable")
    add_run_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Captures and shows; returns the exit code.

    Raises:
        BrokenPipeError: the reader of standard output went away.
    """
    output = Output(arguments.output, utf8=arguments.format != "readable")
    output.write(_shown(arguments))
    output.commit()
    return 0


def _stages(arguments: argparse.Namespace) -> tuple[Stage, ...]:
    """What is captured. A page cannot ask for more later, as an editor does."""
    if arguments.stage == Stage.EXPORT.value:
        return (Stage.EXPORT,)
    page = arguments.format == "html"
    last = arguments.stage or (STAGES[-1] if page else STAGES[0])
    down_to = STAGES[: STAGES.index(last) + 1]
    return tuple(Stage(name) for name in (down_to if page else [last]))


def _shown(arguments: argparse.Namespace) -> str:
    words = arguments.subject
    if words is None:
        return _imported(arguments)
    if is_artifact(words, SUFFIX):
        return _rendered(arguments, FileTarget(words, os.path.abspath(words)), [read_graph(words)], None)
    subject = subject_of(words)
    performed, documents = _captured(arguments, subject)
    if not any(document.graphs for document, _ in documents):
        raise CommandError(f"{subject.shown}: {_reason(performed)}")
    for finding in () if arguments.quiet else performed.report.findings:
        if finding.rule in _CUT_SHORT:  # the graphs of the stages before are there, and nobody would miss the others
            say(finding.message)
    targets = dict.fromkeys(document.target for document, _ in documents)
    if len(targets) > 1 and arguments.format != "readable":
        names = ", ".join(f"{subject.shown}::{target}" for target in targets)
        raise CommandError(f"there are several targets; name one of {names}")
    return _rendered(arguments, subject, documents, performed)


def _captured(
    arguments: argparse.Namespace, subject: FileTarget
) -> tuple[Performed, list[tuple[GraphDocument, bytes]]]:
    """What came of the run, and its documents, whose kernels are compiled where that is wanted."""

    async def work(
        perform: Perform, settings: Settings, tell: Tell
    ) -> tuple[Performed, list[tuple[GraphDocument, bytes]]]:
        performed = await perform(Order(target=subject.target, stages=_stages(arguments), keep_graphs=True))
        documents = documents_of(performed.artifacts)
        if not arguments.compile or not any(document.graphs for document, _ in documents):
            return performed, documents
        made = await compiled([document for document, _ in documents], perform)
        return performed, [(document, b"") for document in made]

    asked, sizes = said(arguments, subject.path), arguments.sizes
    performed, documents = perform_orders(subject, asked, work, quiet=arguments.quiet, sizes=sizes)
    require_sizes(sizes, [performed.report])
    for note in () if arguments.quiet else performed.notes:
        say(note)
    return performed, documents


def _imported(arguments: argparse.Namespace) -> str:
    """What a compiler has written, in place of what we capture."""
    if not arguments.artifacts:
        raise CommandError("name a Python file, or with --artifacts what a compiler has written")
    if arguments.stage:
        raise CommandError(
            "--stage says how far to go with a Python file; what a compiler has written is as deep as it is"
        )
    imported = read_imported(arguments.artifacts)
    if arguments.format != "json" and not arguments.quiet:
        for note in imported.unread:
            say(note)
    documents = imported.documents
    if arguments.format != "readable":
        if len(documents) > 1:
            names = ", ".join(f"{imported.path}::{document.target}" for document in documents)
            raise CommandError(f"there are several compiles; name one of {names}")
        documents = [replace(documents[0], notes=[*documents[0].notes, *imported.unread])]
    subject = FileTarget(imported.path, os.path.abspath(imported.path))
    return _rendered(arguments, subject, [(document, b"") for document in documents], None)


def _reason(performed: Performed) -> str:
    """Why there is no graph: what stopped the capture, else what the stages note."""
    told = failure(performed)
    if told is not None:
        return told
    why = shortfall(performed.report) or next((finding.message for finding in performed.report.findings), "")
    return f"no graph was captured. {why}" if why else _NOTHING


def _rendered(
    arguments: argparse.Namespace,
    subject: FileTarget,
    documents: list[tuple[GraphDocument, bytes]],
    performed: Performed | None,
) -> str:
    folder = os.getcwd()
    places = FileNames(folder, repository_root(folder), {subject.path: subject.shown})
    statistics = statistics_of(performed.artifacts) if performed is not None else []
    document, _ = documents[0]
    # A renderer is imported only when it is wanted.
    if arguments.format == "json":
        from inductor_debug.report.graphs.graph_json import graph_json

        return graph_json(document, statistics[0] if statistics else None, places)
    if arguments.format == "dot":
        from inductor_debug.report.graphs.graph_dot import graph_dot

        return graph_dot(document)
    if arguments.format == "svg":
        from inductor_debug.report.graphs.graph_svg import graph_svg

        return graph_svg(document)
    if arguments.format == "html":
        from inductor_debug.report.graphs.graph_html import graph_html, sources_of

        findings = performed.report.findings if performed is not None else []
        title = f"{subject.shown}::{document.target}"
        graphs = [one for one, _ in documents]
        return graph_html(title, graphs, findings, statistics, sources_of(graphs), places.shown)
    from inductor_debug.report.text.graph_text import GraphText

    text = GraphText(places, ShownTexts(), styler(arguments))
    return "\n".join(text.text(document) for document, _ in documents)
