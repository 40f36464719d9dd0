"""What a person demands of a service, and what it published that passed the checks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from types import MappingProxyType
from typing import Any, Self

from midpoint.errors import MidpointError
from midpoint.user.agent.demands import Demands
from midpoint.user.agent.home import Home
from midpoint.user.checks.certificate import verify_certificate
from midpoint.user.checks.disclosure import Accepted, check_disclosure, check_titles, require_leak
from midpoint.user.checks.links import read_statement, require_witness
from midpoint.user.core.decisions import require_legal
from midpoint.wire import (
    MILLION,
    ONE,
    Catalogue,
    Certificate,
    Chain,
    Entry,
    Published,
    Signed,
    WitnessStatement,
    Wording,
)
from midpoint.wire.record import MOST_AUC, SHOWN_FOR

MARK = "seen"
"""What people say of an item of their set where the site names no other word."""


@dataclass(frozen=True)
class Standing:
    """A service's disclosure, titles and certificate, all of which passed the checks."""

    accepted: Accepted
    """The disclosure, and what the analyst is held to."""
    certificate: Certificate | None
    """A certificate of an auditor she trusts; without one, apps show that there is none."""
    titles: Mapping[str, str]
    """What each item of the disclosure is called."""
    popularity: Mapping[str, int]
    """How many people rated each item in training."""
    wording: Wording | None = None
    """What people of the site call its items, if the service says so."""
    genres: Mapping[str, str] = field(default_factory=dict)
    """What kind of thing an item is, where the service says it."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Where to read about an item, where the service says it."""

    @property
    def mark(self) -> str | None:
        """What she says of an item of her set, such as *seen*; None where items are rated."""
        if not self.accepted.disclosure.scale.is_unary:
            return None
        return MARK if self.wording is None else self.wording.done

    @classmethod
    def of(cls, accepted: Accepted, certificate: Certificate | None, shown: Catalogue) -> Self:
        """Combine them; an item without a title goes by its identifier."""
        titles = dict(zip(shown.items, shown.titles, strict=True))
        rated = dict(zip(shown.items, shown.ratings, strict=True))
        items = accepted.disclosure.items
        return cls(
            accepted,
            certificate,
            MappingProxyType({item: titles.get(item, item) for item in items}),
            MappingProxyType({item: rated.get(item, 0) for item in items}),
            shown.wording,
            *(_said(shown.items, column) for column in (shown.genres, shown.links)),
        )

    @cached_property
    def by_title(self) -> Mapping[str, tuple[str, ...]]:
        """The items of each title: more than one where titles are not unique."""
        single = {title: (item,) for item, title in self.titles.items()}
        if len(single) == len(self.titles):
            return single
        items: dict[str, list[str]] = {}
        for item, title in self.titles.items():
            items.setdefault(title, []).append(item)
        return {title: tuple(named) for title, named in items.items()}

    def fixed(self, ratings: Mapping[str, float]) -> dict[str, int]:
        """Return ratings such as 4 or 3.5 in fixed point, refusing those not on the scale."""
        strange = [item for item, value in ratings.items() if not isfinite(value)]
        if strange:
            raise MidpointError(f"the rating of item {strange[0]!r} is no number; correct it first")
        fixed = {item: round(value * ONE) for item, value in ratings.items()}
        require_legal(fixed, self.accepted.disclosure)
        return fixed


@dataclass(frozen=True)
class Terms:
    """What a person demands of a service."""

    witness: str | None = None
    """Address of a witness: somebody independent that watches the list (`midpoint witness`)."""
    witness_key: str | None = None
    """Its public key; unless given, the key that it shows first is held on to."""
    without_witness: bool = False
    """Whether she agrees to go on without the witness that this device knows."""
    shown_for: int = SHOWN_FOR
    """Seconds for which the witness has to show an entry before it is answered under."""
    auditors: tuple[str, ...] = ()
    """Public keys of auditors that she trusts."""
    require_certificate: bool = False
    """Whether to refuse a disclosure that none of them certified."""
    plain_http: bool = False
    """Whether the way to the service is safe without encryption."""
    show_rated: bool = False
    """Whether she agrees, on first use, to a scheme that does not hide which items she rated."""
    most_auc: float = MOST_AUC / MILLION
    """With `require_certificate`: AUC that the strongest attack may reach, as certified."""
    most_leak: float | None = None
    """AUC that errors of what is disclosed may let somebody reach, as the analyst says; or any."""

    @classmethod
    def of(cls, demands: Demands, **of_this_run: Any) -> Self:
        """Return what is demanded for good, and what is for one run only."""
        given = {
            "witness": demands.witness,
            "witness_key": demands.witness_key,
            "shown_for": demands.shown_for,
            "auditors": demands.auditors,
            "require_certificate": demands.require_certificate,
            "most_auc": None if demands.most_auc is None else demands.most_auc / MILLION,
            "most_leak": None if demands.most_leak is None else demands.most_leak / MILLION,
        }
        return cls(**{k: v for k, v in given.items() if v is not None} | of_this_run)

    def __post_init__(self) -> None:
        """Refuse limits that are none."""
        if self.shown_for < 0:
            raise MidpointError(f"{self.shown_for} seconds are none; give 0 or more")
        for most in (self.most_auc, self.most_leak):
            if most is not None and not 0.5 <= most <= 1:
                raise MidpointError(
                    f"{most} is no AUC to accept at most; give one from 0.5 (blind guessing) to 1"
                    " (certainty)"
                )


