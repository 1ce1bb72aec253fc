"""Graph documents as JSON, DOT, SVG and one HTML page.

Imports no other package of `report`.
"""
