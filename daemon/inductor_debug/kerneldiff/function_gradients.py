"""What backends cannot tell: custom autograd functions whose `backward` is not the derivative of their `forward`.

Reference and backend run the same `backward`, so they agree however wrong it is. Where gradients are compared, each
function of the project's is therefore held against its derivative as well, as the stage `gradients` does.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from inductor_debug_schema import Finding, FunctionGradient, Location, Severity

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.gradients.gradient_stage import functions_of
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.kerneldiff.execution.structure import mapped
from inductor_debug.kerneldiff.judging.diff_report import Blame, DiffReport, Verdict
from inductor_debug.source.comments import ignores


def add_functions(report: DiffReport, target: BuiltTarget, sources: SourceMap) -> list[Finding]:
    """Adds the functions with a wrong gradient to those to blame of a comparison that passes else; returns findings."""
    if report.verdict is Verdict.FAILED:
        return []
    args, kwargs = mapped((target.args, target.kwargs), _differentiable)
    seen = functions_of(replace(target, args=args, kwargs=kwargs, more=[]), sources)
    told = [finding for finding in seen.findings if not _is_silenced(finding, sources)]
    wrong = [finding for finding in told if finding.severity is Severity.WARNING]
    report.notes += [finding.message for finding in told if finding not in wrong]
    report.notes += seen.notes[1:]  # those that could not be checked
    report.blame += map(_blame_of, wrong)
    if wrong and report.verdict is Verdict.PASS:
        report.verdict = Verdict.SUSPICIOUS
        report.why = f"{report.backend} agrees with {report.reference}, but both run this: {wrong[0].message}"
    return told


def _differentiable(tensor: torch.Tensor) -> torch.Tensor:
    """As comparisons give it to the model: gradients are asked of it, and it may be written to."""
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return tensor
    return tensor.detach().requires_grad_().clone()


def _blame_of(finding: Finding) -> Blame:
    facts = finding.facts
    name = facts.autograd_function if isinstance(facts, FunctionGradient) else ""
    return Blame("", f"{name}.backward", finding.message.rstrip("."), place=Location(finding.path, finding.range))


def _is_silenced(finding: Finding, sources: SourceMap) -> bool:
    text = sources.text(finding.path)
    lines = {finding.range.start.line, finding.range.end.line}
    comments = ignores("\n".join(text.lines)) if text is not None else []
    return any(comment.line in lines and (not comment.rules or finding.rule in comment.rules) for comment in comments)
