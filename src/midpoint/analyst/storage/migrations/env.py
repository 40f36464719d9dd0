"""Run migrations on the connection that `migrate` opened."""

from alembic import context

from midpoint.analyst.storage.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
