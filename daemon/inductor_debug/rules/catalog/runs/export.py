"""The page of `export`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class ExportRule(RunRule):
    """An expression at which `torch.export.export` stops, or the way of its program into a format."""

    id = "export"
    summary = "An expression that torch.export does not take, or a format of what it exports."
    what = """
        `check --stages preview,export` gives each target to `torch.export.export`, as it is by default and with
        `strict=True`, with every size left open that can be. Torch itself stops at the first thing that it cannot
        decide; here the export goes on with made-up answers, so that all of them are told at once, each at its
        expression: a branch on a tensor's value, a number read from a tensor that something later depends on, an
        operator without a fake implementation.

        A model that the file itself exports, with `torch.export.export` or `draft_export`, is exported in every check,
        as the file asks for it. What stops that is an error, at the expression; and where `dynamic_shapes` leaves a
        size open that the code does not, the finding stands there, with what the code asks for and where.

        Where only `strict=True` stops, it is a note, and so is what keeps the exported program from a format: `.pt2`,
        ONNX and ExecuTorch are tried where their libraries are installed (`onnx` and `onnxscript`, `executorch`), and
        every expression that becomes an operator which they do not take is told, once for all of them. A format that
        takes the sizes of the example alone takes the program. What each size became is shown by
        `analyze --type shapes`, and what all formats say, in their own words, by `analyze --type formats`."""
    why = """
        An exported program runs without Python, for ONNX, ExecuTorch, AOTInductor or a server: it has to hold for all
        values and sizes that it will be given. What only one of them can decide has no place in it."""
    example = """
        ```python
        def forward(self, x, lengths):
            n = lengths.max().item()
            if n > 512:                  # one program, and the value decides
                x = x[:, :512]
            return x
        ```"""
    fix = """
        Keep both ways in the program with `torch.cond`, or compute both and choose with `torch.where`. What always
        holds can be said: `torch._check(n <= 512)`, which the fix offers where a branch only asks for it. For sizes a
        fix writes what torch would take (`Dim("rows", max=16)`), or leaves them to torch (`Dim.AUTO`)."""
