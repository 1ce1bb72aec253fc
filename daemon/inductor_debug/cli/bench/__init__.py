"""Benchmarks: what the speed claims of the README rest on. Each prints ratios measured within one run."""
