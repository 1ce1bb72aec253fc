"""What is heard of Dynamo while it traces: positions of nodes, graph breaks, whether a graph is whole.

Private names of Dynamo stand here. Imports `failures` and what lies below.
"""
