"""The `midpoint` command: one thin module per subcommand."""


def main() -> None:
    """Run the command line."""
