"""The editor-agnostic core: documents, generations, scheduling, caches and the supervision of workers.

`engine` is the way in; no torch and no LSP in here.
"""
