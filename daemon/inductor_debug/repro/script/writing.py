"""A program as a Python file that needs only torch: the function, its inputs, the check, and a header that says it all.

Nothing is pickled or encoded. Values are written down only where the failure needs them, small ones in the script and
large ones in a `.safetensors` file beside it.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import fill, indent

import torch

import inductor_debug
from inductor_debug.repro.program.bodies import bodies_of
from inductor_debug.repro.program.from_recording import operator
from inductor_debug.repro.program.literals import source_of
from inductor_debug.repro.program.program import Body, Input, Program, ProgramStep, ProgramValues, Spec, refs, row_major
from inductor_debug.repro.program.safetensors import encode, mark_of
from inductor_debug.repro.program.sharing import text_of
from inductor_debug.repro.program.stand_ins import stand_ins
from inductor_debug.repro.program.value_names import tidied
from inductor_debug.repro.script.op_printer import assignment, printed
from inductor_debug.repro.script.script_checks import ScriptCheck

LARGEST_LITERAL = 64
"""Elements up to which values are written into the script."""


@dataclass(frozen=True)
class Header:
    """What a script says of itself. `source` is a line of the user's code, `place` where it stands."""

    failure: str
    place: str
    source: str = ""
    target: str = ""
    notes: list[str] = field(default_factory=list)


def script(
    program: Program,
    check: ScriptCheck,
    header: Header,
    *,
    recorded: Mapping[str, torch.Tensor] | None = None,
) -> str:
    """The whole file, which knows no name of its own: it is saved, and passed on, under many.

    Raises:
        UnprintableError: a step has no form as Python code.
    """
    program = tidied(program)
    seen = recorded or {}
    kept = sorted(item.name for item in program.inputs if _embedded(item, seen) is not None)
    if kept:
        header = replace(header, notes=[*header.notes, f"the failure needs the recorded values of {', '.join(kept)}"])
    standard = ["import json", "import pathlib"] if values_beside(program, seen) else []
    return assembled(
        function_source(program),
        _inputs(program, seen),
        check,
        header,
        definitions=stand_ins(program),
        standard=standard,
    )


def assembled(
    body: str,
    inputs: str,
    check: ScriptCheck,
    header: Header,
    *,
    definitions: Sequence[str] = (),
    standard: Sequence[str] = (),
) -> str:
    """The file made of the sources of `failing` and `make_inputs`; `standard` are imports of the standard library."""
    text = "\n".join((body, inputs, check.code, check.body, *definitions))
    wanted = [line for line in check.imports if line != "import torch"]
    named = [line for line in wanted if line.split()[1].split(".")[0] == "torch"]
    plain = [line for line in wanted if line not in named]
    if "functional." in text:
        named = list(dict.fromkeys([*named, "from torch.nn import functional"]))
    own = {"import sys", "import traceback", *plain, *standard}
    if "operator." in body:
        own.add("import operator")
    needed = indent("\n".join(["import torch", *sorted(named)]), "    ")
    imports = "\n".join([*sorted(own), "", "try:", needed, *_WITHOUT_TORCH])
    parts = [
        _docstring(header, check) + "\n\n" + imports,
        *definitions,
        body,
        inputs,
        *([check.code] if check.code else []),
        f"def reproduces():\n{_about_check(check)}\n" + indent(check.body, "    "),
        _MAIN.format(found="reproduces()" if check.tries == 1 else _FLAKY.format(tries=check.tries)),
    ]
    return "\n\n\n".join(part.strip("\n") for part in parts) + "\n"


_WIDEST = 116


def _about_check(check: ScriptCheck) -> str:
    return indent(fill(f'"""Whether the failure is there: {check.seeks}."""', _WIDEST), "    ")


_WITHOUT_TORCH = ("except ImportError:", "    traceback.print_exc()", "    sys.exit(2)")

_FLAKY = "any(reproduces() for _ in range({tries}))  # the failure is flaky"
_MAIN = """\
if __name__ == "__main__":
    try:
        found = {found}
    except Exception:
        traceback.print_exc()
        sys.exit(2)
    print("The failure reproduces." if found else "The failure does not reproduce.")
    sys.exit(0 if found else 1)"""


