"""Rule pages on a terminal."""

from __future__ import annotations

from inductor_debug.report.styles import Styler
from inductor_debug.report.text.markdown import render

PAGE = """\
# dtype

A tensor has a dtype that the accelerator
does not compute in, `float64` for instance.

- use `float()`
- or a longer item that goes on and on until the line has to be broken somewhere
  and then goes on

```python
x = x.double()

y = x
```

Put `# inductor-debug: ignore[dtype]` there.
"""


def test_a_page_without_colour_keeps_the_ticks_around_code() -> None:
    assert render(PAGE, Styler(False), 60) == (
        "dtype\n\n"
        "A tensor has a dtype that the accelerator does not compute\n"
        "in, `float64` for instance.\n\n"
        "- use `float()`\n"
        "- or a longer item that goes on and on until the line has to\n"
        "  be broken somewhere and then goes on\n\n"
        "    x = x.double()\n\n"
        "    y = x\n\n"
        "Put `# inductor-debug: ignore[dtype]` there.\n"
    )


def test_code_is_painted_instead_of_ticked() -> None:
    shown = render(PAGE, Styler(True), 60)
    assert "`" not in shown
    assert "\x1b[36mfloat64\x1b[0m" in shown
    assert "\x1b[1;4mdtype\x1b[0m" in shown


def test_an_unclosed_fence_loses_nothing() -> None:
    assert "x = 1" in render("text\n\n```\nx = 1\n", Styler(False), 60)


def test_control_characters_are_made_visible() -> None:
    assert "\x1b" not in render("a \x1b[31m b", Styler(False), 60)
