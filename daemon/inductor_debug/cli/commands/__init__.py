"""The commands, one module each; `cli.main` has the table of them.

No command imports another, but for `report`, which is a check.
"""
