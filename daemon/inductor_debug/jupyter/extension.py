"""`%load_ext inductor_debug`: the magic `%%compile_check`, and comparisons made in the kernel as HTML.

A cell is checked in worker processes before it runs, so that its findings stand there while it trains. This module
alone imports IPython, and it imports no torch.
"""

from __future__ import annotations

import atexit
import shlex
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import HTML, display

from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.jupyter.session_cells import check_cell
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.formats.notebook_html import diff_inline, graphs_inline
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.scripting.carrying_out import OrderFailedError
from inductor_debug.scripting.engine_thread import EngineThread

_DIFF_REPORT = ("inductor_debug.kerneldiff.judging.diff_report", "DiffReport")


@magics_class
class CompileCheckMagics(Magics):
    """The magics of a session, with workers that stay warm from cell to cell."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._opened = EngineThread()
        atexit.register(self.close)

    def close(self) -> None:
        """Ends the workers."""
        self._opened.close()
        self._opened = EngineThread()

    @magic_arguments()
    @argument("--accelerator", help="a name, or a TOML file; by default what pyproject.toml says")
    @argument("--stages", default="", help="looked at beside the run and the capture: aot,inductor")
    @argument("--entry", help="an expression that gives the model, or a pair of it and its inputs, in quotes")
    @argument("--graph", action="store_true", help="show the graphs that are captured")
    @argument("--no-run", action="store_true", help="check the cell, and do not run it")
    @cell_magic
    def compile_check(self, line: str, cell: str) -> None:
        """Checks what the cell defines or compiles, after the cells that were run before it, and then runs it.

        Findings stand under the cell. Inputs are inferred, or said as in files: by a comment above a class or function,
        `# inductor-debug: inputs=(...)`, by `get_inputs()`, or by `--entry "(Net(), (x,))"`.
        """
        chosen = parse_argstring(self.compile_check, line)
        try:
            ran = self._ran(cell)
            report = check_cell(
                self._opened,
                ran,
                ran[-1][0] + 1 if ran else 1,
                f"\n{cell}",  # the line of the magic is a line of the cell
                accelerator=chosen.accelerator,
                stages=[stage for stage in chosen.stages.split(",") if stage],
                entry=" ".join(shlex.split(chosen.entry)) if chosen.entry else None,
            )
        except (OrderFailedError, ConfigurationError, ValueError) as error:
            print(f"inductor-debug: {error}")
        else:
            display(report)
            if chosen.graph:
                display(HTML(graphs_inline(report.captured)))
        if not chosen.no_run:
            self.shell.run_cell(cell, store_history=False).raise_error()

    def _ran(self, cell: str) -> list[tuple[int, str]]:
        """The cells that were run before this one, with the numbers of their prompts."""
        texts = list(enumerate(self.shell.history_manager.input_hist_raw))[1:]
        if texts and texts[-1][1].strip().endswith(cell.strip()):
            texts.pop()  # it is in the history already, but where nobody wants it there
        return texts


_LOADED: dict[int, CompileCheckMagics] = {}
"""The magics of each shell."""


def load_ipython_extension(shell: InteractiveShell) -> None:
    """What `%load_ext inductor_debug` calls."""
    magics = CompileCheckMagics(shell)
    _LOADED[id(shell)] = magics
    shell.register_magics(magics)
    shell.display_formatter.formatters["text/html"].for_type_by_name(*_DIFF_REPORT, _shown_diff)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """What `%unload_ext inductor_debug` calls."""
    if (magics := _LOADED.pop(id(shell), None)) is not None:
        magics.close()


def _shown_diff(report: Any) -> str:
    """A comparison that `KernelDiffHarness` made."""
    return diff_inline(report.document(), FileNames("", ""), ShownTexts())
