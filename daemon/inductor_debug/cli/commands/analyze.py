"""`inductor-debug analyze`: one thing about targets, summed up.

What can be asked for stands in `TYPES`: how a worker is asked for it, which documents that makes, and how people read
one. To add a type, add a row.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

from inductor_debug_schema import CompileTimeDocument, Stage, to_wire
from inductor_debug_schema.answers.constraints_document import ConstraintsDocument
from inductor_debug_schema.answers.cost_document import CostDocument
from inductor_debug_schema.answers.formats_document import FormatsDocument
from inductor_debug_schema.answers.guards_document import GuardsDocument
from inductor_debug_schema.answers.memory_document import MemoryDocument
from inductor_debug_schema.answers.shapes_document import ShapesDocument
from inductor_debug_schema.answers.statistics_document import StatisticsDocument

from inductor_debug.accelerators.document import ProfileError
from inductor_debug.accelerators.profile import Profile, read_profile
from inductor_debug.artifacts.errors import ArtifactError
from inductor_debug.cli.support import console
from inductor_debug.cli.support.captured import is_artifact, read_statistics
from inductor_debug.cli.support.check_arguments import add_sizes
from inductor_debug.cli.support.order_runner import Done, perform_order
from inductor_debug.cli.support.output import Output, add_output, styler
from inductor_debug.cli.support.target_arguments import add_run_arguments, said, subject_of
from inductor_debug.compiler_output.compile_time_logs import read_compile_times
from inductor_debug.compiler_output.importing import NothingFoundError
from inductor_debug.engine.live_tensors.memory_snapshot import SUFFIXES, read_snapshot
from inductor_debug.engine.orders.charting import COSTS, KERNELS, MEMORY, costs_of, memories_of
from inductor_debug.engine.orders.compiling import COMPILE_TIMES, COMPILE_WAYS
from inductor_debug.engine.orders.made_documents import formats_of, guards_of, shapes_of, statistics_of
from inductor_debug.engine.orders.orders import Order
from inductor_debug.engine.orders.outcomes import failure, shortfall
from inductor_debug.engine.settings.settings_ladder import ConfigurationError
from inductor_debug.engine.text.source_files import texts_as_ran
from inductor_debug.report.charts.charts_html import compile_time_html, memory_html, roofline_html
from inductor_debug.report.charts.memory_chart import memory_chart
from inductor_debug.report.charts.roofline import roofline
from inductor_debug.report.cost_rows import SORTS, in_order
from inductor_debug.report.data_pages import PageError
from inductor_debug.report.file_names import FileNames, repository_root
from inductor_debug.report.formats.compile_time_csv import compile_time_csv
from inductor_debug.report.formats.cost_csv import cost_csv
from inductor_debug.report.formats.kernels_csv import kernels_csv
from inductor_debug.report.formats.shapes_csv import shapes_csv
from inductor_debug.report.roofs import roofline_of
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Styler
from inductor_debug.report.text.compile_time_text import CompileTimeText
from inductor_debug.report.text.constraint_summary import ConstraintsText, constraints_of
from inductor_debug.report.text.cost_text import CostText
from inductor_debug.report.text.formats_text import FormatsText
from inductor_debug.report.text.guards_text import GuardsText
from inductor_debug.report.text.memory_text import MemoryText
from inductor_debug.report.text.shapes_text import ShapesText
from inductor_debug.report.text.statistics_text import KernelsText, StatisticsText
from inductor_debug.system.matplotlib_figures import MatplotlibUnavailableError

Document = TypeVar(
    "Document",
    StatisticsDocument,
    ConstraintsDocument,
    GuardsDocument,
    CostDocument,
    MemoryDocument,
    ShapesDocument,
    FormatsDocument,
    CompileTimeDocument,
)


@dataclass(frozen=True, slots=True)
class AnalysisView:
    """What texts are written with."""

    places: FileNames
    sources: ShownTexts
    styler: Styler
    profile: Profile | None = None
    """The accelerator; None where none was chosen."""


@dataclass(frozen=True)
class Type(Generic[Document]):
    """Something to ask about targets.

    `order` is what a worker is asked, `documents` what that makes, `text` one of them for people. `read` reads those
    that were kept in a file, whose name ends as `kept` says, or in one of the `folders`. `stages` can be asked for it.
    `ordered` sorts the rows of one as `--sort` says, and `csv` makes a table of all, where there are rows; `svg` draws
    them, where there is something to see, and `html` makes the editor's page of them. `tries` says that there are other
    ways to try, and `sized` that sizes of the inputs can be set.
    """

    summary: str
    order: Callable[[argparse.Namespace], Order]
    documents: Callable[[Done], list[Document]]
    text: Callable[[Document, AnalysisView], str]
    read: Callable[[str], list[Document]] | None = None
    kept: tuple[str, ...] = (".json",)
    folders: bool = False
    stages: tuple[Stage, ...] = (Stage.PREVIEW, Stage.MOCK, Stage.AOT, Stage.INDUCTOR)
    ordered: Callable[[Document, str], Document] | None = None
    csv: Callable[[list[Document], AnalysisView], str] | None = None
    svg: Callable[[list[Document], AnalysisView], str] | None = None
    html: Callable[[list[Document], AnalysisView], str] | None = None
    tries: bool | None = None
    sized: bool | None = True


def _stages(arguments: argparse.Namespace) -> tuple[Stage, ...]:
    return (Stage(arguments.stage),) if arguments.stage else ()


TYPES: dict[str, Type[Any]] = {
    "summary": Type(
        "op counts, dtypes, bytes, FLOPs, the peak of memory, and at stage inductor kernels",
        order=lambda arguments: Order(stages=_stages(arguments) or (Stage.AOT,), keep_graphs=True),
        documents=lambda done: statistics_of(done.performed.artifacts),
        text=lambda document, view: StatisticsText(view.places, view.styler).text(document),
        read=lambda path: [read_statistics(path)],
        stages=(Stage.MOCK, Stage.AOT, Stage.INDUCTOR),
    ),
    "constraints": Type(
        "what the accelerator does not allow, by rule",
        order=lambda arguments: Order(stages=_stages(arguments)),
        documents=lambda done: [constraints_of(done.performed.report, done.settings.chosen_accelerator)],
        text=lambda document, view: ConstraintsText(view.places, view.sources, view.styler).text(document),
    ),
    "guards": Type(
        "what compiled graphs rely on, what compiles them again, and functions left eager",
        order=lambda arguments: Order(stages=_stages(arguments) or (Stage.MOCK,), keep_guards=True),
        documents=lambda done: guards_of(done.performed.artifacts),
        text=lambda document, view: GuardsText(view.places, view.styler).text(document),
    ),
    "kernels": Type(
        "the kernels that Inductor makes, for a GPU that need not be there, with the bytes that each moves and what it "
        "takes at least",
        order=lambda arguments: KERNELS,
        documents=lambda done: statistics_of(done.performed.artifacts),
        text=lambda document, view: KernelsText(view.places, view.sources, view.styler).text(document),
        stages=(Stage.INDUCTOR,),
        csv=lambda documents, view: kernels_csv(documents, view.sources),
    ),
    "cost": Type(
        "bytes, FLOPs, and the seconds that each expression, line and module takes at least on the accelerator",
        order=lambda arguments: replace(COSTS, stages=_stages(arguments) or COSTS.stages),
        documents=lambda done: costs_of(done.performed.artifacts),
        text=lambda document, view: CostText(view.places, view.sources, view.styler).text(document),
        ordered=in_order,
        csv=lambda documents, view: cost_csv(documents, view.sources),
        svg=lambda documents, view: roofline(documents, view.profile, view.places),
        html=lambda documents, view: roofline_html(
            [roofline_of(document, view.profile) for document in documents], view.places.shown
        ),
    ),
    "shapes": Type(
        "what torch.export makes of each size of the inputs, and the expression that decides",
        order=lambda arguments: Order(stages=(Stage.EXPORT,), keep_graphs=True),
        documents=lambda done: shapes_of(done.performed.artifacts),
        text=lambda document, view: ShapesText(view.places, view.sources, view.styler).text(document),
        stages=(Stage.EXPORT,),
        csv=lambda documents, view: shapes_csv(documents, view.sources),
        sized=None,
    ),
    "formats": Type(
        "which formats take the exported program (.pt2, ONNX, ExecuTorch), and the expressions that stop the others",
        order=lambda arguments: Order(stages=(Stage.EXPORT,), export_formats=True),
        documents=lambda done: formats_of(done.performed.artifacts),
        text=lambda document, view: FormatsText(view.places, view.sources, view.styler).text(document),
        stages=(Stage.EXPORT,),
        sized=None,
    ),
    "memory": Type(
        "the memory that is alive while each operation of a run runs, its peak, and who holds it",
        order=lambda arguments: MEMORY,
        documents=lambda done: memories_of(
            done.performed, texts_as_ran(done.performed.report.path, done.performed.text)
        ),
        text=lambda document, view: MemoryText(view.places, view.sources, view.styler).text(document),
        read=lambda path: read_snapshot(path, texts_as_ran(path, "")),
        kept=SUFFIXES,
        stages=(Stage.PREVIEW,),
        svg=lambda documents, view: memory_chart(documents, view.places),
        html=lambda documents, view: memory_html(documents, view.places.shown),
    ),
    "time": Type(
        "where compiling goes, by phase, by your expressions and by module; kernels are not built",
        order=lambda arguments: COMPILE_WAYS if arguments.ways else COMPILE_TIMES,
        documents=lambda done: done.performed.documents(CompileTimeDocument),
        text=lambda document, view: CompileTimeText(view.places, view.sources, view.styler).text(document),
        read=read_compile_times,
        kept=(".log",),
        folders=True,
        stages=(),
        csv=lambda documents, view: compile_time_csv(documents, view.sources),
        html=lambda documents, view: compile_time_html(documents, view.places.shown),
        tries=True,
        sized=None,
    ),
}
DESCRIPTION = "Runs the targets of files, without weights and without the accelerator, and sums one thing up."
EPILOG = """\
examples:
  inductor-debug analyze model.py                                    statistics of every target
  inductor-debug analyze model.py::Net --type constraints
  inductor-debug analyze model.py --type guards                      what compiles the model again
  inductor-debug analyze model.py --type shapes                      which sizes may vary, and what fixes the others
  inductor-debug analyze model.py --type formats                     whether .pt2, ONNX and ExecuTorch take the export
  inductor-debug analyze model.py --type cost --accelerator h100     where the time goes, at least
  inductor-debug analyze model.py --type cost --accelerator rtx-4090 --size batch=32     with a batch of yours
  inductor-debug analyze model.py --type cost --accelerator rtx-4090 --sort bytes --format csv -o cost.csv
  inductor-debug analyze model.py --type cost --accelerator h100 --format svg -o roofline.svg
  inductor-debug analyze model.py --type kernels --accelerator h100  which kernels it becomes, and what each moves
  inductor-debug analyze model.py --type memory                      what is alive, and where it is most
  inductor-debug analyze model.py --type memory --format svg -o memory.svg
  inductor-debug analyze model.py --type memory --format html -o memory.html   a page to click in; of costs, too
  inductor-debug analyze model.py --type time                        what makes compiling slow
  inductor-debug analyze model.py --type time --try                  and whether equal layers can be compiled faster
  inductor-debug analyze model.py --type time --format html -o time.html   as a page to click in
  inductor-debug analyze trace/ --type time                          where it went in a run with TORCH_TRACE=trace
  inductor-debug analyze snapshot.pickle --type memory               what torch.cuda.memory._dump_snapshot wrote
  inductor-debug analyze model.py --stage mock --format json
  inductor-debug analyze model.py --stage inductor                   kernels, and the bytes that each moves
  inductor-debug analyze debug_artifacts/statistics/net.json         statistics that were kept

