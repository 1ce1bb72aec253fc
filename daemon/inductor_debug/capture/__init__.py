"""From a Python file to recordings of ops: targets, model building, and the stages.

`session` is the job from beginning to end. The packages are listed from the bottom up in `pyproject.toml`.
"""
