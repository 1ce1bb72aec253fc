"""What a function does with its arguments, as far as its syntax and its modules' attributes show.

Runs nothing.
"""
