"""Checks and surveys on many machines: whole files and models as tasks of a Dask cluster, and texts in JSON back.

A second place beside this machine's engine, behind the same two methods (`check` and `outcome`). On each Dask worker a
plugin keeps an engine with its warm fork server, so that a model on the wire is a text and its result is one, too. Only
this package knows Dask, and it is imported only where `--cluster` is given. It prints nothing and imports no torch.
"""
