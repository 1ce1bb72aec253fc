"""Case studies: real models, a problem of each found and fixed with this tool, as pages made of real runs.

A study is a folder in `examples/case_studies`: `before.py`, `after.py`, the runs that are made of both and the facts
that are taken from their answers (`study.toml`), what is told around them (`story.md.j2`), and the facts as they were
last (`facts.json`).
"""
