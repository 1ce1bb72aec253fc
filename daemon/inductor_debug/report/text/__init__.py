"""What people read on a terminal, one module a document.

Imports no other package of `report`.
"""
