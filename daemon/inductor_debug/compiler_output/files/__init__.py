"""One reader for each kind of file that compilers write, and the one way to files that nobody vouches for.

A reader makes plain values of a text or of JSON, and says in a `FileFaultError` why it cannot. None knows of another
file than its own. Modules import `inductor_debug.source`, `inductor_debug.rules.amounts` and the schema.
"""
