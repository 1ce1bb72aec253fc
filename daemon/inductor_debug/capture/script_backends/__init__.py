"""Backends and logs for scripts of the user's own, outside of any daemon.

Judge by the same rules as the stages. Import those and what lies below.
"""
