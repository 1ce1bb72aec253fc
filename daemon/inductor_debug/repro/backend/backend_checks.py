"""The check of a script whose failure is what a backend does: it raises, kills the process, or computes something else.

The text is plain torch and measures as `backend_oracle` does.
"""

from __future__ import annotations

from inductor_debug.repro.backend.backend_oracle import FACTOR, Manner, Symptom
from inductor_debug.repro.minimiser.oracle import words_of
from inductor_debug.repro.program.literals import source_of
from inductor_debug.repro.script.backend_source import BackendSource
from inductor_debug.repro.script.script_checks import ScriptCheck

_RUN = '''\
def outcome(function, values, seed=0):
    """{about}."""
    torch.manual_seed(seed)
    result = function(*values)
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    results = [item for item in results if isinstance(item, torch.Tensor)]{backward}{written}
    return [item.detach() for item in results]'''

_BACKWARD = """
    wanted = [item for item in results if item.requires_grad and item.dtype.is_floating_point]
    if wanted:
        # Factors that differ: the plain sum of a softmax, or of what is normalised, has no gradient at all.
        factors = [torch.arange(item.numel(), device=item.device).reshape(item.shape) % 11 + 1 for item in wanted]
        torch.autograd.backward(wanted, [(f / 16).to(item.dtype) for item, f in zip(wanted, factors)])
    inputs = [value for value in values if isinstance(value, torch.Tensor) and value.requires_grad]
    results += [torch.zeros_like(value) if value.grad is None else value.grad for value in inputs]"""

_WRITTEN = """
    results += [value for value in values if isinstance(value, torch.Tensor)]"""

_CAUSES = '''\
def causes(error):
    """The exception and those that it wraps, each once."""
    found = []
    while error is not None and error not in found:
        found.append(error)
        error = getattr(error, "inner_exception", None) or error.__cause__ or error.__context__
    return found'''

_ERROR = '''\
def relative_error(actual, expected):
    """Root mean square of the difference over that of the expected values."""
    if actual.shape != expected.shape:
        return float("inf")
    pair = [torch.view_as_real(item.resolve_conj()) if item.is_complex() else item for item in (actual, expected)]
    left, right = (item.to(torch.float64) for item in pair)
    if not bool((torch.isnan(left) == torch.isnan(right)).all()):
        return float("inf")
    left, right = torch.nan_to_num(left), torch.nan_to_num(right)
    return float((left - right).norm()) / (float(right.norm()) or 1.0)'''

_WIDE = '''\
def wide(value):
    """The same value in float64."""
    if not isinstance(value, torch.Tensor) or not value.dtype.is_floating_point:
        return value
    return value.detach().to(torch.float64).requires_grad_(value.requires_grad)'''


def backend_check(backend: BackendSource, symptom: Symptom, manner: Manner) -> ScriptCheck:
    """The check for a symptom that `backend` shows."""
    if symptom.kind == "differs":
        return _differs(backend, manner)
    if symptom.kind == "raises":
        return _raises(backend, symptom, manner)
    return _dies(backend, symptom, manner)


def outcome_text(manner: Manner) -> str:
    """The definition of `outcome`, which calls the function, with its backward pass where `manner` has one."""
    about = "The tensors that a call gives"
    about += ", and the gradients of the inputs" if manner.backward else ""
    about += ", and the inputs, which are written to" if manner.writes else ""
    return _RUN.format(
        about=about, backward=_BACKWARD if manner.backward else "", written=_WRITTEN if manner.writes else ""
    )


def _compiled(backend: BackendSource, manner: Manner) -> str:
    return f"compiled = torch.compile(failing, backend={backend.expression}, dynamic={manner.dynamic})"


def _check(
    backend: BackendSource, seeks: str, code: list[str], body: str, imports: tuple[str, ...] = ()
) -> ScriptCheck:
    """The check, with the backend itself before everything else where the script carries it."""
    text = "\n\n\n".join(part for part in (backend.code, *code) if part)
    return ScriptCheck(seeks, (*imports, *backend.imports), text, body)


