"""What analyst and user say to each other about one person: question, answer, scores.

And how an answer is asked for and read, by devices and witnesses alike.
"""

import zlib
from collections.abc import AsyncIterator
from typing import Annotated, ClassVar, Self

from pydantic import Field, StringConstraints, model_validator

from midpoint.errors import MidpointError
from midpoint.wire.message import (
    Count,
    Digest,
    Integer,
    Message,
    Name,
    OneLine,
    Seconds,
    fault,
    require_ascending,
)
from midpoint.wire.refusal import Refusal, RefusedError

Score = Annotated[int, Field(ge=-(2**52), le=2**52)]
"""So that a score with an offset added to it is still exact."""
ReportId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
MOST_ROUNDS = 10**6
"""Rounds that a device speaks of, at most."""
LARGEST_ANSWER = 2**20
"""Most bytes of an answer that holds no list of all items."""
LARGEST_LIST = 2**24
"""Most bytes of an answer that grows with time: some ten thousand entries or reports."""
ALL_UP_TO = 20_000
"""Items up to which all scores are asked for; beyond, the best and a margin for rated ones."""
MARGIN = 2_000
"""The margin: public, since the number of rated items says something about who rated them."""
Code = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z_]{0,39}$")]
HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip",
    "Connection": "close",
    "User-Agent": "midpoint",
}
"""What every request says; no version and no system, by which devices could be distinguished, and
the same from a witness, whom the service should not know from a device."""


class UnusableError(MidpointError):
    """What came back is no answer of this protocol; it is not asked for again."""


async def read_answer(pieces: AsyncIterator[bytes], coding: str | None, largest: int) -> bytes:
    """Read a body as it came; a small bomb that unpacks to more than allowed is dropped."""
    coding = (coding or "identity").lower()
    if coding not in ("identity", "gzip"):
        raise UnusableError(f"the answer is packed as {coding[:40]!r}, which was not offered")
    unpack = zlib.decompressobj(wbits=31) if coding == "gzip" else None
    body = bytearray()
    async for packed in pieces:
        room = largest + 1 - len(body)
        body += packed[:room] if unpack is None else unpack.decompress(packed, room)
        if unpack is not None and unpack.unused_data:
            raise zlib.error("the answer goes on after its end")
        if len(body) > largest:
            raise RefusedError(Refusal.TOO_LONG, f"the answer has more than {largest} bytes")
    if unpack is not None and not unpack.eof:
        raise zlib.error("the answer ends in the middle")
    return bytes(body)


class SolicitationRequest(Message):
    """What a device says to be asked about items."""

    domain: ClassVar[str] = "solicitation request"

    disclosure: Digest
    """Digest of the disclosure that it accepted."""
    after: Annotated[int, Field(ge=0, le=MOST_ROUNDS)] | None = None
    """Number of the last round whose report was acknowledged, or refused for good; absent if none.

    The next round is a later one, also for an analyst that lost what it had kept.
    """
    superseded: bool | None = None
    """True if a newer one is out that no witness has shown for long enough; absent if it is not."""


class Solicitation(Message):
    """The items that the analyst asks about in one round."""

    domain: ClassVar[str] = "solicitation"

    disclosure: Digest
    """Digest of the disclosure under which to answer."""
    round: Count
    """Number of the round; one round has one set of items, ever."""
    items: tuple[Name, ...]
    """The items, ascending by code point."""
    open: bool
    """Whether other items of the disclosure may be answered as well."""

    def _gist(self) -> str:
        return f"round {self.round}: {len(self.items)} items{' or others' * self.open}"

    @model_validator(mode="after")
    def _sorted(self) -> Self:
        require_ascending(self.items, "items")
        return self


