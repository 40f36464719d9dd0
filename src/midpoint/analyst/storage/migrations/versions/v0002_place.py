"""Number the reports of a pseudonym, so that two workers cannot both add the next one."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
KEPT = "token, round, id, report, received"
BEFORE = "row_number() OVER (PARTITION BY token ORDER BY round) - 1"


def upgrade() -> None:
    """Make the table anew, since SQLite cannot change a key, and take over what was kept."""
    op.rename_table("report", "earlier_report")
    _make(sa.Column("place", sa.BigInteger, nullable=False, autoincrement=False), "place")
    op.execute(
        f"INSERT INTO report ({KEPT}, place) SELECT {KEPT}, {BEFORE} FROM earlier_report"  # noqa: S608
    )
    op.drop_table("earlier_report")


def downgrade() -> None:
    """Go back to one report a round, by its key."""
    op.rename_table("report", "earlier_report")
    _make(None, "round")
    op.execute(f"INSERT INTO report ({KEPT}) SELECT {KEPT} FROM earlier_report")  # noqa: S608
    op.drop_table("earlier_report")


def _make(place: "sa.Column[int] | None", key: str) -> None:
    op.create_table(
        "report",
        sa.Column("token", sa.LargeBinary(32), nullable=False),
        *([] if place is None else [place]),
        sa.Column("round", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("report", sa.LargeBinary, nullable=False),
        sa.Column("received", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("token", key),
        sa.ForeignKeyConstraint(
            ["token", "round"], ["round.token", "round.number"], ondelete="CASCADE"
        ),
    )
