"""The user: everything that ever touches her private feature."""
