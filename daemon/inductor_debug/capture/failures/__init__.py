"""What an exception from user code means: whose fault, at which expression, which operands contradict each other.

Makes facts and findings of it; runs a call again only to learn that. Imports `tensors` and what lies below.
"""
