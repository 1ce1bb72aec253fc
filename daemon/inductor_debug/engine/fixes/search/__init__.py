"""A search for the smallest edit near a failing call with which its target runs: other dimensions, sizes, operands.

Nothing is known here but the text and which expressions are suspected; what an edit comes to is for a run to tell.
"""
