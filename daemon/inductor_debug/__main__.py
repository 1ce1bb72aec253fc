"""`python -m inductor_debug`: the same as the `inductor-debug` command."""

from inductor_debug.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
