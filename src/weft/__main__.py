"""`python -m weft`: the command line."""

from weft.cli.main import main

if __name__ == "__main__":
    main()
