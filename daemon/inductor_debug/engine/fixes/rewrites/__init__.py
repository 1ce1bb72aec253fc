"""Rewrites: code that nothing is found against in a form that serves it better. Offered where the cursor is, on proof.

Every one claims to keep what the model computes; one that could not be compared is not offered at all.
"""
