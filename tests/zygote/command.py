"""`inductor-debug` as a process of its own, whose fork servers are the zygote's children, as it is itself."""

import sys

import request

if __name__ == "__main__":
    connection = request.ask("command", "command", words=sys.argv[1:])
    if connection is not None:
        request.stand_for(connection)
    import process

    process.run_command(sys.argv[1:])
