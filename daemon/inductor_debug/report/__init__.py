"""Reports of finished analyses: text, JSON, SARIF, GitHub annotations and JUnit.

A report only arranges what the engine found: it never decides a severity, silences a finding or runs anything.
"""
