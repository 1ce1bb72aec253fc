"""Processes that hold torch and measure: each prints JSON, and none is imported by a benchmark."""
