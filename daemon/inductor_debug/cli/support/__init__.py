"""What commands share: their arguments, running orders for files, and where results go.

Knows no command.
"""
