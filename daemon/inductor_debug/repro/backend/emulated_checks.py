"""The check of a script whose failure is an accelerator's arithmetic: its profile's number format, in plain torch.

The script carries the rounding itself, in a few lines that need nothing of this project, and the search asks the same
lines (`emulated_script`), so both see one thing. It never claims to show a device: a profile says what is emulated.
Sums are formed in float32 by torch; a profile's shorter format for them is not in the script.
"""

from __future__ import annotations

from dataclasses import dataclass

from inductor_debug.accelerators.number_formats import NumberFormat, Overflow, Ties, number_format
from inductor_debug.accelerators.profile import Profile
from inductor_debug.repro.backend.backend_checks import outcome_text
from inductor_debug.repro.backend.backend_oracle import FACTOR, Manner
from inductor_debug.repro.script.script_checks import ScriptCheck


@dataclass(frozen=True)
class Numbers:
    """What of a profile's arithmetic a script carries: the format of operands and results, and of 64-bit integers."""

    accelerator: str
    compute: NumberFormat
    wraps_int64: bool = False
    unseen: str = ""
    """What the profile says and the script leaves out, "" for nothing."""

    @classmethod
    def of(cls, profile: Profile) -> Numbers | None:
        """The numbers of a profile; None where it does not say with which the accelerator computes."""
        formats = profile.arithmetic
        if formats is None:
            return None
        compute, accumulate = number_format(formats.compute), number_format(formats.accumulate)
        stored = profile.stored_as.get("int64")
        return cls(
            profile.name,
            compute.flushing() if formats.flush_denormals and compute.subnormals else compute,
            stored is not None and stored.dtype == "int32",
            f"sums in {accumulate.name}, which a script forms in float32" if accumulate.mantissa_bits < 23 else "",
        )


def emulated_check(numbers: Numbers, kind: str, manner: Manner) -> ScriptCheck:
    """The check that a result is wrong in the way that `kind` says (see `measured` in the script)."""
    body = f"""\
print("Emulated from the profile of {numbers.accelerator}; no accelerator is used.")
found = False
for index, kind, ideal, seen, error, allowed in measured(failing, make_inputs):
    print(f"output {{index}}: {{seen:.6g}} instead of {{ideal:.6g}}, relative error {{error:.3g}}; "
          f"{{allowed:.3g}} allowed for {numbers.compute.mantissa_bits} mantissa bits alone")
    found = found or kind == "{kind}"
return found"""
    seeks = (
        f"emulated, {numbers.accelerator} gives {kind}, which its {numbers.compute.mantissa_bits} mantissa bits alone "
        "do not explain"
    )
    imports = (
        "from torch.utils._python_dispatch import TorchDispatchMode",
        "from torch.utils._pytree import tree_leaves, tree_map",
    )
    return ScriptCheck(seeks, imports, arithmetic_text(numbers, manner), body)


def arithmetic_text(numbers: Numbers, manner: Manner) -> str:
    """The definitions of `rounded`, `Accelerator` and `measured`."""
    form = numbers.compute
    away = "(exact / step).abs().add(0.5).floor().copysign(exact)"
    small = "" if not form.subnormals else f".clamp(min={2.0**form.lowest_exponent * form.unit!r} if ranged else 0.0)"
    beyond = {
        Overflow.SATURATE: "nearest.clamp(-LARGEST, LARGEST)",
        Overflow.INFINITY: 'torch.where(nearest.abs() > LARGEST, nearest.sign() * float("inf"), nearest)',
        Overflow.NAN: 'torch.where(nearest.abs() > LARGEST, float("nan"), nearest)',
    }[form.overflow]
    integers = (
        "    if ranged and value.dtype is torch.int64:\n"
        "        return value.to(torch.int32).to(torch.int64)  # it keeps the lower 32 bits\n"
        if numbers.wraps_int64
        else ""
    )
    return _TEXT.format(
        outcome=outcome_text(manner),
        accelerator=numbers.accelerator,
        name=form.name,
        exponent_bits=form.exponent_bits,
        bits=form.mantissa_bits,
        largest=form.largest,
        smallest=form.smallest,
        ties={Ties.EVEN: "to even", Ties.AWAY: "away from zero"}[form.ties],
        below="subnormal numbers are kept" if form.subnormals else "smaller ones become 0",
        step=f"(power / 2 * {form.unit!r}){small}" if small else f"power / 2 * {form.unit!r}",
        nearest=away if form.ties is Ties.AWAY else "(exact / step).round()",
        beyond=beyond,
        integers=integers,
        factor=f"{FACTOR:g}",
        unit=form.unit,
    )


