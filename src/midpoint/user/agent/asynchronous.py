"""The user's walk: send what is decided, fetch, check, pin; be asked, answer, submit; recommend.

Nothing secret decides which requests are made, in which order and when, nor any of their bytes but
a report's content. They follow from the address, the service's answers and what the person does.
Public documents are fetched without a pseudonym.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self, TypeVar

from midpoint.errors import MidpointError
from midpoint.user.agent.address import address_of
from midpoint.user.agent.channel import AwayError, Channel, Request, ServiceError
from midpoint.user.agent.home import Home
from midpoint.user.agent.panel import membership
from midpoint.user.agent.preview import Line, preview
from midpoint.user.agent.standing import Standing, Terms, accept, entry_to_fetch
from midpoint.user.core.correction import Recommendation, correct
from midpoint.user.core.decisions import decide
from midpoint.user.core.private import PrivateCategory
from midpoint.wire import (
    Certificates,
    Chain,
    Published,
    Receipt,
    Refusal,
    RefusedError,
    Report,
    Scores,
    Signed,
    Solicitation,
    SolicitationRequest,
)
from midpoint.wire.canonical import LARGEST_MESSAGE, require_strict
from midpoint.wire.exchange import (
    ALL_UP_TO,
    LARGEST_ANSWER,
    LARGEST_LIST,
    MARGIN,
    MOST_ROUNDS,
    UnusableError,
)
from midpoint.wire.message import Message

M = TypeVar("M", bound=Message)
REFUSED_FOR_GOOD = frozenset(
    {
        "malformed",
        "too_large",
        "report_changed",
        "round_unknown",
        "unknown_disclosure",
        "retired_disclosure",
        "space_used_up",
    }
)
"""Codes after which the same report is not sent again: it would be refused again."""


class AsyncAgent:
    """A person's agent at one service, with her secret in a directory or in memory."""

    def __init__(
        self,
        address: str,
        home: Home,
        terms: Terms | None = None,
        channel: Channel | None = None,
    ) -> None:
        terms = terms or Terms.of(home.demands)
        self.address = address_of(address, plain_http=terms.plain_http)
        self.home = home
        self.demand(terms)
        self._channel = channel or Channel()
        self._standing: Standing | None = None
        self._asked: Solicitation | None = None
        self._asked_in = -1, 0.0  # number of the last question, and when it came

    @classmethod
    def open(
        cls,
        address: str,
        root: Path | None = None,
        terms: Terms | None = None,
        channel: Channel | None = None,
    ) -> Self:
        """Keep secret, ledger, pin and ratings in a directory, by default the user's own."""
        plain = terms is not None and terms.plain_http
        home = Home.at(address_of(address, plain_http=plain), root)
        try:
            return cls(address, home, terms, channel)
        except MidpointError:
            home.close()
            raise

    def demand(self, terms: Terms) -> None:
        """Hold the service to these terms.

        If they name no witness, the one that was asked before is asked again, unless she agreed to
        go on without one (`without_witness`).
        """
        witness = None if terms.without_witness else terms.witness or self.home.proof.asked
        self.terms = replace(terms, witness=witness)
        self._witness = self._other(witness)

    @classmethod
    def in_memory(
        cls, address: str, terms: Terms | None = None, channel: Channel | None = None
    ) -> Self:
        """Keep all in memory: when the program ends, nobody can answer or erase as this person."""
        return cls(address, Home.in_memory(), terms, channel)

    @property
    def standing(self) -> Standing:
        """The disclosure, titles and certificate that last passed the checks."""
        if self._standing is None:
            raise MidpointError("nothing was fetched and checked yet; connect first")
        return self._standing

    @property
    def asked(self) -> Solicitation:
        """The round to be answered."""
        if self._asked is None:
            raise MidpointError("no round is open; solicit first")
        return self._asked

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.home.close()

    async def connect(self) -> Standing:
        """Send what was decided and not acknowledged, then fetch, check and pin."""
        if self.home.is_restored:
            await self._require_newest()
        await self.submit()
        return self.check(await self.fetch())

    async def fetch(self) -> Published:
        """Ask for all that is public, without a pseudonym; the witness first, so it is no newer."""
        witness = None if self._witness is None else await self._ask_witness(self._witness)
        chain = await self._public("/v1/chain", Chain, LARGEST_LIST)
        named = entry_to_fetch(chain, witness, self.terms.shown_for)
        path = f"/v1/disclosures/{named.disclosure}"
        disclosure = await self._named(path)
        certificates = await self._public(f"{path}/certificates", Certificates, LARGEST_ANSWER)
        titles = named.catalogue
        catalogue = await self._named(f"/v1/catalogues/{titles}") if titles else b""
        return Published(chain, disclosure, catalogue, certificates, witness)

    def check(self, published: Published) -> Standing:
        """Accept what was fetched and pin it, or refuse it and change nothing.

        After a refusal the service is held to the former pin, even if she agreed to a change.
        """
        standing = accept(published, self.home, self.terms)
        digest = standing.accepted.disclosure.digest
        if self._asked is not None and self._asked.disclosure != digest:
            self._asked = None  # the question belongs to a disclosure that is no longer current
        self._standing = standing
        return standing

    async def solicit(self) -> Solicitation:
        """Get the next question; if a new disclosure was published meanwhile, check it first."""
        try:
            self._asked = await self._solicit()
        except ServiceError as error:
            if error.code != "not_current":
                raise
            self.check(await self.fetch())
            self._asked = await self._solicit()
        return self._asked

    def fixed(self, ratings: Mapping[str, float]) -> dict[str, int]:
        """Return ratings such as 4 or 3.5 in fixed point, refusing those not on the scale."""
        return self.standing.fixed(ratings)

    def preview(self, ratings: Mapping[str, float], category: PrivateCategory) -> tuple[Line, ...]:
        """Show what an answer to the open round would send and withhold; nothing is decided."""
        accepted = self.standing.accepted
        return preview(self.fixed(ratings), self.asked, accepted, category, self.home.ledger)

    def answer(self, ratings: Mapping[str, float], category: PrivateCategory) -> Report:
        """Decide the open round for good; the report waits on the device until `submit`."""
        self.home.require_remembered()
        fixed = self.fixed(ratings)
        self.home.keep_ratings(self.home.ratings | fixed)
        report = decide(fixed, self.asked, self.standing.accepted, category, self.home.ledger)
        self._asked = None
        return report

    async def submit(self) -> Receipt | None:
        """Send every decided report that was not acknowledged, oldest first, as it was decided.

        Returns the last receipt; None if there was nothing to send.
        """
        self.home.require_remembered()
        receipt = None
        for text in self.home.unsent:
            receipt = await self._send(Report.parse(text.encode()))
        return receipt

    async def recommend(self, n: int, category: PrivateCategory) -> tuple[Recommendation, ...]:
        """Return her n best items that she has not rated, with her own offset added here."""
        if n < 1:
            raise MidpointError(f"{n} recommendations are none; ask for 1 or more")
        scores = await self._scores(n)
        if scores.disclosure != self.standing.accepted.disclosure.digest:
            self.check(await self.fetch())
            scores = await self._scores(n)
        rated = self.home.ledger.decided | self.home.ratings.keys()
        disclosure = self.standing.accepted.disclosure
        move = self.home.ledger.move_under(disclosure.digest)
        return correct(scores, disclosure, category, rated, move)[:n]

    async def export(self) -> bytes:
        """Return all that the service and this device keep about her, as JSON."""
        self.home.require_remembered()
        raw = await self._kept_there()
        require_strict(raw)
        panel = (await membership(self)).model_dump(mode="json", exclude_none=True)
        notes = self.home.notes.model_dump(mode="json", exclude_none=True)
        rounds = [entry.model_dump(mode="json") for entry in self.home.ledger.rounds]
        proof = self.home.proof.model_dump(mode="json", exclude_none=True)
        device = {"notes": notes, "rounds": rounds, "proof": proof}
        whole = {"service": json.loads(raw), "panel": panel, "device": device}
        return json.dumps(whole, indent=2, ensure_ascii=False).encode()

    async def as_member(self, method: str, body: Message | None = None) -> bytes:
        """Make a request about the panel, under a pseudonym of its own (`user.agent.panel`)."""
        return await self._own(method, "/v1/panel", LARGEST_LIST, body, self.home.member_token)

    async def forget(self, *, only_here: bool = False) -> None:
        """Erase her data at the service and in its panel, then on this device.

        If the service does not answer, everything stays, and nothing else can be done until this
        succeeds. With `only_here` the service is not asked; it then keeps her data for good, since
        the pseudonym that could erase them is gone.
        """
        self.home.start_forgetting()
        if not only_here:
            await self.as_member("DELETE")  # whether she joined or not: a backup may not know it
            await self._own("DELETE", "/v1/pseudonym", LARGEST_ANSWER)
        self.home.erase()
        self._standing = self._asked = None

    def _other(self, witness: str | None) -> str | None:
        if witness is None:
            return None
        address = address_of(witness, plain_http=self.terms.plain_http)
        if address == self.address:
            raise MidpointError(f"{witness} is the service itself; a witness is somebody else")
        return address

    async def _ask_witness(self, witness: str) -> Signed:
        """Ask a witness what it saw of the list.

        If it does not answer, its last statement still holds: that allows nothing new.
        """
        request = Request("GET", f"{witness}/v1/witness", LARGEST_LIST)
        try:
            return Signed.parse(await self._channel.ask(request))
        except AwayError:
            if self.home.proof.witness is None:
                raise
            return self.home.proof.witness
        except MidpointError as error:
            raise UnusableError(f"{witness} does not answer as a witness does: {error}") from error

    async def _named(self, path: str) -> bytes:
        """Return the exact bytes of a document that its path names by digest."""
        return await self._channel.ask(Request("GET", self.address + path, LARGEST_MESSAGE))

    async def _public(self, path: str, kind: type[M], largest: int) -> M:
        return kind.parse(await self._channel.ask(Request("GET", self.address + path, largest)))

    async def _own(
        self,
        method: str,
        path: str,
        largest: int,
        body: Message | None = None,
        token: str | None = None,
    ) -> bytes:
        raw = None if body is None else body.raw
        request = Request(method, self.address + path, largest, raw, token or self.home.token)
        return await self._channel.ask(request)

    async def _solicit(self) -> Solicitation:
        self.home.require_remembered()
        digest = self.standing.accepted.disclosure.digest
        done = max(self.home.notes.settled, default=None)
        after = None if done is None else min(done, MOST_ROUNDS)
        superseded = self.standing.accepted.superseded or None
        ask = SolicitationRequest(disclosure=digest, after=after, superseded=superseded)
        raw = await self._own("POST", "/v1/solicitation", LARGEST_MESSAGE, ask)
        asked = Solicitation.parse(raw)
        self._asked_in = asked.round, time.monotonic()
        return asked

    async def _send(self, report: Report) -> Receipt:
        if report.round == self._asked_in[0]:
            await self._channel.keep_pace(self._asked_in[1])
        try:
            raw = await self._own("POST", "/v1/reports", LARGEST_ANSWER, report)
        except ServiceError as error:
            if error.code in REFUSED_FOR_GOOD:
                self.home.settle(report.round)
            raise
        receipt = Receipt.parse(raw)
        if receipt.report != report.digest:
            raise RefusedError(Refusal.WRONG_DIGEST, "the receipt is for another report")
        self.home.settle(report.round)
        return receipt

    async def _require_newest(self) -> None:
        """Refuse to go on from a backup if the service has reports that are newer than it."""
        raw = await self._kept_there()
        require_strict(raw)
        try:
            reports = (json.loads(raw) or {"reports": []})["reports"]
            answered = [int(report["round"]) for report in reports]
        except (TypeError, KeyError, ValueError) as error:
            raise RefusedError(Refusal.WRONG_SHAPE, "the export names no rounds") from error
        self.home.require_newest(answered)

    async def _kept_there(self) -> bytes:
        try:
            return await self._own("GET", "/v1/pseudonym", LARGEST_LIST)
        except ServiceError as error:
            if error.code == "not_found":
                return b"null"
            raise

    async def _scores(self, n: int) -> Scores:
        self.home.require_remembered()
        accepted = self.standing.accepted
        items = len(accepted.disclosure.items)
        older = f"/{accepted.disclosure.digest}" if accepted.superseded else ""
        best = "" if items <= ALL_UP_TO else f"?top={n}&margin={MARGIN}"
        return Scores.parse(await self._own("GET", f"/v1/scores{older}{best}", LARGEST_MESSAGE))