def _docstring(header: Header, check: ScriptCheck) -> str:
    lines = [
        f"Fails:    {header.failure}",
        f"From:     {header.place}" + (f", target {header.target}" if header.target else ""),
    ]
    if header.source:
        lines.append(f"          {header.source}")
    lines += [
        f"Checked:  {check.seeks}",
        f"Made:     by inductor-debug {inductor_debug.__version__} with torch {torch.__version__}, "
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}",
        "Run:      python on this file, under any name",
        "Exit:     0 the failure reproduces, 1 it does not, 2 the script cannot run",
        *(f"Note:     {note}" for note in header.notes),
    ]
    said = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""A minimal reproducer: one function of plain torch, its inputs, and a check.\n\n{said}\n"""'


def function_source(program: Program) -> str:
    """The function `failing`, one operation a line.

    Raises:
        UnprintableError: a step has no form as Python code.
    """
    lines = ["def failing(", *(f"    {item.name},{_remark(_about(item))}" for item in program.arguments), "):"]
    outputs = ", ".join(program.outputs) or "None"
    return "\n".join([*lines, *_lines(program, _unused(program)), f"    return {outputs}"])


def _lines(program: Program, unused: set[str]) -> Iterator[str]:
    """The steps, each behind the functions that it is given."""
    bound = {item.name for item in program.arguments}
    for step in program.steps:
        for body in bodies_of(step):
            yield indent(_function(body), "    ")
        yield "    " + _line(step, program, bound, unused)
        bound.update(name for name in step.outputs if name)


def _function(body: Body) -> str:
    inner = body.program
    unused = _unused(inner).difference(ref.name for ref in refs(body.result))
    head = f"def {body.name}({', '.join(item.name for item in inner.inputs)}):"
    return "\n".join([head, *_lines(inner, unused), f"    return {source_of(body.result)}"])


def _line(step: ProgramStep, program: Program, bound: set[str], unused: set[str]) -> str:
    spelling = printed(step, program)
    names = list(step.outputs)
    fresh = [name for name in names if name and name not in bound]
    remark = _remark(", ".join(filter(None, (_specs(step), step.place))))
    if unused.issuperset(fresh):
        return (assignment(step) or spelling.text) + remark
    if spelling.single:
        return f"{names[0]} = {spelling.text}{remark}"
    places = step.indexes or tuple(range(len(names)))
    width = max(places) + 1
    shown = ["_"] * width
    for name, place in zip(names, places, strict=False):
        shown[place] = name if name and name not in unused else "_"
    rest = ", *_" if _longer(step, width) else ""
    return f"{', '.join(shown)}{',' if width == 1 and not rest else ''}{rest} = {spelling.text}{remark}"


def _longer(step: ProgramStep, width: int) -> bool:
    function = operator(step.target) if step.kind.value == "operator" else None
    return function is not None and len(function._schema.returns) > max(width, 1)


def _unused(program: Program) -> set[str]:
    read = {name for step in program.steps for name in step.uses()} | set(program.outputs)
    return {name for step in program.steps for name in step.outputs if name and name not in read}


def _specs(step: ProgramStep) -> str:
    return ", ".join(_spec(spec) for spec in step.specs[:3] if spec is not None)


def _spec(spec: Spec) -> str:
    strided = "" if tuple(spec.stride) == row_major(spec.shape) or 0 in spec.shape else f" strides {list(spec.stride)}"
    device = "" if spec.device == "cpu" else f" on {spec.device}"
    return spec.text + strided + device


def _remark(text: str) -> str:
    return f"  # {text}" if text else ""


def _about(item: Input) -> str:
    spec = _spec(item.spec) if item.spec is not None else ""
    return ", ".join(filter(None, (spec, item.origin)))


def _inputs(program: Program, recorded: Mapping[str, torch.Tensor]) -> str:
    lines = ["def make_inputs():", '    """Example inputs of the recorded shapes, strides and dtypes."""']
    outside = values_beside(program, recorded)
    if outside:
        mark = mark_of(encode(outside))
        lines.append(f'    saved = load(next(pathlib.Path(__file__).parent.glob("*{mark}*.safetensors")))')
    lines.append("    torch.manual_seed(0)")
    known = {item.name: item for item in program.inputs}
    for item in program.inputs:
        made = text_of(known[item.base], item) if item.base else constructor(item, recorded, item.name in outside)
        lines.append(f"    {item.name} = {made}")
    given = ", ".join(item.name for item in program.arguments)
    lines.append(f"    return [{given}]")
    return ("\n".join(_LOADER.splitlines()) + "\n\n\n" if outside else "") + "\n".join(lines)


def _embedded(item: Input, recorded: Mapping[str, torch.Tensor]) -> torch.Tensor | None:
    """The values that have to be written down for this input, if any."""
    if item.values is not ProgramValues.RECORDED or item.spec is None or item.base:
        return None
    seen = recorded.get(item.source)
    return seen if seen is not None and tuple(seen.shape) == item.spec.shape else None


def values_beside(program: Program, recorded: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors that go into the file beside the script, by input; empty where none is needed."""
    found = {item.name: _embedded(item, recorded) for item in program.inputs}
    return {name: seen for name, seen in found.items() if seen is not None and seen.numel() > LARGEST_LITERAL}


