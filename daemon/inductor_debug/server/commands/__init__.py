"""What a user can ask for by name: `workspace/executeCommand`, one module a command.

Options are read here, the work is ordered from the engine.
"""
