"""Tensors while a target runs: the modes that they live in, what is read of them, and the recorder of operations.

Imports `running`, `weightless` and what lies below.
"""