def constructor(item: Input, recorded: Mapping[str, torch.Tensor], outside: bool) -> str:
    """The expression that makes an input; `outside` says that its values are in the file beside the script."""
    spec = item.spec
    if spec is None:
        return source_of(item.literal)
    seen = _embedded(item, recorded)
    if outside:
        text = f'saved["{item.name}"]'
    elif seen is not None:
        text = f"torch.tensor({source_of(_listed(seen))}, dtype=torch.{spec.dtype})"
    else:
        text = _seeded(item, spec)
    bare, text = text, _strided(text, spec)
    if text == bare and _is_parenthesised(text) and spec.device == "cpu" and not spec.requires_grad:
        text = text[1:-1]
    if spec.device != "cpu":
        text += f'.to("{spec.device}")'
    return f"{text}.requires_grad_()" if spec.requires_grad else text


def _is_parenthesised(text: str) -> bool:
    """Whether one pair of parentheses is around all of it."""
    depth = 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return index > 0 and index == len(text) - 1
    return False


def _listed(tensor: torch.Tensor) -> object:
    return tensor.detach().cpu().to(torch.float64 if tensor.dtype.is_floating_point else tensor.dtype).tolist()


def _seeded(item: Input, spec: Spec) -> str:
    sizes = ", ".join(map(str, spec.shape)) if spec.shape else "()"
    dtype = getattr(torch, spec.dtype)
    if dtype is torch.bool:
        return f"(torch.rand({sizes}) < 0.5)"
    if not (dtype.is_floating_point or dtype.is_complex):
        return f"torch.randint(0, {max(item.bound, 1)}, {spec.shape}, dtype=torch.{spec.dtype})"
    kind = "" if dtype is torch.float32 else f", dtype=torch.{spec.dtype}"
    if item.deviation == 0:
        return f"torch.full({spec.shape}, {item.mean:.6g}, dtype=torch.{spec.dtype})"
    text = f"torch.randn({sizes}{kind})" if dtype.itemsize > 1 else f"torch.randn({sizes})"
    if (item.mean, item.deviation) != (0.0, 1.0):
        mean = f" {'-' if item.mean < 0 else '+'} {abs(item.mean):.6g}" if item.mean else ""
        text = f"({text} * {item.deviation:.6g}{mean})"
    return text if dtype.itemsize > 1 else f"{text}.to(torch.{spec.dtype})"


def _strided(text: str, spec: Spec) -> str:
    if tuple(spec.stride) == row_major(spec.shape) or 0 in spec.shape:
        return text
    moving = [(stride, size) for stride, size in zip(spec.stride, spec.shape, strict=True) if size > 1]
    if any(stride == 0 for stride, _ in moving):
        return f"{text}.as_strided({spec.shape}, {spec.stride})"
    return f"torch.empty_strided({spec.shape}, {spec.stride}, dtype=torch.{spec.dtype}).copy_({text})"


_LOADER = '''\
def load(path):
    """Reads a safetensors file: eight bytes that say how long the header is, a JSON header, and raw values."""
    content = bytearray(path.read_bytes())
    begin = 8 + int.from_bytes(content[:8], "little")
    dtypes = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
    dtypes |= {"I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8}
    dtypes["BOOL"] = torch.bool
    tensors = {}
    for name, entry in json.loads(content[8:begin]).items():
        first, last = (begin + offset for offset in entry["data_offsets"])
        tensors[name] = torch.frombuffer(content[first:last], dtype=dtypes[entry["dtype"]]).reshape(entry["shape"])
    return tensors
'''