_TEXT = '''\
LARGEST, SMALLEST = {largest!r}, {smallest!r}


def rounded(values, ranged=True):
    """The nearest numbers of {name}: {exponent_bits} exponent bits, {bits} mantissa bits, halfway {ties}; {below}.

    Without `ranged` only the mantissa is cut, and numbers may be as large and as small as they like.
    """
    exact = values.detach().to(torch.float64)
    power = exact / torch.frexp(exact).mantissa  # the next power of two above the number
    step = {step}  # from one number of the format to the next
    nearest = {nearest} * step
    nearest = torch.where((exact == 0) | ~exact.isfinite(), exact, nearest)
    if ranged:
        nearest = {beyond}
        nearest = torch.where(nearest.abs() < SMALLEST, 0.0 * nearest, nearest)
    return nearest.to(values.dtype)


def received(value, ranged=True):
    """A value as {accelerator} holds it."""
    if not isinstance(value, torch.Tensor):
        return value
{integers}    return rounded(value, ranged) if value.dtype.is_floating_point else value


class Accelerator(TorchDispatchMode):
    """Computes every operation as {accelerator} would: operands and results rounded, what is between in float32."""

    def __init__(self, ranged):
        super().__init__()
        self.ranged = ranged

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {{}}
        given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        writes = func._schema.is_mutable
        view = not writes and any(result.alias_info is not None for result in func._schema.returns)
        if view or not given:
            return func(*args, **kwargs)
        dtypes = {{leaf.dtype for leaf in given if leaf.dtype.is_floating_point}}
        narrow = kwargs.get("dtype") is None and len(dtypes) == 1 and dtypes <= {{torch.float16, torch.bfloat16}}

        def into(value):
            value = received(value, self.ranged)
            if narrow and isinstance(value, torch.Tensor) and value.dtype in dtypes:
                return value.to(torch.float32)
            return torch.float32 if narrow and isinstance(value, torch.dtype) and value in dtypes else value

        def out(value):
            value = received(value, self.ranged)
            back = narrow and isinstance(value, torch.Tensor) and value.dtype is torch.float32
            return value.to(next(iter(dtypes))) if back else value

        inside, named = tree_map(into, (args, kwargs))
        result = tree_map(out, func(*inside, **named))
        if not writes:
            return result
        places = zip(func._schema.arguments, args)
        written = [value for place, value in places if place.alias_info is not None and place.alias_info.is_write]
        for target, value in zip(tree_leaves(written), tree_leaves(result)):
            target.copy_(value)
        return written[0] if isinstance(result, torch.Tensor) else result


{outcome}


def relative_error(actual, expected):
    """Root mean square of the difference over that of the expected values; infinite where it has no such value."""
    left, right = actual.to(torch.float64), expected.to(torch.float64)
    finite = right.isfinite()
    if not torch.equal(left.isfinite(), finite):
        return float("inf")
    left, right = left[finite], right[finite]
    return float((left - right).norm()) / (float(right.norm()) or 1.0)


def measured(function, make_inputs):
    """What is wrong: index of the output, kind, ideal and emulated value, error, and how large that may be.

    Inputs are those of the accelerator on all sides, so that operations alone differ. The ideal computes in float64.
    """
    def inputs(dtype=None):
        held = []
        for value in make_inputs():
            if isinstance(value, torch.Tensor):
                wide = dtype is not None and value.dtype.is_floating_point
                grad, value = value.requires_grad, received(value)
                value = (value.to(dtype) if wide else value.clone()).requires_grad_(grad)
            held.append(value)
        return held

    ideal = eager = outcome(function, inputs())
    if all(relative_error(other, one) == 0 for other, one in zip(outcome(function, inputs(), seed=1), eager)):
        # Nothing is random, of which float64 would draw other numbers.
        try:
            ideal = outcome(function, inputs(torch.float64))
        except Exception:
            pass  # the function insists on its dtypes
    results = []
    for ranged in (False, True):
        given = inputs()
        with Accelerator(ranged):
            results.append(outcome(function, given))
    for index, (want, near, seen) in enumerate(zip(ideal, *results)):
        error, alone = relative_error(seen, want), relative_error(near, want)
        if seen.dtype.is_floating_point:
            allowed = {factor} * max(alone, {unit!r})
        else:
            allowed = 0.0 if alone == 0 else float("inf")  # integers: rounding decides about them, or it does not
        if error > allowed:
            wrong, right = seen.to(torch.float64).flatten(), want.to(torch.float64).flatten()
            kinds = {{
                "NaN": wrong.isnan() & ~right.isnan(),
                "infinity": wrong.isinf() & right.isfinite(),
                "wrong numbers": wrong != right,
            }}
            kind, places = next((kind, places) for kind, places in kinds.items() if bool(places.any()))
            worst = int(torch.where(places, (wrong - right).abs().nan_to_num(nan=1.0), 0.0).argmax())
            yield index, kind, right[worst].item(), wrong[worst].item(), error, allowed'''
