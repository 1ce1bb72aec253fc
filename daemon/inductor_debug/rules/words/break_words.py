"""Why a graph breaks, in one plain sentence: from the facts of a `GraphBreak` alone, which nobody has to read back.

Needs no torch. What torch says itself stays in the facts, for those who want to read on.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from inductor_debug_schema import BreakCause, GraphBreak, NoGraph, SizeCondition

from inductor_debug.rules.words.break_kinds import BY_CALL, CAUSES, UNREACHED

_WHY: Mapping[BreakCause, str] = MappingProxyType(
    {
        BreakCause.PRINT: "{it} prints while the model runs",
        BreakCause.LOGGING: "{it} writes to a log while the model runs",
        BreakCause.WARNING: "{it} gives a warning while the model runs",
        BreakCause.BRANCH: "the value of {subject} decides which code runs next",
        BreakCause.VALUE: "{it} needs the value of {subject}, which is known only when the model runs",
        BreakCause.SIZE: "the size of {it} depends on values, which are known only when the model runs",
        BreakCause.NUMPY: "{it} is computed by NumPy",
        BreakCause.CLOCK: "{it} uses the clock",
        BreakCause.RANDOM: "{it} uses random numbers that torch.compile does not draw",
        BreakCause.FILE: "{it} works with files or the operating system",
        BreakCause.DEBUGGER: "{it} stops for a debugger",
        BreakCause.INSPECTION: "{it} looks at the running Python code itself",
        BreakCause.COMPILED_CODE: "{it} calls code that is not written in Python",
        BreakCause.METHOD: "torch.compile cannot trace {it}",
        BreakCause.OBJECT: "{it} needs code of an object's class that torch.compile cannot trace",
        BreakCause.ATTRIBUTE: "torch.compile cannot follow how {it} finds or sets an attribute",
        BreakCause.IDENTITY: "{it} depends on where objects lie in memory",
        BreakCause.ARGUMENT: "{it} is given, or gives, an object that a graph cannot hold",
        BreakCause.DEFINITION: "{it} defines a class while the model runs",
        BreakCause.PARAMETER: "{it} makes a parameter while the model runs",
        BreakCause.MODULE: "{it} builds a module while the model runs",
        BreakCause.RECONSTRUCTION: "after {it} an object is needed that torch.compile cannot make again",
        BreakCause.KERNEL: "{it} launches a Triton kernel in a way that torch.compile cannot trace",
        BreakCause.DISTRIBUTED: "{it} exchanges tensors between processes in a way that torch.compile cannot trace",
        BreakCause.SKIPPED: "{it} calls {function}, which torch.compile is told to leave alone",
        BreakCause.DISABLED: "{it} calls a function that is marked with `torch.compiler.disable`",
        BreakCause.REQUESTED: "{it} asks for a break",
        BreakCause.CONTEXT_MANAGER: "torch.compile does not know the context manager {it}",
        BreakCause.GENERATOR: "torch.compile cannot follow the generator in {it}",
        BreakCause.EXCEPTION: "{it} raises an exception while torch.compile traces it",
        BreakCause.AUTOGRAD: "{it} works on gradients in the middle of the compiled code",
        BreakCause.AUTOGRAD_FUNCTION: "{it} uses a `torch.autograd.Function` that torch.compile cannot trace",
        BreakCause.HOOK: "{it} uses a hook that torch.compile cannot trace",
        BreakCause.MUTATION: "{it} changes an object in a way that torch.compile cannot follow",
        BreakCause.CONTROL_FLOW: "{it} does not take what it is given ({kind})",
        BreakCause.TORCHSCRIPT: "{it} runs code that `torch.jit` has compiled",
        BreakCause.SPECIAL_TENSOR: "{it} meets a tensor that is sparse, nested or of a class of its own",
        BreakCause.RECURRENT: "torch.compile does not capture layers such as {it} (RNN, GRU, LSTM)",
        BreakCause.OTHER: "torch.compile cannot trace {it} ({kind})",
    }
)
LEGACY_VARIABLE = "_LegacyVariableBase.__new__"
"""What torch calls for `Variable(x)`, by the name that it has in a break."""
_WHY_OF: Mapping[str, str] = MappingProxyType(
    {
        "torch._dynamo.reset": "{it} throws away all that torch has compiled, which every call then compiles anew",
        LEGACY_VARIABLE: "{it} is of torch before 0.4, when tensors had no gradients, which torch.compile cannot trace",
    }
)
"""What calls of a function do that matters more than how torch.compile takes them."""
_HERE = "this line"
_KEPT: Mapping[NoGraph, str] = MappingProxyType(
    {
        NoGraph.VARIABLE: "`{it}` is set in the environment",
        NoGraph.SETTING: "`{it}` is on",
        NoGraph.MARK: "`{it}` is marked with `torch.compiler.disable`",
    }
)


def sentence_of(facts: GraphBreak) -> str:
    """The finding's sentence: why the graph breaks, and what becomes of the function."""
    if facts.breaks_by is BreakCause.NO_GRAPH:
        kept = f", because {_KEPT[facts.kept_by].format(it=facts.function)}" if facts.kept_by is not None else ""
        return f"torch.compile captured no graph: all of `{facts.eager}` runs eagerly{kept}."
    reason = why(facts)
    if facts.refused:
        asked = " under `error_on_graph_break(True)` or `fullgraph=True`" if facts.toggled else " with `fullgraph=True`"
        effect = f"compiling{asked} fails here"
    else:
        effect = f"`{facts.eager}` is not compiled and runs eagerly" if facts.eager else "the graph is split here"
    if facts.breaks_by is BreakCause.HOOK and not facts.expression and not facts.eager and not facts.refused:
        effect = "the graph is split where its module is called"
    return f"{_begun(reason)}, so {effect}.{_where(facts.only_where)}"


