"""`python -m midpoint`: the command line, where the command `midpoint` is not on the path."""

from midpoint.cli import main

if __name__ == "__main__":
    main()