def entry_to_fetch(chain: Chain, witness: Signed | None, shown_for: int) -> Entry:
    """Return the entry whose disclosure is to be fetched; nothing is checked yet."""
    if witness is not None:
        number = witness.open(WitnessStatement).newest_shown_for(shown_for)
        if number is not None and number < len(chain.entries):
            return chain.entries[number].open(Entry)
    return chain.entries[-1].open(Entry)


def accept(published: Published, home: Home, terms: Terms) -> Standing:
    """Accept what a service published and pin it, or refuse it.

    After a refusal the service is held to the former pin, even if she agreed to a change. The
    entries that it signed are kept as proof in any case.
    """
    entries = published.chain.entries
    held = home.pin
    try:
        if held is not None:
            home.keep_proof(home.proof.adding(entries, held.key))
        standing = _examined(published, home, terms)
        if held is not None:
            home.proof.require_unforked(entries)
        home.keep_pin(standing.accepted.pin, {signed.open(Entry).key for signed in entries})
    except MidpointError:
        home.restore_pin()
        raise
    proof = home.proof if held is not None else home.proof.beginning(entries)
    if published.witness is not None:
        proof = proof.seeing(published.witness, terms.witness)
    home.keep_proof(proof)
    return standing


def _examined(published: Published, home: Home, terms: Terms) -> Standing:
    entries = published.chain.entries
    accepted = check_disclosure(
        *(published.disclosure, entries, home.pin, _statement(published.witness, home, terms)),
        shown_for=terms.shown_for,
        show_rated=terms.show_rated,
    )
    require_leak(accepted.disclosure, terms.most_leak)
    titles = check_titles(published.catalogue, accepted.entry, accepted.disclosure)
    certificate = _trusted_certificate(published, accepted.disclosure.digest, terms)
    return Standing.of(accepted, certificate, titles)


def _statement(signed: Signed | None, home: Home, terms: Terms) -> WitnessStatement | None:
    """Read a witness's statement; refuse another key than she named, or than its first one.

    The device keeps the witness's first key whatever else she agrees to, so that a service cannot
    choose another witness when it changes something. A known witness may not be missing either.
    """
    held = home.proof.witness_key
    if signed is None:
        require_witness(None if terms.without_witness else held)
        return None
    return read_statement(signed, terms.witness_key or held)


def _trusted_certificate(published: Published, disclosure: str, terms: Terms) -> Certificate | None:
    """Return the first certificate by an auditor she trusts, if any; refuse forged ones.

    If she requires a certificate, there has to be one. Each by an auditor she trusts then has to
    stay within her limit, and to state the adversary and the number of people.
    """
    shown, needed = published.certificates.certificates, terms.require_certificate
    most = round(terms.most_auc * MILLION) if needed else MILLION
    verified = [
        verify_certificate(signed, disclosure, terms.auditors, most_auc=most, stated=needed)
        for signed in shown
    ]
    trusted = next((certificate for certificate in verified if certificate is not None), None)
    if trusted is None and terms.require_certificate:
        verify_certificate(None, disclosure, terms.auditors, required=True)
    return trusted


def _said(items: Sequence[str], column: Sequence[str] | None) -> Mapping[str, str]:
    """Return what a column says, without the items of which it says nothing."""
    rows = zip(items, column or (), strict=column is not None)
    return MappingProxyType({item: text for item, text in rows if text})
