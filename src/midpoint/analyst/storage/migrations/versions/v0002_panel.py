"""The panel: what people shared who joined it, apart from all reports."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "panel",
        sa.Column("token", sa.LargeBinary(32), primary_key=True),
        sa.Column("joined", sa.BigInteger, nullable=False),
        sa.Column("disclosure", sa.String(64), nullable=False),
        sa.Column("shared", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("panel")
