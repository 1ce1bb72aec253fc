"""Workers: how they are started, watched and ended, and what their ends mean.

Knows jobs and processes, no documents. Imports no other package of `engine`.
"""
