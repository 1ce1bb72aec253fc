"""What a client says with each command: one object, the first of the command's arguments.

What is left out, or null, has its default; a name that is not here is refused. Every `uri` is that of a file, every
`line` counts from zero. Where the argument is no object, it is the value of the first field.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Union

from inductor_debug_schema.answers.order_answers import BisectOptions, DiffOptions, ReproOptions
from inductor_debug_schema.findings import Stage


class PageFormat(str, Enum):
    """How an answer is written down for people, beside the answer itself."""

    HTML = "html"


class ReportFormat(str, Enum):
    """What a report is written as."""

    HTML = "html"
    JSON = "json"


@dataclass(frozen=True, kw_only=True)
class EmptyRequest:
    """For commands that need not be told anything."""


@dataclass(frozen=True, kw_only=True)
class FileRequest:
    """A file."""

    uri: str


@dataclass(frozen=True, kw_only=True)
class CheckRequest(FileRequest):
    """A file; of a notebook that is open the cells that were run, or all of them as they stand."""

    all_cells: bool = False


@dataclass(frozen=True, kw_only=True)
class AnyFileRequest:
    """A file, or all files where none is named."""

    uri: Union[str, None] = None


@dataclass(frozen=True, kw_only=True)
class TargetRequest(FileRequest):
    """A target of a file, or all of them: ""."""

    target: str = ""


@dataclass(frozen=True, kw_only=True)
class PageRequest(TargetRequest):
    """A target, and whether the answer comes with a page."""

    format: Union[PageFormat, None] = None


@dataclass(frozen=True, kw_only=True)
class TransfersRequest(PageRequest):
    """Transfers, and how many of a tensor's first and last values, and of those that differ, come along."""

    values: int = 0


@dataclass(frozen=True, kw_only=True)
class ProfileRequest(TargetRequest):
    """A profile of steps that run with `backend`, the usual one where it is None.

    `trace` is the URI of a Chrome trace that was recorded of the target, which is read in place of a run. `training`
    adds the backward pass; where it is None, it belongs to the step if the target trains.
    """

    backend: Union[str, None] = None
    training: Union[bool, None] = None
    trace: Union[str, None] = None


@dataclass(frozen=True, kw_only=True)
class CompileTimeRequest(TargetRequest):
    """Where compiling goes; with `ways`, also what it takes in other ways where layers are equal."""

    ways: bool = False


@dataclass(frozen=True, kw_only=True)
class DebugRequest(TargetRequest):
    """Files in which a debugger stops; `line`, from zero, says to which expressions it is to run."""

    line: Union[int, None] = None


@dataclass(frozen=True, kw_only=True)
class WorkspaceRequest:
    """Folders by their URIs; all of the workspace where there are none."""

    folders: Union[list[str], None] = None


@dataclass(frozen=True, kw_only=True)
class GraphRequest(TargetRequest):
    """Stages whose graphs are wanted, of "mock", "aot" and "inductor"; the first two where none are named.

    `fresh` asks for new ones, even where the analysis has captured the file as it is now. With `compile` the kernels
    for a GPU, which need not be there, are compiled as well; each is told as it comes, without its texts.
    """

    stages: Union[list[Stage], None] = None
    fresh: bool = False
    compile: bool = False


@dataclass(frozen=True, kw_only=True)
class DiffRequest(DiffOptions, TargetRequest):
    """A comparison."""


@dataclass(frozen=True, kw_only=True)
class BisectRequest(BisectOptions, PageRequest):
    """A bisection."""


@dataclass(frozen=True, kw_only=True)
class ReproRequest(ReproOptions, TargetRequest):
    """A reproducer."""


@dataclass(frozen=True, kw_only=True)
class AcceleratorsRequest(PageRequest):
    """Names of accelerators and paths of profiles; those that come with the tool, and the chosen one, without any."""

    accelerators: Union[list[str], None] = None


@dataclass(frozen=True, kw_only=True)
class SetSizesRequest(TargetRequest):
    """Sizes of inputs by name, whole numbers from 1; those that are not named are as usual again."""

    sizes: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class OutlineRequest(FileRequest):
    """A document; its `text` is needed where the server is not told of such documents, as of cells of notebooks."""

    text: Union[str, None] = None


@dataclass(frozen=True, kw_only=True)
class DirectiveRequest(OutlineRequest):
    """A class by its `name`, and what its directive shall say, as Python; edits come where there are `inputs`."""

    name: str
    inputs: Union[str, None] = None
    init: Union[str, None] = None


@dataclass(frozen=True, kw_only=True)
class TensorsRequest(FileRequest):
    """A line of the open document's present text.

    Of several runs of the line the one in `module` is told, else number `call`; `target` is preferred to others that
    run it. `first` is the number of the first row that is wanted.
    """

    line: int
    target: str = ""
    call: int = 0
    module: str = ""
    first: int = 0


@dataclass(frozen=True, kw_only=True)
class BugReportRequest(TargetRequest):
    """What a bug report is about: a shown finding by its `fingerprint`, or the target's most severe one.

    A bisection (`bisect`) may take minutes.
    """

    fingerprint: str = ""
    bisect: bool = True


@dataclass(frozen=True, kw_only=True)
class WriteBugReportRequest:
    """A report that was gathered, by its `id`, and the path of the file to `write` it into."""

    id: str
    write: str


@dataclass(frozen=True, kw_only=True)
class ReportRequest(FileRequest):
    """A report on a file."""

    format: ReportFormat = ReportFormat.HTML


@dataclass(frozen=True, kw_only=True)
class ExplainRequest:
    """A rule by its id; `show` has its page shown as a message, too, for clients that do nothing with an answer."""

    rule: str
    show: bool = False