exit codes: 0, or 2 where something could not be analysed
"""


FAILURES = (ConfigurationError, ArtifactError, NothingFoundError, ProfileError, MatplotlibUnavailableError, PageError)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    types = "; ".join(f"{name}: {known.summary}" for name, known in TYPES.items())
    parser.add_argument("subjects", metavar="FILE[::TARGET]", nargs="+", help="a Python file, or a kept artifact")
    parser.add_argument("--type", choices=list(TYPES), default="summary", help=f"{types} (default: summary)")
    looked_at = {stage for kind in TYPES.values() for stage in kind.stages}
    stages = [stage.value for stage in Stage if stage in looked_at]
    parser.add_argument("--stage", choices=stages, help="look at this stage alone (default: as fits the type)")
    parser.add_argument("--sort", choices=list(SORTS), help="of --type cost: by what rows are sorted (default: bound)")
    parser.add_argument(
        "--try",
        action="store_true",
        dest="ways",
        help="of --type time: compile models of equal layers in other ways as well, and say what that saves",
    )
    add_sizes(parser)
    add_output(parser, formats=("text", "json", "csv", "svg", "html"))
    add_run_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Analyses and prints; returns the exit code.

    Raises:
        BrokenPipeError: the reader of standard output went away.
    """
    kind = TYPES[arguments.type]
    if arguments.stage and Stage(arguments.stage) not in kind.stages:
        known = ", ".join(stage.value for stage in kind.stages)
        return console.fail(f"--type {arguments.type} is of the stages {known}, not {arguments.stage}")
    if lacking := _not_offered(kind, arguments):
        return console.fail(lacking)
    documents: list[Any] = []
    shown: dict[str, str] = {}
    troubles: list[str] = []
    profile: Profile | None = None
    output = Output(arguments.output, utf8=arguments.format != "text")
    for words in arguments.subjects:
        found = _found(kind, words, arguments, shown)
        documents += found.documents
        troubles += [found.trouble] if found.trouble else []
        profile = found.profile or profile
    output.write(_rendered(kind, documents, arguments, shown, profile))
    output.commit()
    for trouble in troubles:
        console.fail(trouble)
    return 2 if troubles else 0


