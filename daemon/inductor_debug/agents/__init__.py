"""`inductor-debug mcp`: what coding agents ask for, as tools with short answers, by the Model Context Protocol.

`mcp_server` alone imports the SDK (an extra, `[mcp]`). Files are reached below the folders that the user named and
nowhere else, what runs there may reach no network, and every answer has a limit. Imports `scripting` and what lies
below it.
"""
