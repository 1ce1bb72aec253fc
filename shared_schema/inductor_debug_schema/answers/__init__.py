"""What the tool answers beyond findings: comparisons, bisections, reproducers, logs of transfers.

One module for each kind of answer. A worker sends them, the command line prints them as JSON, the server hands them on,
and the pages of the editor read the same types, generated.
"""