def _where(condition: SizeCondition | None) -> str:
    """The sizes under which alone a break is met, as a further sentence."""
    if condition is None:
        return ""
    holds = "holds" if condition.holds else "does not hold"
    sizes = " and ".join(f"{name} = {size}" for name, size in condition.sizes.items())
    return f" It is met only where `{condition.expression}` {holds}, as with {sizes}, which was inferred."


def why(facts: GraphBreak) -> str:
    """The cause alone, as the beginning of a sentence: `` `x.item()` needs the value of `x`, … ``."""
    words = {
        "it": _quoted(facts.expression) or _quoted(facts.function) or _HERE,
        "subject": _quoted(facts.subject) or ("a tensor" if facts.expression else _HERE),
        "function": _quoted(facts.function) or "a function",
        "kind": f"torch calls this “{facts.torch_kind.rstrip('.')}”" if facts.torch_kind else "torch does not say why",
    }
    if facts.breaks_by is BreakCause.HOOK and facts.function and not facts.expression:
        return f"{words['function']} is a backward hook of a module, which torch.compile does not trace"
    if facts.breaks_by is BreakCause.RECURRENT and facts.expression.endswith(")"):
        # Not the layer that is called but what goes by it: `next(self.parameters())`.
        return f"{words['it']} goes through layers that torch.compile does not capture (RNN, GRU, LSTM)"
    if facts.function in _WHY_OF:
        return _WHY_OF[facts.function].format(**words)
    if facts.breaks_by is BreakCause.REQUESTED and facts.inside.startswith("torch."):
        return f"torch's own `{facts.inside.partition('.<locals>')[0]}` asks for a break"
    place = f"inside of `{facts.inside}`, " if facts.inside else ""
    return place + _WHY[facts.breaks_by].format(**words)


def explanation_of(registry_id: str) -> str:
    """What a kind of torch's registry is to a user, in the words of a finding; empty where the id is unknown."""
    if registry_id in UNREACHED:
        return f"Findings do not speak of it: it is {UNREACHED[registry_id]}."
    if registry_id in BY_CALL:
        return "torch.compile cannot call this; the finding says why, which depends on what is called."
    if registry_id not in CAUSES:
        return ""
    return f"{_begun(why(GraphBreak(CAUSES[registry_id], '…', torch_kind='…')))}."


def details_of(facts: GraphBreak) -> list[str]:
    """What torch says itself, a paragraph each: its explanation, then its hints. Nothing where it says nothing."""
    if not facts.torch_kind:
        return []
    name = f"{facts.torch_kind.rstrip('.')} ({facts.registry_id})" if facts.registry_id else facts.torch_kind
    return [f"torch: {name}. {facts.explanation}".rstrip(), *facts.hints]


def _begun(words: str) -> str:
    """Words as the beginning of a sentence."""
    return words if words.startswith("torch.compile") else f"{words[:1].upper()}{words[1:]}"


def _quoted(text: str) -> str:
    return f"`{text}`" if text else ""
