"""Which operation is at fault: node by node, or by cutting graphs in two.

Imports `emulation` and what lies below.
"""
