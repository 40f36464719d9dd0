"""Layouts of the database, one after the other; `alembic` runs what is in here."""
