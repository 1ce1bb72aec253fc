"""Text of source files: lines, positions in the units of editors, comments, syntax, directives.

Needs the standard library and the schema alone; everybody may import it.
"""
