"""Has Dynamo trace modules that are alike once. Knows of no target and no stage.

`repeated_calls` watches a trace; the others say what of it may be copied, and copy it.
"""
