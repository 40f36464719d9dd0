"""A person's device as an object: the agent's checks and files, without a network.

Its ratings, category, secret and ledger stay in it; what leaves is the report.
"""

import inspect
import logging
import weakref
from collections.abc import Collection, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Self

from midpoint.errors import MidpointError
from midpoint.user.agent.home import Home
from midpoint.user.agent.preview import preview
from midpoint.user.agent.rows import PreviewLine, RankedTitle, Rows
from midpoint.user.agent.standing import Standing, Terms, accept
from midpoint.user.agent.titles import Given, by_item
from midpoint.user.core.correction import correct
from midpoint.user.core.decisions import decide
from midpoint.user.core.ledger import LEDGER
from midpoint.user.core.private import PrivateCategory
from midpoint.wire import (
    MILLION,
    Certificate,
    Disclosure,
    Published,
    Report,
    Scores,
    Solicitation,
)

DIRECTORY = "device"
"""Name of the directory in her home, beside those that agents keep for services."""
log = logging.getLogger("midpoint")


class Device:
    """A person's own device at one analyst.

    It checks what the analyst published as the agent does, and holds the analyst to it: another
    key, an older list, or another scheme is refused. With a `home`, a directory of hers, secret,
    decisions and pin outlive the program, and every decision is final. Without one it is a
    simulation in memory, and says so.

    Args:
        published: What the analyst shows everyone (`Analyst.published`).
        home: Her directory; one person's, for one analyst.
        accept_changes: Take another key, list, feature, scale or scheme of the analyst, as on
            first use, because she agrees. Secret and decisions stay.
        auditors: Public keys of auditors that she trusts.
        require_certificate: Refuse a disclosure that none of them certified, or that is certified
            to leak more than `most_auc`. What is demanded is kept in the home, and holds until
            something else is demanded.
        most_auc: AUC that the strongest attack may reach, as certified; 0.5 is blind guessing, and
            0.6 holds unless given.
        agree_to_show_rated: Take, on first use, a scheme that does not hide which items she rated.
        most_leak: AUC that errors of what is disclosed may let somebody reach, as the analyst says
            (leak budget); any unless given.
        category: Her category of each private feature, such as {"gender": "F"}. It never leaves.
        features: The same by keyword, such as gender="F"; a feature whose name is a setting above,
            such as `home`, is given in `category`.
    """

    def __init__(
        self,
        published: Published,
        category: Mapping[str, str] | None = None,
        /,
        *,
        home: Path | str | None = None,
        accept_changes: bool = False,
        auditors: Collection[str] | None = None,
        require_certificate: bool | None = None,
        most_auc: float | None = None,
        agree_to_show_rated: bool = False,
        most_leak: float | None = None,
        **features: str,
    ) -> None:
        if home is None:
            _say_simulated()
            kept = Home.in_memory()
        else:
            kept = device_home(home)
        try:
            kept.demand(
                auditors=None if auditors is None else tuple(auditors),
                require_certificate=require_certificate,
                most_auc=None if most_auc is None else round(most_auc * MILLION),
                most_leak=None if most_leak is None else round(most_leak * MILLION),
            )
            terms = Terms.of(kept.demands, show_rated=agree_to_show_rated)
            standing = accept_and_keep(published, kept, terms, accept_changes=accept_changes)
            names = _names(standing.accepted.disclosure, category or {}, features)
            self._begin(kept, standing, PrivateCategory.of(standing.accepted.disclosure, names))
        except BaseException:
            kept.close()
            raise

    @classmethod
    def of(cls, home: Home, standing: Standing, category: PrivateCategory) -> Self:
        """Make a device of its parts, for a program that asks for the category after the checks.

        `standing` is what `accept_and_keep` returned for this home.
        """
        device = cls.__new__(cls)
        device._begin(home, standing, category)  # noqa: SLF001 - one of its own
        return device

    def _begin(self, home: Home, standing: Standing, category: PrivateCategory) -> None:
        self._home, self._standing, self._category = home, standing, category
        weakref.finalize(self, home.close)

    @property
    def disclosure(self) -> Disclosure:
        """The disclosure that passed the checks."""
        return self._standing.accepted.disclosure

    @property
    def standing(self) -> Standing:
        """What passed the checks."""
        return self._standing

    @property
    def certificate(self) -> Certificate | None:
        """What an auditor she trusts measured of the disclosure; None if nobody did."""
        return self._standing.certificate

    @property
    def titles(self) -> Mapping[str, str]:
        """What each item is called."""
        return self._standing.titles

    def protect(self, ratings: Given, *, question: Solicitation | None = None) -> Report:
        """Return the report, which is all that is ever sent; what it decides is final.

        `ratings` are in stars, by title or by item; where nothing is rated, the names alone will
        do. Unless the analyst asked a `question`, she may rate anything: the report then repeats
        what was revealed before, so the newest one says it all. Where nothing new is rated, nothing
        is decided: the same report comes back. Where items are assigned, a question is needed, and
        is answered as a whole or not at all.
        """
        self._home.require_remembered()
        self._require_question(question)
        rated = by_item(ratings, self._standing)
        asked = question or self._question(rated)
        if asked is None:
            return self._last_report()
        self._home.keep_ratings(self._home.ratings | rated)
        return decide(rated, asked, self._standing.accepted, self._category, self._home.ledger)

    def preview(self, ratings: Given, *, question: Solicitation | None = None) -> Rows[PreviewLine]:
        """Show what `protect` would send and withhold; nothing is decided."""
        self._require_question(question)
        rated = by_item(ratings, self._standing)
        asked = question or self._question(rated) or self._open_question(())
        accepted, ledger = self._standing.accepted, self._home.ledger
        lines = preview(rated, asked, accepted, self._category, ledger)
        return Rows(lines, partial(PreviewLine.of, titles=self.titles))

    def rank(self, scores: Scores) -> Rows[RankedTitle]:
        """Rank the analyst's scores for her, best first, without what she has rated."""
        ledger = self._home.ledger
        rated = ledger.decided | self._home.ratings.keys()
        move = ledger.move_under(self.disclosure.digest)
        best = correct(scores, self.disclosure, self._category, rated, move)
        return Rows(best, partial(RankedTitle.of, standing=self._standing))

    def has_answered(self, question: Solicitation) -> bool:
        """Return whether this round was answered: its report stands, whatever is rated now."""
        return self._home.ledger.answered(question.round) is not None

    def forget(self) -> None:
        """Erase secret, decisions and ratings here; who starts again is somebody new."""
        self._home.start_forgetting()
        self._home.erase()

    def close(self) -> None:
        """Let another program or object use the home."""
        self._home.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """Say what it protects and where it lives, not what she is."""
        features = ", ".join(feature.name for feature in self.disclosure.features)
        directory = self._home.directory
        kept = "simulation, in memory" if directory is None else f"home {str(directory.parent)!r}"
        who = "nobody she trusts" if self.certificate is None else self.certificate.auditor
        return (
            f"<Device: protects {features} by {self.disclosure.scheme}; {kept}; certified by {who}>"
        )

    def _require_question(self, question: Solicitation | None) -> None:
        """Refuse to leave the choice to her where items are assigned."""
        if question is None and self.disclosure.sets:
            raise MidpointError(
                "this service assigns the items that people rate, so answer its question: pass"
                " question=, as from Analyst.solicit"
            )

    def _question(self, rated: Mapping[str, int]) -> Solicitation | None:
        """Return an open question; None if nothing is new and the last report says it all."""
        repeated = self._repeatable()
        ledger = self._home.ledger
        if ledger.rounds and rated.keys() <= ledger.decided:
            last = self._last_report()
            current = last.disclosure == self.disclosure.digest
            if current and [item for item, _ in last.answers] == repeated:
                return None
        return self._open_question(repeated)

    def _repeatable(self) -> list[str]:
        """Return the items revealed before whose numbers are still the same, ascending.

        The analyst knows them: what a question holds says nothing about what was withheld.
        """
        ledger, disclosure, known = self._home.ledger, self.disclosure, self.disclosure.index
        decisions = ((item, ledger.decision(item)) for item in sorted(ledger.decided))
        return [
            item
            for item, decision in decisions
            if decision
            and decision.numbers
            and item in known
            and decision.numbers == disclosure.numbers_of(known[item])
        ]

    def _open_question(self, items: Collection[str]) -> Solicitation:
        following = 1 + max((round_.round for round_ in self._home.ledger.rounds), default=-1)
        return Solicitation(
            disclosure=self.disclosure.digest, round=following, items=tuple(items), open=True
        )

    def _last_report(self) -> Report:
        return Report.parse(self._home.ledger.rounds[-1].report.encode())


