"""The search for inputs that run: trials on tensors without values, and what their failures suggest.

Whose fault a failure is, is decided in `judging`.
"""
