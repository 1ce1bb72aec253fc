"""Files in which a debugger can stop while a compiled target runs, and the run of them.

`debug_task` makes the files in a worker; `debugged_run` is what their script calls, in a process of the user's.
"""
