"""The `midpoint` command: one thin module per subcommand."""

from midpoint.cli.app import main

__all__ = ["main"]
