"""Captured graphs: run under the recorder, turned into plain tables, written to artifacts.

Compiles nothing. Imports `dynamo` and what lies below.
"""
