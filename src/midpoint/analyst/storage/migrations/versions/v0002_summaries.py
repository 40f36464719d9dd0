"""Summaries beside pseudonyms; those of earlier rounds and reports are made when first needed."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
COLUMNS = ("mark", "summary", "model", "sums")


def upgrade() -> None:
    """Add the columns, empty: no table is rewritten, however large."""
    mark = sa.Column("mark", sa.BigInteger, nullable=False, server_default="0")
    op.add_column("pseudonym", mark)
    op.add_column("pseudonym", sa.Column("summary", sa.LargeBinary))
    op.add_column("pseudonym", sa.Column("model", sa.String(64)))
    op.add_column("pseudonym", sa.Column("sums", sa.LargeBinary))


def downgrade() -> None:
    """Drop them: they hold nothing that rounds and reports do not."""
    for name in COLUMNS:
        op.drop_column("pseudonym", name)