def _run(manner: Manner, function: str) -> str:
    """A call for what it raises; its results are looked at only to go back through them."""
    return f"outcome({function}, make_inputs())" if manner.backward else f"{function}(*make_inputs())"


def _calls(manner: Manner, indent: str) -> str:
    call = _run(manner, "compiled")
    return f"{indent}{call}" if manner.calls == 1 else f"{indent}for _ in range({manner.calls}):\n{indent}    {call}"


def _raises(backend: BackendSource, symptom: Symptom, manner: Manner) -> ScriptCheck:
    words = words_of(symptom.message)
    if words:
        caught = f"""\
    wanted = {source_of(words)}
    return any(type(cause).__name__ == "{symptom.exception}" and wanted in str(cause) for cause in causes(error))"""
    else:
        caught = f'    return any(type(cause).__name__ == "{symptom.exception}" for cause in causes(error))'
    body = f"""\
{_run(manner, "failing")}  # runs without the backend
{_compiled(backend, manner)}
try:
{_calls(manner, "    ")}
except Exception as error:
    traceback.print_exc()
{caught}
return False"""
    code = [outcome_text(manner)] if manner.backward else []
    return _check(backend, f"backend {backend.name} raises {symptom.exception}", [*code, _CAUSES], body)


def _differs(backend: BackendSource, manner: Manner) -> ScriptCheck:
    random = (
        "import torch._inductor.config\n\ntorch._inductor.config.fallback_random = True  # the same numbers as eager\n"
        if backend.name == "inductor"
        else ""
    )
    ideal = "eager" if manner.shared else "exact"
    exact = (
        """\
eager = outcome(failing, make_inputs())
"""
        if manner.shared
        else """\
exact = eager = outcome(failing, make_inputs())
if all(relative_error(other, one) == 0 for other, one in zip(outcome(failing, make_inputs(), seed=1), eager)):
    # Nothing is random, of which float64 would draw other numbers.
    try:
        exact = outcome(failing, [wide(value) for value in make_inputs()])
    except Exception:
        pass  # the function insists on its dtypes
"""
    )
    again = f"for _ in range({manner.calls}):\n    " if manner.calls > 1 else ""
    body = f"""\
{random}{exact}{_compiled(backend, manner)}
{again}actual = outcome(compiled, make_inputs())
if len(actual) != len(eager):
    print(f"tensors that come back: {{len(actual)}}, wanted: {{len(eager)}}")
    return True
floors = {{torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 2e-2, torch.float16: 5e-3}}
for index, (want, seen, near) in enumerate(zip({ideal}, actual, eager)):
    bound = max({FACTOR:g} * relative_error(near, want), floors.get(near.dtype, 1e-4))
    error = relative_error(seen, want) if seen.dtype is near.dtype else float("inf")
    print(f"output {{index}}: relative error {{error:.3g}}, {{bound:.3g}} allowed")
    if not error <= bound:
        return True
return False"""
    seeks = f"backend {backend.name} computes something else: more than {FACTOR:g} times the error of eager execution"
    errors = [_ERROR] if manner.shared else [_ERROR, _WIDE]
    return _check(backend, seeks, [outcome_text(manner), *errors], body)


def _dies(backend: BackendSource, symptom: Symptom, manner: Manner) -> ScriptCheck:
    hangs = symptom.kind == "hangs"
    body = f"""\
if "--run" in sys.argv:
    {_compiled(backend, manner)}
{_calls(manner, "    ")}
    sys.exit(0)
# A process of its own, for it {"hangs" if hangs else "dies"}; it finds torch where this one does.
command = [sys.executable, *["-I"] * sys.flags.isolated, __file__, "--run"]
"""
    if hangs:
        body += """\
try:
    subprocess.run(command, timeout=60)
except subprocess.TimeoutExpired:
    return True
return False"""
    else:
        body += """\
status = subprocess.run(command).returncode
print(f"the process ended with status {status}")
return not 0 <= status <= 255  # a signal, or an exception of Windows"""
    seeks = f"backend {backend.name} " + ("does not end" if hangs else f"kills the process ({symptom.signal})")
    code = [outcome_text(manner)] if manner.backward else []
    return _check(backend, seeks, code, body, ("import subprocess",))
