"""A person's commands: `midpoint answer` at a service, `protect` and `rank` by files."""
