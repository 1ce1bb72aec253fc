"""What a client asks the server for by name (`workspace/executeCommand`): a request in, an answer out.

`command_table` has them all; the server binds functions to it, and the editor's types are generated from it.
"""
