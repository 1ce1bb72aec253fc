"""Reports of finished analyses, for people and for machines.

Works on documents and findings alone; nothing here judges.
"""
