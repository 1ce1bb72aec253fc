"""Reports of finished analyses: text, JSON, SARIF, GitHub annotations and JUnit."""
