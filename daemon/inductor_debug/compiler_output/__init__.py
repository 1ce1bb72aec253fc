"""What a compiler left on disk, read back: folders of `TORCH_COMPILE_DEBUG`, logs of `TORCH_TRACE`, Spyre's own files.

From files to `GraphDocument`, the same that a capture makes, so that all views of graphs show them. Whatever stands in
the files is looked at and never run; sizes, depths and links are bounded (`files/confined_files.py`). What was not
understood is named with the reason. Modules import `files/`, `inductor_debug.source`, `inductor_debug.rules.amounts`
and the schema.
"""
