"""What TorchInductor makes of a target: post-grad graphs, IR and kernels, tied to nodes and expressions.

Stops before anything is built. Imports `stages` and what lies below.
"""