def device_home(directory: Path | str) -> Home:
    """Open what a device keeps in a person's directory, or begin it."""
    return Home.inside(_root(directory), DIRECTORY)


def has_device(directory: Path | str) -> bool:
    """Return whether a device was begun in a person's directory."""
    return (_root(directory) / DIRECTORY / LEDGER).exists()


def accept_and_keep(
    published: Published, home: Home, terms: Terms, *, accept_changes: bool = False
) -> Standing:
    """Accept what the analyst published, pin it and keep it; or refuse it and change nothing."""
    if accept_changes:
        home.repin()
    standing = accept(published, home, terms)
    home.keep_published(published)
    return standing


def _root(directory: Path | str) -> Path:
    return Path(directory).expanduser().resolve()


def _names(
    disclosure: Disclosure, category: Mapping[str, str], features: Mapping[str, str]
) -> dict[str, str]:
    """Put both forms of her category together; an error does not repeat what she is."""
    if twice := sorted(category.keys() & features.keys()):
        raise MidpointError(f"{', '.join(twice)} is given twice; give it once")
    names = dict(category) | dict(features)
    known = inspect.signature(Device).parameters.values()
    settings = {setting.name for setting in known if setting.kind is setting.KEYWORD_ONLY}
    for feature in disclosure.features:
        if feature.name not in names and feature.name in settings:
            raise MidpointError(
                f"the private feature {feature.name!r} has the name of a setting of Device; give"
                f" your category by name: Device(published, {{{feature.name!r}: ...}})"
            )
    return names


@cache
def _say_simulated() -> None:
    """Say it once: a device in memory is no protection for a person."""
    log.warning(
        "this device is a simulation, in memory: when the program ends its secret and decisions"
        " are gone, and a rating protected again leaks more; for a person, give home=DIRECTORY"
    )
