"""Expressions in words: what a hover, an inlay hint and a code lens say of tensors, ops and layouts.

Pure functions; dtypes are written as jaxtyping and others do (`f32[8, 64]`). Who is told is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from inductor_debug_schema import (
    DeviceLayout,
    ExpressionFact,
    Finding,
    GraphBreak,
    ShapeConflict,
    TensorFact,
    TraceStep,
)

from inductor_debug.engine.results.known_expressions import KnownExpression
from inductor_debug.rules.amounts import counted, in_bytes
from inductor_debug.rules.words.break_words import details_of
from inductor_debug.rules.words.conflict_words import sides_of, steps_of
from inductor_debug.rules.words.cost_words import lines_of_cost
from inductor_debug.rules.words.stage_names import stage_name
from inductor_debug.source.notebooks.reading import place_of

_FAMILIES = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}
_DTYPE = re.compile(r"([a-z]+)(\d+)(.*)")
_NAME = re.compile(r"[^\W\d]\w*\b(?!\()")
"""A symbol in a size such as `8*batch + Max(1, T)`."""
_ISSUE = re.compile(r"([\w.-]+/[\w.-]+)\\?#(\d+)")
_MOST_TOLD = 3
_LONGEST_FINDING = 160


def short_dtype(dtype: str) -> str:
    """`f32` for `float32`, `f8_e4m3fn` for `float8_e4m3fn`; names of another kind stay."""
    match = _DTYPE.fullmatch(dtype)
    if match is None or match[1] not in _FAMILIES:
        return dtype
    return f"{_FAMILIES[match[1]]}{match[2]}{match[3]}"


def tensor_type(tensor: TensorFact) -> str:
    """`f32[8, 64]`, `f32[batch, 64]`, `f32[]` for a scalar."""
    return f"{short_dtype(tensor.dtype)}{sizes(tensor.shape)}"


def outputs_type(outputs: Sequence[TensorFact]) -> str:
    """The type of what an expression gives: one tensor, or several in parentheses."""
    if len(outputs) == 1:
        return tensor_type(outputs[0])
    told = [tensor_type(tensor) for tensor in outputs[:_MOST_TOLD]]
    return f"({', '.join([*told, '…'] if len(outputs) > _MOST_TOLD else told)})"


def fact_type(fact: ExpressionFact) -> str:
    """The type of an expression; `f32[8, 4] | f32[8, 2]` where its runs gave different ones."""
    if not fact.variants:
        return outputs_type(fact.outputs)
    told = [outputs_type(outputs) for outputs in fact.variants[:2]]
    return " | ".join([*told, "…"] if len(fact.variants) > 2 else told)


def sizes(values: Sequence[int | str]) -> str:
    """`[8, 64]`."""
    return f"[{', '.join(map(str, values))}]"


class Wording:
    """Writes hovers, in Markdown or as plain text.

    Args:
        markdown: whether the client shows Markdown.
        explain: the client's command that shows a rule's page, if it has one.
    """

    def __init__(self, *, markdown: bool, explain: str | None = None) -> None:
        self._markdown = markdown
        self._explain = explain

    def hover(self, known: KnownExpression, findings: Sequence[Finding], accelerator: str | None) -> str:
        """All that is known of an expression, and the findings that stand there."""
        fact = known.fact
        lines = [*self._outputs(fact, accelerator), self._ops(fact)]
        if fact.modules:
            lines.append(self._modules(fact))
        lines += [self._runs(known), self._free_sizes(fact)]
        if fact.cost is not None:
            lines += lines_of_cost(fact.cost, accelerator or "the accelerator")
        lines += [line for finding in findings for line in (self._finding(finding), *self._background(finding))]
        if known.stale:
            lines.append(self._aside("As it was before the text was edited; the next analysis brings it up to date."))
        return ("  \n" if self._markdown else "\n").join(line for line in lines if line)

    def background(self, findings: Sequence[Finding]) -> str:
        """What there is to know of findings beyond their messages, for places of which nothing else is known."""
        lines = [line for finding in findings for line in self._background(finding)]
        return ("  \n" if self._markdown else "\n").join(lines)

    def _background(self, finding: Finding) -> list[str]:
        if isinstance(finding.facts, ShapeConflict):
            return self._histories(finding.facts)
        if isinstance(finding.facts, GraphBreak):
            return [self._with_issues(self._escaped(line)) for line in details_of(finding.facts)]
        return []

    def _with_issues(self, text: str) -> str:
        """Issues (`pytorch/pytorch#12345`) as links, where the client shows any."""
        return _ISSUE.sub(r"[\g<0>](https://github.com/\1/issues/\2)", text) if self._markdown else text

    def _histories(self, facts: ShapeConflict) -> list[str]:
        """Where the sizes of a conflict come from."""
        lines = []
        for side in sides_of(facts):
            operand = facts.operands[side.operand]
            steps = [self._step(step) for step in steps_of(operand)]
            if steps:
                name = operand.expression or operand.made_by
                lines.append(" ← ".join([f"{self._code(name)}: {side.size}", *steps]))
        return lines

    def _step(self, step: TraceStep) -> str:
        if not self._markdown or step.place is None:
            return step.text
        start = step.place.range.start
        if place := place_of(step.place.path, start.line):  # links into cells name no line
            return f"{self._escaped(step.text)} ({place})"
        address = f"{Path(step.place.path).as_uri()}#L{start.line + 1},{start.character + 1}"
        return f"[{self._escaped(step.text)}]({address})"

    def _outputs(self, fact: ExpressionFact, accelerator: str | None) -> list[str]:
        lines = []
        for tensor in fact.outputs[:_MOST_TOLD]:
            parts = [self._strong(tensor_type(tensor)), f"strides {self._code(sizes(tensor.stride))}"]
            if tensor.bytes is not None:
                parts.append(in_bytes(tensor.bytes))
            lines.append(" · ".join(parts))
            if tensor.layout is not None:
                lines.append(self._layout(tensor.layout, accelerator))
        if len(fact.outputs) > _MOST_TOLD:
            lines.append(f"and {counted(len(fact.outputs) - _MOST_TOLD, 'more tensor')}")
        if not fact.outputs:
            return ["Gives no tensor."]
        return lines if fact.exact else ["The last op under it gave", *lines]

    def _layout(self, layout: DeviceLayout, accelerator: str | None) -> str:
        padding = f"{in_bytes(layout.padding_bytes)} padding" if layout.padding_bytes else "no padding"
        along = "one element a stick" if layout.sparse else f"strides {self._code(sizes(layout.stride_map))}"
        return (
            f"on {accelerator or 'the accelerator'}: {self._code(sizes(layout.size))} · {along} · "
            f"{in_bytes(layout.bytes)}, {padding}"
        )

    def _ops(self, fact: ExpressionFact) -> str:
        named = [
            self._code(name.removesuffix(".default")) + (f" ×{count}" if count > 1 else "")
            for name, count in fact.ops.items()
        ]
        if sum(fact.ops.values()) < fact.op_count:
            named.append("…")
        return f"{counted(fact.op_count, 'op')}: {', '.join(named)}"

    def _modules(self, fact: ExpressionFact) -> str:
        told = ", ".join(self._code(module) for module in fact.modules[:_MOST_TOLD])
        left = fact.module_count - min(len(fact.modules), _MOST_TOLD)
        return f"in {told}{f' and {left:,} more' if left > 0 else ''}"

    def _runs(self, known: KnownExpression) -> str:
        fact = known.fact
        times = "once" if fact.runs == 1 else f"{fact.runs:,} times"
        text = f"ran {times} ({stage_name(known.stage)})"
        if not fact.variants:
            return text
        return f"{text}, with {', '.join(self._code(outputs_type(outputs)) for outputs in fact.variants)}"

    def _free_sizes(self, fact: ExpressionFact) -> str:
        sizes = [size for tensor in fact.outputs[:_MOST_TOLD] for size in tensor.shape if isinstance(size, str)]
        names = list(dict.fromkeys(name for size in sizes for name in _NAME.findall(size)))
        stand = "stands for a size" if len(names) == 1 else "stand for sizes"
        return f"{', '.join(map(self._code, names))} {stand} that may differ from call to call" if names else ""

    def _finding(self, finding: Finding) -> str:
        told = f"{self._strong(finding.rule)} {finding.severity.value}"
        if self._markdown and self._explain is not None:
            # Such a client shows the message of a diagnostic in the same hover.
            return f"{told} · [What is this?](command:{self._explain}?%5B%22{finding.rule}%22%5D)"
        message = finding.headline
        if len(message) > _LONGEST_FINDING:
            message = message[: _LONGEST_FINDING - 1] + "…"
        page = self._code(f"inductor-debug explain {finding.rule}")
        return f"{told}: {self._escaped(message)} ({page})"

    def _code(self, text: str) -> str:
        return f"`{text}`" if self._markdown else text

    def _strong(self, text: str) -> str:
        return f"**`{text}`**" if self._markdown else text

    def _aside(self, text: str) -> str:
        return f"*{text}*" if self._markdown else text

    def _escaped(self, text: str) -> str:
        """Keeps a message from being read as Markdown, but for its code in backquotes."""
        if not self._markdown:
            return text
        parts = text.split("`")
        return "`".join(
            re.sub(r"([\\*_\[\]<>#|~])", r"\\\1", part) if index % 2 == 0 else part for index, part in enumerate(parts)
        )
