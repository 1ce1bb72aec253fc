"""Surveys: many models, one row each, in a file of results that grows while they run and can be gone on with.

A face of the engine beside documents and orders: it knows which models are meant (suites, files, libraries), what a row
is made of, and how two files of results compare. It prints nothing and renders nothing.
"""
