"""The server object that all features share: one client, one engine, and the way from one to the other.

It owns the order in which an update of the engine reaches the client: diagnostics first, then progress, then the
`inductorDebug/analysis` notification, so that `done` always comes after the last findings. Features live in modules of
their own and register themselves; this one has none.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inductor_debug_schema import Position, Range, RunCost
from pygls.lsp.server import LanguageServer

from inductor_debug import __version__
from inductor_debug.engine.fixes.edits import TextEdit
from inductor_debug.engine.results.analysis import AnalysisUpdate
from inductor_debug.engine.results.target_costs import costs_in
from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.server.rpc.client import Client
from inductor_debug.server.rpc.protocol import Protocol
from inductor_debug.server.state.analysis_notification import METHOD as ANALYSIS
from inductor_debug.server.state.analysis_notification import analysis_notification
from inductor_debug.server.state.captured_graphs import CapturedGraphs
from inductor_debug.server.state.client_configuration import Configuration
from inductor_debug.server.state.committed_costs import CommittedCosts
from inductor_debug.server.state.editor_texts import EditorDocument
from inductor_debug.server.state.known_comparisons import Numerics
from inductor_debug.server.state.known_compile_times import CompileTimes
from inductor_debug.server.state.known_kernels import KnownKernels
from inductor_debug.server.state.notebook_cells import NotebookCells
from inductor_debug.server.state.notices import Notices
from inductor_debug.server.state.unchecked import Unchecked
from inductor_debug.server.state.workspace_results import WorkspaceResults
from inductor_debug.source.text_lines import split_lines, utf16_length

if TYPE_CHECKING:
    from inductor_debug.engine.engine import Engine
    from inductor_debug.engine.pool.pool import PoolFactory

logger = logging.getLogger(__name__)

Listener = Callable[[AnalysisUpdate], None]


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What `serve` was started with; `pool_factory` replaces the worker pools in tests."""

    cache_folder: Path | None = None
    jobs: int | None = None
    command_line: Mapping[str, Any] | None = None
    pool_factory: PoolFactory | None = None


class Server(LanguageServer):
    """One language server for one client.

    Features wait for `ready` (the settings are known) before they use the engine; `ending` is set when the server
    shall leave.
    """

    protocol: Protocol

    def __init__(self, options: ServeOptions) -> None:
        super().__init__("inductor-debug", __version__, protocol_cls=Protocol)
        self.client = Client()
        self.documents: dict[str, EditorDocument] = {}
        self.cells = NotebookCells()
        self.notices = Notices(self.window_show_message)
        self.configuration = Configuration(self.notices, command_line=options.command_line)
        self.numerics = Numerics(self)
        self.compile_times = CompileTimes()
        self.captured_graphs = CapturedGraphs()
        self.known_kernels = KnownKernels()
        self.committed = CommittedCosts(self._costs_with)
        self.unchecked = Unchecked(self)
        self.workspace_results = WorkspaceResults(self)
        self.listeners: list[Listener] = [self.unchecked.hear]
        self.opened_listeners: list[Callable[[str], None]] = []
        self.closed_listeners: list[Callable[[str], None]] = [
            self.unchecked.forget,
            self.compile_times.forget,
            self.captured_graphs.forget,
        ]
        self.file_listeners: list[Callable[[set[str]], None]] = [self.captured_graphs.doubt]
        self.settings_listeners: list[Callable[[], None]] = []
        self.ready = asyncio.Event()
        self.exit_code: int | None = None
        self._options = options
        self._engine: Engine | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self.ending = asyncio.Event()
        self._stopping: asyncio.Task[None] | None = None

    # The engine.

    @property
    def engine(self) -> Engine:
        """The engine, imported and made when it is first needed: `initialize` is answered without it."""
        if self._engine is None:
            from inductor_debug.engine.engine import Engine
            from inductor_debug.engine.pool.supervisor import WorkerPool

            self._engine = Engine(
                settings_for=self.configuration.settings_for,
                listener=self.hear,
                pool_factory=self._options.pool_factory or WorkerPool,
                cache_folder=self._options.cache_folder,
                jobs=self._options.jobs,
                remembers=True,
                selects=True,
            )
        return self._engine

    def hear(self, update: AnalysisUpdate) -> None:
        """Shows an update to the client: of a document, or of a file that is not open."""
        for listener in self.listeners:
            self._show(listener, update)
        notebook = self.cells.known.get(update.uri)
        cells = notebook.lines() if notebook is not None else []
        self.protocol.notify(ANALYSIS, analysis_notification(update, self.accelerator_of(update.path), cells))

    def accelerator_of(self, path: str) -> str | None:
        """The name of the accelerator a file is checked for: None for no accelerator, "" without usable settings."""
        try:
            return self.configuration.settings_for(path).chosen_accelerator
        except ConfigurationError:
            return ""

    def _show(self, listener: Listener, update: AnalysisUpdate) -> None:
        """Lets one feature fail without the others: `done` must come whatever happens."""
        try:
            listener(update)
        except Exception:
            logger.exception("an update of %s could not be shown", update.uri)

    def prewarm(self, path: str) -> None:
        """Starts the workers that files under `path` will need, if the settings there can be used at all."""
        if not path:
            return
        try:
            self.engine.prewarm(path)
        except ConfigurationError as error:
            logger.info("no workers were started ahead for %s: %s", path, error)
        except Exception:
            logger.exception("workers could not be started ahead for %s", path)

    # Tasks and the end.

    async def _costs_with(self, uri: str, text: str) -> dict[str, RunCost] | None:
        """What the targets of an open document cost with another text in place of all of its own."""
        document = self.documents.get(uri)
        if document is None:
            return None  # closed meanwhile
        lines = split_lines(document.text)
        whole = Range(Position(0, 0), Position(len(lines) - 1, utf16_length(lines[-1])))
        report = await self.engine.try_edits(uri, [TextEdit(whole, text)])
        return None if report is None else costs_in(report)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Runs `work` in the background; its failure is logged, never shown."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("a background task failed", exc_info=task.exception())

    def end(self, exit_code: int) -> None:
        """Leaves with this exit code; the first call decides."""
        if self.exit_code is None:
            self.exit_code = exit_code
        self.ending.set()

    def stop_engine(self) -> asyncio.Task[None]:
        """Begins to stop every worker, once; the returned task ends when none is left."""
        if self._stopping is None:
            self._stopping = asyncio.get_running_loop().create_task(self._stop_engine())
        return self._stopping

    async def _stop_engine(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        if self._engine is not None:
            await self._engine.shutdown()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Logs what pygls would show as a pop-up: our own mistakes are no business of the user's."""
        logger.error("%s: %s", getattr(source, "__name__", source), error, exc_info=error)
