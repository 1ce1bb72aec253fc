"""The ladder of backends: which layer of the compiler goes wrong first, and what crosses to an accelerator.

Imports what the kinds import.
"""
