"""Commands about the tool itself: what is there and what is missing, completion, and the artifacts that were kept.

Each module is one command, as those beside this package; imports `cli.support` and what lies below it.
"""