class Report(Message):
    """The answer: revealed items only, so that withheld and unrated look the same.

    It has no field in which the private feature could travel.
    """

    domain: ClassVar[str] = "report"

    id: ReportId
    """128 random bits that name the report, and no person."""
    disclosure: Digest
    """Digest of the disclosure that was used."""
    round: Count
    """Number of the round that it answers."""
    answers: tuple[tuple[Name, Integer], ...]
    """Pairs of item and obfuscated rating in fixed point, ascending by item."""

    def _gist(self) -> str:
        return f"round {self.round}: {len(self.answers)} answers"

    @model_validator(mode="after")
    def _sorted(self) -> Self:
        require_ascending((item for item, _ in self.answers), "answers")
        return self


class PanelRatings(Message):
    """What a person shares who joins the panel: her category and her ratings, as they are.

    Nothing of it is protected. A device makes one only after she agreed, and sends it under a
    pseudonym of its own.
    """

    domain: ClassVar[str] = "panel ratings"

    disclosure: Digest
    """Digest of the disclosure whose features, scale and items these are."""
    category: Annotated[tuple[tuple[Name, Name], ...], Field(min_length=1)]
    """Pairs of feature and category, ascending by feature."""
    ratings: Annotated[tuple[tuple[Name, Integer], ...], Field(min_length=1)]
    """Pairs of item and raw rating in fixed point, ascending by item."""

    def __repr__(self) -> str:
        """Show nothing of her: even a digest distinguishes one category from another."""
        return f"<PanelRatings: {len(self.ratings)} ratings; hidden>"

    @model_validator(mode="after")
    def _sorted(self) -> Self:
        require_ascending((feature for feature, _ in self.category), "features")
        require_ascending((item for item, _ in self.ratings), "ratings")
        return self


class PanelMembership(Message):
    """Whether people may join the panel, and what is kept of this member."""

    domain: ClassVar[str] = "panel membership"

    open: bool
    """Whether people may join now; members may leave in any case."""
    joined: Seconds | None = None
    """When she first joined; absent if she is not in it."""
    shared: str | None = None
    """The exact text of the `PanelRatings` that she shared; absent if she is not in it."""

    def __repr__(self) -> str:
        """Show nothing of her."""
        return f"<PanelMembership: {'in' if self.joined is not None else 'not in'} it; hidden>"

    @property
    def ratings(self) -> PanelRatings | None:
        """What she shared; None if she is not in it."""
        return None if self.shared is None else PanelRatings.parse(self.shared.encode())

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.joined is None) != (self.shared is None):
            raise fault(Refusal.MISSING_FIELD, "joined and shared go together")
        return self


class Scores(Message):
    """What the analyst predicts, free of any category; the device corrects and ranks it."""

    domain: ClassVar[str] = "scores"

    disclosure: Digest
    """Digest of the disclosure whose offsets go with these scores."""
    items: tuple[Name, ...]
    """The scored items, ascending by code point, so that the order says nothing."""
    score: tuple[Score, ...]
    """Predicted rating at the midpoint of the categories, fixed point, one per item."""
    deviation: tuple[Annotated[Integer, Field(ge=0)], ...]
    """Standard deviation of the prediction, fixed point, one per item."""

    @model_validator(mode="after")
    def _sorted(self) -> Self:
        require_ascending(self.items, "items")
        if not len(self.items) == len(self.score) == len(self.deviation):
            raise fault(Refusal.WRONG_SHAPE, "items, score and deviation differ in length")
        return self


class Receipt(Message):
    """What the analyst says once a report is kept for good."""

    domain: ClassVar[str] = "receipt"

    report: Digest
    """Digest of the report's exact bytes."""
    answers: Count
    """How many items this person has answered in all."""


class Problem(Message):
    """Why the analyst did not do what it was asked."""

    domain: ClassVar[str] = "problem"

    code: Code
    """A word that programs may rely on."""
    message: Annotated[str, StringConstraints(max_length=2000), OneLine]
    """A sentence for a person."""

    def _gist(self) -> str:
        return f"{self.code}: {self.message[:80]}"
