"""What a script looks for, in plain torch: anybody can see the failure without this project.

A check is text: functions that go into the script, and the body of its `reproduces()`. Checks of constraints watch the
operators that run; a rule that has no predicate of its own here is checked by the operator alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from textwrap import dedent, indent

from inductor_debug_schema import CoreSpan

from inductor_debug.accelerators.capabilities import Dimensions
from inductor_debug.accelerators.profile import Profile
from inductor_debug.repro.program.constraint_cuts import Slice
from inductor_debug.repro.program.literals import source_of
from inductor_debug.rules.recording.ops import TensorMeta
from inductor_debug.rules.recording.strides import innermost
from inductor_debug.rules.recording.symbolic_sizes import misaligned


@dataclass(frozen=True)
class ScriptCheck:
    """The failure as code. `imports` are lines, `code` top-level definitions, `body` the body of `reproduces()`.

    `seeks` says in words what counts as the failure; `tries` how often it is looked for, which is more than once for a
    flaky failure.
    """

    seeks: str
    imports: tuple[str, ...]
    code: str
    body: str
    tries: int = 1


def constraint_check(found: Slice, profile: Profile, *, fake: bool) -> ScriptCheck:
    """The check for a slice of a recording. With `fake` nothing is computed and no memory is taken."""
    condition, seeks = _PREDICATES.get(found.rule.id, _operator)(found, profile)
    if found.rule.id == "mixed-dtypes":
        return _refusal(seeks)
    imports = [
        "from torch.utils._pytree import tree_leaves",
        "from torch.utils._python_dispatch import TorchDispatchMode",
    ]
    code = _WATCH.format(seeks=seeks, condition=indent(condition, " " * 8).strip())
    run = _RUN
    if fake:
        imports.insert(0, "from torch._subclasses.fake_tensor import FakeTensorMode")
        run = _FAKE + indent(_RUN, "    ")
    return ScriptCheck(seeks, tuple(imports), code, run + _SEEN)


def _refusal(seeks: str) -> ScriptCheck:
    return ScriptCheck(seeks, (), "", _RAISES.format(kind="RuntimeError", words='"dtype"'))


_WATCH = '''\
class Watch(TorchDispatchMode):
    """Looks at every operator that runs, and notes: {seeks}."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        result = func(*args, **(kwargs or {{}}))
        made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        {condition}
        return result'''

_RUN = """\
values = make_inputs()
watch = Watch()
with torch.no_grad(), watch:
    failing(*values)
"""

_FAKE = """\
# Shapes and dtypes tell enough: no memory is taken, and nothing is computed.
with FakeTensorMode():
"""

_SEEN = """\
for line in watch.seen:
    print(line)
return bool(watch.seen)"""

_RAISES = """\
values = make_inputs()
try:
    with torch.no_grad():
        failing(*values)
except Exception as error:
    print(f"{{type(error).__name__}}: {{error}}")
    return type(error).__name__ == "{kind}" and {words} in str(error)
return False"""


def raise_check(kind: str, words: str) -> ScriptCheck:
    """The check that the function raises an exception of that kind whose message has those words."""
    return ScriptCheck(
        f"{kind} with {words!r} in its message", (), "", _RAISES.format(kind=kind, words=source_of(words))
    )


Predicate = tuple[str, str]
"""Statements over `func`, `given` and `made` that add to `self.seen`, and what they look for in words."""


def _tensors(condition: str, words: str) -> str:
    return dedent(f"""\
        for tensor in (*given, *made):
            if {condition}:
                self.seen.append(f"{{func}}: {words}")""")


def _dtype(found: Slice, profile: Profile) -> Predicate:
    dtype = found.root.subject
    words = "{tensor.dtype} of shape {tuple(tensor.shape)}"
    return _tensors(f"tensor.dtype is torch.{dtype}", words), f"a tensor of dtype {dtype}"


def _alignment(found: Slice, profile: Profile) -> Predicate:
    assert profile.alignment is not None
    meta = _misaligned(found, profile)
    unit = profile.alignment.elements(profile.device_bytes(meta.dtype, meta.element_bytes))
    size = found.symbols.get(found.root.subject, found.root.subject)
    last = profile.alignment.dimensions is Dimensions.LAST
    guard = f"tensor.dtype is torch.{meta.dtype} and " if profile.alignment.in_bytes else ""
    if last:
        condition = f"{guard}tensor.dim() and tensor.shape[tensor.dim_order()[-1]] > 1 "
        condition += f"and tensor.shape[tensor.dim_order()[-1]] % {unit}"
    elif str(size).isdigit():
        condition = f"{guard}{size} in tensor.shape"
    else:
        condition = f"{guard}any(size > 1 and size % {unit} for size in tensor.shape)"
    which = "whose innermost size" if last else f"a size of which ({size})"
    return _tensors(condition, "shape {tuple(tensor.shape)}"), f"a tensor {which} is not a multiple of {unit}"


def _misaligned(found: Slice, profile: Profile) -> TensorMeta:
    """The tensor of the culprit that has the odd size."""
    assert profile.alignment is not None
    metas = (*found.culprit.inputs, *found.culprit.outputs)
    for meta in metas:
        unit = profile.alignment.elements(profile.device_bytes(meta.dtype, meta.element_bytes))
        index = innermost(meta)
        judged = meta.shape if profile.alignment.dimensions is Dimensions.ALL else meta.shape[index : (index or 0) + 1]
        if any(misaligned(size, unit) for size in judged):
            return meta
    return metas[0]


def _layout(found: Slice, profile: Profile) -> Predicate:
    consumer = found.culprit.overload
    condition = dedent(f"""\
        if str(func) == "{consumer}":
            for tensor in given:
                if not tensor.is_contiguous():
                    self.seen.append(f"{{func}} on strides {{tensor.stride()}} of shape {{tuple(tensor.shape)}}")""")
    return condition, f"{consumer} computes on a tensor that is not contiguous"


def _memory(found: Slice, profile: Profile) -> Predicate:
    limit = profile.tensor_bytes or 0
    condition = f"tensor.untyped_storage().nbytes() > {limit}"
    return _tensors(condition, "{tensor.untyped_storage().nbytes()} bytes"), f"a tensor of more than {limit} bytes"


def _rank(found: Slice, profile: Profile) -> Predicate:
    condition = f"tensor.dim() > {profile.max_rank}"
    return _tensors(condition, "{tensor.dim()} dimensions"), f"a tensor of more than {profile.max_rank} dimensions"


def _padding(found: Slice, profile: Profile) -> Predicate:
    meta = found.culprit.outputs[0]
    unit = profile.elements_per_stick(meta.dtype, meta.element_bytes)
    odd = f"tensor.dtype is torch.{meta.dtype} and tensor.dim() and tensor.shape[tensor.dim_order()[-1]] % {unit}"
    return _tensors(odd, "shape {tuple(tensor.shape)}"), f"a tensor whose innermost size does not fill sticks of {unit}"


def _span(found: Slice, profile: Profile) -> Predicate:
    facts = found.root.facts
    assert isinstance(facts, CoreSpan)
    shape = tuple(facts.spanned_shape)
    reach = f"one of {profile.cores} cores has to reach {facts.least_span_bytes} bytes"
    seeks = f"a tensor of shape {shape}, of which {reach}"
    return _tensors(f"tuple(tensor.shape) == {shape}", "{tuple(tensor.shape)} of {tensor.dtype}"), seeks


def _infinity(found: Slice, profile: Profile) -> Predicate:
    condition = dedent("""\
        numbers = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, float)]
        if any(abs(number) == float("inf") for number in numbers):
            self.seen.append(f"{func} with {numbers}")""")
    return condition, "an operator that is given an infinity as a number"


def _operator(found: Slice, profile: Profile) -> Predicate:
    overload = found.culprit.overload
    condition = dedent(f"""\
        if str(func) == "{overload}":
            self.seen.append(f"{{func}} on {{[tuple(tensor.shape) for tensor in given]}}")""")
    return condition, f"the operator {found.root.subject}"


def _mixed(found: Slice, profile: Profile) -> Predicate:
    return "", f"torch refuses {found.culprit.packet} on tensors of different dtypes"


_PREDICATES: dict[str, Callable[[Slice, Profile], Predicate]] = {
    "dtype": _dtype,
    "float64": _dtype,
    "alignment": _alignment,
    "layout": _layout,
    "memory": _memory,
    "rank": _rank,
    "mixed-dtypes": _mixed,
    "padding": _padding,
    "core-span": _span,
    "infinite-constant": _infinity,
}
