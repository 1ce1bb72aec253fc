"""`python … -c PROGRAM` in a process that has torch and is warm: what xdist starts as its test processes."""

import os
import sys

import request

if __name__ == "__main__":
    connection = request.ask("torch", "python", program=sys.argv[sys.argv.index("-c") + 1])
    if connection is None:
        os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
    request.stand_for(connection)
