"""Reads the `[arithmetic]` table of a profile: with which number formats the accelerator computes.

Names are checked here, so that a profile with a typo is refused when it is read and not when numbers are compared.
"""

from __future__ import annotations

from inductor_debug.accelerators.capabilities import ELEMENT_BYTES, ArithmeticFormats
from inductor_debug.accelerators.document import Table
from inductor_debug.accelerators.number_formats import number_format


def read_arithmetic(table: Table) -> ArithmeticFormats | None:
    """The table `arithmetic` of a document; None where it is missing.

    Raises:
        ProfileError: a format is unknown, or `compute` is missing.
    """
    section = table.table("arithmetic")
    if section is None:
        return None
    compute = _format_name(section, "compute", "")
    if not compute:
        raise section.error("compute", "is missing: name a number format, such as 'float16'")
    accumulate = _format_name(section, "accumulate", "float32")
    formats = ArithmeticFormats(
        compute,
        accumulate,
        section.flag("flush_denormals"),
        section.dtypes("dtypes", ELEMENT_BYTES),
        section.flag("infinite_constants", True),
    )
    section.finish()
    return formats


def _format_name(section: Table, key: str, default: str) -> str:
    name = section.text(key, default)
    if not name:
        return ""
    try:
        return number_format(name).name
    except ValueError as error:
        raise section.error(key, str(error)) from None
