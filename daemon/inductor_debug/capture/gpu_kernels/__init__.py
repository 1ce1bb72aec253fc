"""What makes Inductor lower graphs for a GPU that is not there: no GPU, no driver and no CUDA build of torch is needed.

Runs and measures nothing on any device. Imports `tensors` and what lies below.
"""
