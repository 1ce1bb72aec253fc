"""What a file offers for compilation, and how a target is made of it.

Imports `entry`, `inference` and what lies below; runs no stage.
"""
