"""Single mistakes planted into source text: what they are, where they go, and whether what was said stands there."""
