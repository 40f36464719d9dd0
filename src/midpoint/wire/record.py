"""What is signed and kept: the list of disclosures, what witnesses saw, what auditors measured."""

from itertools import pairwise
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from midpoint.wire.fixed import MILLION
from midpoint.wire.message import (
    Count,
    Digest,
    Integer,
    Message,
    Name,
    PublicKey,
    Seconds,
    fault,
)
from midpoint.wire.refusal import Refusal

Share = Annotated[int, Field(ge=0, le=MILLION)]
"""A number from 0 to 1 in millionths."""
MOST_AUC = 600_000
"""What a device that requires a certificate accepts at most, unless she says otherwise."""
SHOWN_FOR = 24 * 60 * 60
"""Seconds for which a witness has to show an entry before a device answers under it."""


class Entry(Message):
    """One link of the analyst's append-only list of disclosures."""

    domain: ClassVar[str] = "entry"

    sequence: Count
    """Its index in the list, from 0."""
    disclosure: Digest
    """Digest of the disclosure that became current."""
    catalogue: Digest | None = None
    """Digest of the titles shown with it; devices refuse an entry that names none."""
    previous: Digest | None = None
    """Digest of the entry before it; absent for the first."""
    time: Seconds
    """When it was made."""
    key: PublicKey
    """The key that signs it."""
    successor: PublicKey | None = None
    """The key that signs what follows, if that is another one: this signature vouches for it."""

    @property
    def next_key(self) -> str:
        """The key that has to sign the next entry."""
        return self.successor or self.key

    def _gist(self) -> str:
        return f"{self.sequence}: disclosure {self.disclosure[:12]}"

    @model_validator(mode="after")
    def _linked(self) -> Self:
        if (self.previous is None) != (self.sequence == 0):
            raise fault(Refusal.WRONG_SHAPE, "the first entry, and only it, has no previous one")
        if self.successor == self.key:
            raise fault(Refusal.WRONG_SHAPE, "a key is not its own successor")
        return self


class WitnessStatement(Message):
    """What an independent witness saw of an analyst's list, from its first entry to the newest."""

    domain: ClassVar[str] = "witness statement"

    entries: Annotated[tuple[Digest, ...], Field(min_length=1)]
    """Digest of each entry, in the order of the list."""
    seen: tuple[Seconds, ...]
    """When the witness first saw each, by its own clock; later by the time it could not look."""
    time: Seconds
    """When it last saw the list, whose newest entry was then the last of these."""
    key: PublicKey
    """The witness's key."""

    def newest_shown_for(self, seconds: int) -> int | None:
        """Return the number of the newest entry that was current for so long; None if none was.

        An entry that another one replaced sooner never counts, however long ago that was: it was
        there for those who happened to ask in between.
        """
        ended = (*self.seen[1:], self.time)
        long = [n for n, at in enumerate(self.seen) if ended[n] - at >= seconds]
        return long[-1] if long else None

    def _gist(self) -> str:
        return f"entry {len(self.entries) - 1}: {self.entries[-1][:12]}"

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if len(self.entries) != len(self.seen):
            raise fault(Refusal.WRONG_SHAPE, "entries and seen differ in length")
        if any(after < before for before, after in pairwise((*self.seen, self.time))):
            raise fault(Refusal.WRONG_SHAPE, "an entry was seen before an earlier one")
        return self


class Certificate(Message):
    """What an auditor measured of one disclosure on one data set; figures in millionths."""

    domain: ClassVar[str] = "certificate"

    disclosure: Digest
    """Digest of the disclosure that was attacked."""
    data: Digest
    """Digest of the data that it was attacked on."""
    auditor: Name
    """Who measured."""
    key: PublicKey
    """The auditor's key."""
    attack: Name
    """The strongest attack."""
    auc: Share
    """Its AUC: 0.5 is a blind guess; below 0.5 leaks as much as above."""
    auc_low: Share
    """Lower end of the AUC's interval."""
    auc_high: Share
    """Upper end of the AUC's interval."""
    null_low: Share
    """Lower end of the chance band: what the strongest attack reaches on shuffled labels."""
    null_high: Share
    """Upper end of the chance band: what the strongest attack reaches on shuffled labels."""
    rmse_cost: Integer
    """By how much the prediction error grew, in millionths of a rating unit; 0 for unary data."""
    ndcg_cost: Integer | None = None
    """What share of NDCG@10 is lost, in millionths; absent where no lists were ranked."""
    adversary: Name | None = None
    """Whom it was measured against, by what they know; a required certificate states it."""
    panel: Count | None = None
    """People whom the audited disclosures were made of."""
    outsiders: Count | None = None
    """Labelled people outside the panel that the adversary learned from."""
    given: Share | None = None
    """Share of their ratings that the people attacked gave."""
    folds: Count | None = None
    """Folds of the audit; in all of them together everybody was attacked once."""
    people: Count | None = None
    """How many people were attacked."""
    attackers: Count | None = None
    """How many attackers tried."""
    tpr_at_1: Share | None = None
    """Share of a category that is found while 1 % of the others are taken for it."""
    tpr_at_01: Share | None = None
    """The same where 0.1 % of the others are."""
    balanced_accuracy: Share | None = None
    """Mean over both categories of the share that is held for what it is."""
    named: Share | None = None
    """Share of people whose category is named with 90 % confidence."""
    time: Seconds
    """When it was measured."""

    def _gist(self) -> str:
        return f"disclosure {self.disclosure[:12]}: AUC {self.auc / MILLION:.3f}"

    @property
    def reach(self) -> int:
        """AUC that the strongest attack may have, sign flipped or not: the interval's far end."""
        return max(self.auc_high, MILLION - self.auc_low)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not (self.auc_low <= self.auc <= self.auc_high and self.null_low <= self.null_high):
            raise fault(Refusal.WRONG_SHAPE, "an interval does not contain what it should")
        return self
