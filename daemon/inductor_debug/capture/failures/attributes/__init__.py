"""What objects of a class may have, from its text alone: for names that nothing sets.

Syntax and signatures; nothing is called.
"""
