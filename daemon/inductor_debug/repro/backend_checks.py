"""The check of a script whose failure is what a backend does: it raises, kills the process, or computes something else.

The text is plain torch and measures as `backend_oracle` does.
"""

from __future__ import annotations

from inductor_debug.repro.backend_oracle import FACTOR, Manner, Symptom
from inductor_debug.repro.checks import Check
from inductor_debug.repro.oracle import words_of

_RUN = '''\
def outcome(function, values, seed=0):
    """What a call gives{with_gradients}."""
    torch.manual_seed(seed)
    result = function(*values)
    results = [item for item in (result if isinstance(result, (tuple, list)) else [result])]
    results = [item for item in results if isinstance(item, torch.Tensor)]{backward}
    return [item.detach() for item in results]'''

_BACKWARD = """
    losses = [item.sum() for item in results if item.requires_grad and item.dtype.is_floating_point]
    if losses:
        torch.stack([loss.to(torch.float64) for loss in losses]).sum().backward()
    results += [value.grad for value in values if isinstance(value, torch.Tensor) and value.grad is not None]"""

_CAUSES = '''\
def causes(error):
    """The exception and those that it wraps."""
    while error is not None:
        yield error
        error = getattr(error, "inner_exception", None) or error.__cause__ or error.__context__'''

_ERROR = '''\
def relative_error(actual, expected):
    """Root mean square of the difference over that of the expected values."""
    if actual.shape != expected.shape:
        return float("inf")
    left, right = actual.to(torch.float64), expected.to(torch.float64)
    if not bool((torch.isnan(left) == torch.isnan(right)).all()):
        return float("inf")
    left, right = torch.nan_to_num(left), torch.nan_to_num(right)
    return float((left - right).norm()) / (float(right.norm()) or 1.0)


def wide(value):
    """The same value in float64."""
    if not isinstance(value, torch.Tensor) or not value.dtype.is_floating_point:
        return value
    return value.detach().to(torch.float64).requires_grad_(value.requires_grad)'''


def backend_check(backend: str, symptom: Symptom, manner: Manner) -> Check:
    """The check for a symptom that `backend` shows."""
    run = outcome_text(manner)
    if symptom.kind == "differs":
        return _differs(backend, manner, run)
    if symptom.kind == "raises":
        return _raises(backend, symptom, manner, run)
    return _dies(backend, symptom, manner, run)


def outcome_text(manner: Manner) -> str:
    """The definition of `outcome`, which calls the function, with its backward pass where `manner` has one."""
    return _RUN.format(
        with_gradients=", and the gradients of the inputs" if manner.backward else "",
        backward=_BACKWARD if manner.backward else "",
    )


def _calls(manner: Manner, indent: str = "") -> str:
    call = "outcome(compiled, make_inputs())"
    return f"{indent}{call}" if manner.calls == 1 else f"{indent}for _ in range({manner.calls}):\n{indent}    {call}"


def _raises(backend: str, symptom: Symptom, manner: Manner, run: str) -> Check:
    words = words_of(symptom.message)
    condition = f'type(cause).__name__ == "{symptom.exception}"'
    if words:
        condition += f" and {words!r} in str(cause)"
    body = f"""\
outcome(failing, make_inputs())  # runs without the backend
compiled = torch.compile(failing, backend="{backend}", dynamic=False)
try:
{_calls(manner, "    ")}
except Exception as error:
    traceback.print_exc()
    return any({condition} for cause in causes(error))
return False"""
    return Check(f"backend {backend} raises {symptom.exception}", (), f"{run}\n\n\n{_CAUSES}", body)


def _differs(backend: str, manner: Manner, run: str) -> Check:
    random = (
        "import torch._inductor.config\n\ntorch._inductor.config.fallback_random = True  # the same numbers as eager\n"
        if backend == "inductor"
        else ""
    )
    body = f"""\
{random}exact = eager = outcome(failing, make_inputs())
if all(relative_error(other, one) == 0 for other, one in zip(outcome(failing, make_inputs(), seed=1), eager)):
    # Nothing is random, of which float64 would draw other numbers.
    try:
        exact = outcome(failing, [wide(value) for value in make_inputs()])
    except Exception:
        pass  # the function insists on its dtypes
compiled = torch.compile(failing, backend="{backend}", dynamic=False)
for _ in range({manner.calls}):
    actual = outcome(compiled, make_inputs())
floors = {{torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 2e-2, torch.float16: 5e-3}}
for index, (want, seen, near) in enumerate(zip(exact, actual, eager)):
    bound = max({FACTOR:g} * relative_error(near, want), floors.get(near.dtype, 1e-4))
    error = relative_error(seen, want)
    print(f"output {{index}}: relative error {{error:.3g}}, {{bound:.3g}} allowed")
    if not error <= bound:
        return True
return False"""
    seeks = f"backend {backend} computes something else: more than {FACTOR:g} times the error of eager execution"
    return Check(seeks, (), f"{run}\n\n\n{_ERROR}", body)


def _dies(backend: str, symptom: Symptom, manner: Manner, run: str) -> Check:
    hangs = symptom.kind == "hangs"
    ending = "except subprocess.TimeoutExpired:\n    return True\nreturn False" if hangs else ""
    body = f"""\
if "--run" in sys.argv:
    compiled = torch.compile(failing, backend="{backend}", dynamic=False)
{_calls(manner, "    ")}
    return False
command = [sys.executable, "-I", __file__, "--run"]
"""
    if hangs:
        body += f"try:\n    subprocess.run(command, timeout=60)\n{ending}"
    else:
        body += (
            "status = subprocess.run(command).returncode\n"
            'print(f"the process ended with status {status}")\nreturn status < 0'
        )
    seeks = f"backend {backend} " + ("does not end" if hangs else f"kills the process ({symptom.signal})")
    return Check(seeks, ("import subprocess",), run, body)
