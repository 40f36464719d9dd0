"""The tables: three, without a column in which a private feature or an address could be kept.

A fourth table is apart from them: what people shared who joined the panel. It has no column in
common with the others but a digest of a token, and a device has another token for it.
"""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    LargeBinary,
    MetaData,
    String,
    Table,
)

metadata = MetaData()

pseudonym = Table(
    "pseudonym",
    metadata,
    Column("token", LargeBinary(32), primary_key=True),  # SHA-256 of the device's token
    Column("created", BigInteger, nullable=False),
    # Random, and drawn again with each change: a worker writes only over what it has read.
    Column("mark", BigInteger, nullable=False, server_default="0"),
    # What `Summary` makes of the rounds and reports; none before the first one.
    Column("summary", LargeBinary),
    Column("model", String(64)),  # whose sums these are
    Column("sums", LargeBinary),
)

question = Table(
    "round",
    metadata,
    Column("token", ForeignKey(pseudonym.c.token, ondelete="CASCADE"), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("disclosure", String(64), nullable=False),
    Column("solicitation", LargeBinary, nullable=False),  # the exact bytes that were sent
    Column("opened", BigInteger, nullable=False),
)

answer = Table(
    "report",
    metadata,
    Column("token", LargeBinary(32), primary_key=True),
    # How many reports came before it. Two workers that each add the next one have the same key,
    # also when they answer different rounds, so only one of them succeeds.
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("round", BigInteger, nullable=False),
    Column("id", String(32), nullable=False),
    Column("report", LargeBinary, nullable=False),  # the exact bytes that were received
    Column("received", BigInteger, nullable=False),
    ForeignKeyConstraint(
        ["token", "round"], [question.c.token, question.c.number], ondelete="CASCADE"
    ),
)

panel = Table(
    "panel",
    metadata,
    Column("token", LargeBinary(32), primary_key=True),  # SHA-256 of the token of a member
    Column("joined", BigInteger, nullable=False),
    Column("disclosure", String(64), nullable=False),
    Column("shared", LargeBinary, nullable=False),  # the exact bytes that were received
)
