"""What a user asks for by name beyond findings, and how the pieces of an answer come together.

The work is done in a worker.
"""
