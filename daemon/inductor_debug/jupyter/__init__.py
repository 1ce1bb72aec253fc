"""The IPython extension: `%load_ext inductor_debug`, then `%%compile_check`, and reports as HTML under their cells.

`extension` alone imports IPython. Imports `scripting` and what lies below it.
"""