def _not_offered(kind: Type[Document], arguments: argparse.Namespace) -> str:
    """What is asked of a type that it does not have, in words."""
    for words, asked, what in (
        ("--sort", arguments.sort, "ordered"),
        ("--try", arguments.ways, "tries"),
        ("--size", arguments.sizes, "sized"),
        ("--format csv", arguments.format == "csv", "csv"),
        ("--format svg", arguments.format == "svg", "svg"),
        ("--format html", arguments.format == "html", "html"),
    ):
        if asked and getattr(kind, what) is None:
            offering = " or ".join(name for name, known in TYPES.items() if getattr(known, what) is not None)
            return f"{words} is for --type {offering}, not {arguments.type}"
    return ""


class _Found(NamedTuple):
    """The documents of one subject, why there are none or not all, and the accelerator that was chosen."""

    documents: list[Any]
    trouble: str = ""
    profile: Profile | None = None


def _found(kind: Type[Document], words: str, arguments: argparse.Namespace, shown: dict[str, str]) -> _Found:
    """What is found for one subject; `shown` gets what its file is called."""
    kept = any(is_artifact(words, suffix) for suffix in kind.kept) or (kind.folders and os.path.isdir(words))
    if kind.read is not None and kept:
        return _Found(kind.read(words))
    subject = subject_of(words)
    shown[subject.path] = subject.shown
    asked, sizes = said(arguments, subject.path), arguments.sizes
    done = perform_order(subject, kind.order(arguments), asked, quiet=arguments.quiet, sizes=sizes)
    profile = read_profile(done.settings.profile) if done.settings.chosen_accelerator else None
    documents, trouble = kind.documents(done), failure(done.performed)
    if not documents and trouble is None:
        trouble = shortfall(done.performed.report) or "nothing was captured"
    return _Found(documents, f"{subject.shown}: {trouble}" if trouble is not None else "", profile)


def _rendered(
    kind: Type[Document],
    documents: list[Document],
    arguments: argparse.Namespace,
    shown: dict[str, str],
    profile: Profile | None,
) -> str:
    if kind.ordered is not None and arguments.sort:
        documents = [kind.ordered(document, arguments.sort) for document in documents]
    if arguments.format == "json":
        document = {"schema": 1, "type": arguments.type, "analyses": to_wire(documents)}
        return json.dumps(document, indent=1) + "\n"
    view = _view(arguments, shown, profile)
    table = {"csv": kind.csv, "svg": kind.svg, "html": kind.html}.get(arguments.format)
    if table is not None:
        return table(documents, view)
    return "\n".join(kind.text(document, view) for document in documents)


def _view(arguments: argparse.Namespace, shown: dict[str, str], profile: Profile | None) -> AnalysisView:
    folder = os.getcwd()
    return AnalysisView(FileNames(folder, repository_root(folder), shown), ShownTexts(), styler(arguments), profile)
