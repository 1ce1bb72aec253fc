"""What runs with inferred inputs mean: which findings count, and whose fault it is where nothing runs.

No invented size is ever blamed.
"""
