"""The smallest change that makes a constraint's failure go, told in words: the nearest thing that passes."""

from __future__ import annotations

from inductor_debug.accelerators.profile import Profile
from inductor_debug.repro.program.constraint_cuts import Slice
from inductor_debug.rules.recording.ops import Op

_NEAREST_DTYPES = {
    "float64": ("float32", "bfloat16", "float16"),
    "complex128": ("complex64",),
    "int64": ("int32",),
    "int16": ("int32", "int8"),
    "bfloat16": ("float32", "float16"),
    "float16": ("float32", "bfloat16"),
    "float32": ("bfloat16", "float16"),
}


def neighbour_of(found: Slice, profile: Profile) -> str:
    """`float64 becomes float32`, `the size 63 becomes 64`; "" where no small change is known to mend it."""
    subject, rule = found.root.subject, found.rule.id
    if rule == "dtype":
        allowed = [name for name in profile.dtypes if name not in profile.stored_as]
        nearest = next((name for name in _NEAREST_DTYPES.get(subject, ()) if name in allowed), None)
        return f"{subject} becomes {nearest}" if nearest else ""
    if rule == "float64":
        return f"{subject} becomes {_NEAREST_DTYPES[subject][0]}"
    if rule == "alignment" and profile.alignment is not None and subject.isdigit():
        meta = (*found.culprit.inputs, *found.culprit.outputs)[0]
        unit = profile.alignment.elements(profile.device_bytes(meta.dtype, meta.element_bytes))
        return f"the size {subject} becomes {-(-int(subject) // unit) * unit}"
    if rule == "layout" and isinstance(found.cause, Op):
        return f".contiguous() follows {found.cause.packet.rsplit('.', 1)[-1]}"
    if rule == "rank" and profile.max_rank is not None:
        return f"the tensor has {profile.max_rank} dimensions"
    if rule == "mixed-dtypes":
        return "both operands have one dtype"
    return ""
