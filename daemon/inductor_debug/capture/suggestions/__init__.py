"""Ways to run a target otherwise than it is written, tried without the accelerator: what each would cost there.

Finds no fault and changes no text. Imports `stages`, `targets` and what lies below.
"""
