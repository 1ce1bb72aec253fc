"""A bug report: everything an issue needs, and nothing that is none of its readers' business.

Writes nothing before it was seen.
"""
