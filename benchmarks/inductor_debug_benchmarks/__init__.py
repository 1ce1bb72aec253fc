"""Benchmarks: what the speed claims of the README rest on. Each prints ratios measured within one run.

In a checkout alone; `inductor-debug bench` runs them.
"""
