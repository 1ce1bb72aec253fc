"""What is known of a graph's nodes beyond their names: kinds, costs, bodies, and which findings they are about.

Imports no other package of `capture`.
"""
