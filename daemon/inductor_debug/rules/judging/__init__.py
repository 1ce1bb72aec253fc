"""What rules have in common: their form, root causes, places and wording.

Knows no rule.
"""
