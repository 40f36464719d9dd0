"""The first layout: pseudonyms with summaries, rounds, reports."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables. They are written out: what this made does not change with the program."""
    op.create_table(
        "pseudonym",
        sa.Column("token", sa.LargeBinary(32), primary_key=True),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("mark", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("summary", sa.LargeBinary),
        sa.Column("model", sa.String(64)),
        sa.Column("sums", sa.LargeBinary),
    )
    op.create_table(
        "round",
        sa.Column("token", sa.LargeBinary(32), nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("disclosure", sa.String(64), nullable=False),
        sa.Column("solicitation", sa.LargeBinary, nullable=False),
        sa.Column("opened", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("token", "number"),
        sa.ForeignKeyConstraint(["token"], ["pseudonym.token"], ondelete="CASCADE"),
    )
    op.create_table(
        "report",
        sa.Column("token", sa.LargeBinary(32), nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("round", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("report", sa.LargeBinary, nullable=False),
        sa.Column("received", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("token", "number"),
        sa.ForeignKeyConstraint(
            ["token", "round"], ["round.token", "round.number"], ondelete="CASCADE"
        ),
    )


def downgrade() -> None:
    """Drop the tables."""
    for name in ("report", "round", "pseudonym"):
        op.drop_table(name)
