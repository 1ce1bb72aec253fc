"""What goes into a run and what comes out: the target, its modules and outside tensors, the results of a stage.

Runs nothing itself. Imports `runtime`, `node_facts` and what lies below.
"""
