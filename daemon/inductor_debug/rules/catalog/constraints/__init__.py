"""Rules that judge operations: a predicate over a recording, and its page."""
