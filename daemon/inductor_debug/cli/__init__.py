"""The command line: `main` finds the command, `commands` carry it out."""
