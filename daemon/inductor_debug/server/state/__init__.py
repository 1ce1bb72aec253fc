"""What the server knows: its texts, settings, diagnostics and results, and what it tells the client unasked.

Answers no request of a feature.
"""
