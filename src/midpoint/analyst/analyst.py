"""The analyst as an object: trained, disclosed and signed, ready to be published and to score."""

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Self

from midpoint.analyst.disclose.catalogue import catalogue_of
from midpoint.analyst.disclose.chain import publish
from midpoint.analyst.disclose.disclosure import disclose
from midpoint.analyst.disclose.site import KEY, Site
from midpoint.analyst.disclose.specification import SchemeSpec
from midpoint.analyst.fit.choice import ALLOWED, Allowance
from midpoint.analyst.fit.factorizer import Factorizer
from midpoint.analyst.fit.given.factors import GivenFactors
from midpoint.analyst.fit.given.sources import Ids
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.learn.reports import CollectedReports
from midpoint.analyst.score.scorer import Scorer
from midpoint.analyst.solicit.questions import Questions
from midpoint.analyst.training import LEAST_PEOPLE, train
from midpoint.data import Ratings
from midpoint.errors import MidpointError
from midpoint.progress import shown
from midpoint.wire import (
    Catalogue,
    Certificates,
    Chain,
    Disclosure,
    Entry,
    Published,
    Report,
    Scores,
    SigningKey,
    Solicitation,
)
from midpoint.wire.exchange import MARGIN

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False, repr=False)
class Analyst:
    """A trained model, what is disclosed of it, and the key that signs it.

    It keeps nothing about people: who comes back brings her earlier reports.
    """

    profiles: ItemProfiles
    """What training found out; it stays with the analyst."""
    disclosure: Disclosure
    """What everyone is shown of it."""
    catalogue: Catalogue
    """What the items are called."""
    chain: Chain
    """The signed list of disclosures; its last entry names this one."""
    key: SigningKey
    """What signs the list; devices hold the analyst to it."""
    certificates: Certificates = field(default_factory=lambda: Certificates(certificates=()))
    """What auditors signed about the disclosure."""

    @classmethod
    def train(
        cls,
        ratings: Ratings,
        *features: str,
        scheme: str | None = None,
        leak: float | None = None,
        allow: Allowance = ALLOWED,
        least_people: int = LEAST_PEOPLE,
        asked: str | Path | None = None,
        factorizer: Factorizer | None = None,
        seed: int | None = None,
        progress: bool | None = None,
        reports: CollectedReports | None = None,
    ) -> Self:
        """Learn from people who shared their private features, and disclose what devices need.

        It fits, chooses the scheme and prepares exactly as `midpoint train` does, and signs with
        a new key.

        Args:
            ratings: The ratings of the panel, with their features.
            features: The private feature; several make a joint one.
            scheme: Name of a scheme; the one that attacks on the panel itself choose unless given.
            leak: Leak budget: the AUC that somebody may reach who knew all errors of what is
                disclosed; see `midpoint.analyst.train`.
            allow: What the scheme that is chosen may cost.
            least_people: People that every category needs; fewer would be disclosed themselves.
            asked: Where people did not choose what they rate: "all", or a table of user and item;
                see `midpoint.analyst.train`.
            factorizer: How item profiles are learned.
            seed: Decides every random draw of the factorizer.
            progress: Whether to show a bar; in terminals and notebooks unless given.
            reports: What other people reported, to learn items from (`CollectedReports`).
        """
        Ratings.require(ratings)
        if not features:
            known = ", ".join(ratings.features) or "none"
            raise MidpointError(f"name the private feature to protect; {ratings.name} has: {known}")
        factorizer = factorizer or Factorizer()
        if seed is not None:
            factorizer = replace(factorizer, seed=seed)
        with shown("Training", progress) as report:
            profiles = train(
                ratings,
                features,
                factorizer=factorizer,
                scheme=scheme,
                leak=leak,
                allow=allow,
                least_people=least_people,
                asked=asked,
                progress=lambda step: report(step.iteration, step.iterations),
                reports=reports,
            )
        disclosure = disclose(profiles)
        catalogue = catalogue_of(profiles, disclosure)
        key = SigningKey.generate()
        signed = publish(disclosure, key, time=int(time.time()), catalogue=catalogue)
        return cls(profiles, disclosure, catalogue, Chain(entries=(signed,)), key)

    @classmethod
    def from_factors(
        cls,
        model: object,
        ratings: Ratings,
        *features: str,
        item_ids: Ids | None = None,
        scheme: str | None = None,
        leak: float | None = None,
        allow: Allowance = ALLOWED,
        least_people: int = LEAST_PEOPLE,
        seed: int = 0,
        progress: bool | None = None,
    ) -> Self:
        """Keep another recommender's items, and learn from the panel what protects people.

        Its item factors and biases become item profiles. What categories do, counterparts, people's
        prior and the noise of a rating are learned from the panel, and the scheme is chosen as in
        `train`.

        Args:
            model: A fitted model of implicit, LensKit, Cornac or Spark, an array of item factors,
                the path of a file, or `GivenFactors`.
            ratings: The ratings of the panel, with their features.
            features: The private feature; several make a joint one.
            item_ids: The ratings' name of each row of factors, or a mapping from the model's name
                or number of an item, where the model does not say.
            scheme: As in `train`.
            leak: As in `train`.
            allow: As in `train`.
            least_people: As in `train`.
            seed: Decides every random draw.
            progress: Whether to show a bar; in terminals and notebooks unless given.
        """
        given = model if isinstance(model, GivenFactors) else GivenFactors.of(model, item_ids)
        logger.info("%s", given.coverage(ratings))
        return cls.train(
            ratings,
            *features,
            scheme=scheme,
            leak=leak,
            allow=allow,
            least_people=least_people,
            factorizer=given,
            seed=seed,
            progress=progress,
        )

    @property
    def scheme(self) -> str:
        """The scheme by which devices obfuscate, with its settings."""
        return str(SchemeSpec.of(self.disclosure))

    @property
    def published(self) -> Published:
        """What everyone is shown: a device checks all of it."""
        return Published(self.chain, self.disclosure.raw, self.catalogue.raw, self.certificates)

    def score(self, *reports: Report, top: int | None = None, margin: int = MARGIN) -> Scores:
        """Score all items by one person's reports, midway between the categories.

        Her device adds its own part and ranks. With `top`, only as many items are scored as hold
        the best of every category, even after `margin` items are left out that she has rated.
        """
        if top is None:
            return self._scorer.scores(reports)
        return self._scorer.top(reports, top=top, margin=margin)

    def solicit(
        self, *reports: Report, budget: int = 30, asked: Iterable[Solicitation] = ()
    ) -> Solicitation:
        """Choose the items to ask about next, so that her profile is known best (Sec. 6.2).

        Args:
            reports: What she answered before.
            budget: How many items to ask about.
            asked: What she was asked before, not to be asked again.
        """
        past = tuple(asked)
        touched = {item for report in reports for item, _ in report.answers}
        touched |= {item for question in past for item in question.items}
        rounds = [report.round for report in reports] + [question.round for question in past]
        known = self._scorer.evidence(reports)
        chosen = self._questions.choose(
            budget,
            information=known.information if touched else None,
            answers=int(known.count),
            touched=touched,
        )
        return Solicitation(
            disclosure=self.disclosure.digest,
            round=1 + max(rounds, default=-1),
            items=tuple(sorted(self.profiles.item_ids[chosen.items].tolist())),
            open=False,
        )

    def save(self, directory: Path | str) -> None:
        """Write all of it, the key included, to a new directory: a site that a service shows."""
        path = Path(directory)
        if path.exists() and any(path.iterdir()):
            raise MidpointError(f"{path} is not empty; name a new directory, or use `publish`")
        self.publish(path)

    @classmethod
    def load(cls, directory: Path | str) -> Self:
        """Read what `save` or `publish` wrote, as it is now."""
        site = Site(Path(directory))
        chain = site.chain()
        newest = None if chain is None else chain.entries[-1].open(Entry)
        if chain is None or newest is None or newest.catalogue is None:
            raise MidpointError(f"{directory} shows nothing yet; save or publish an analyst there")
        return cls(
            site.profiles(newest.disclosure),
            site.disclosure(newest.disclosure),
            site.catalogue(newest.catalogue),
            chain,
            SigningKey.load(site.root / KEY),
            site.certificates(newest.disclosure),
        )

    def publish(self, site: Path | str, *, scheme: str | None = None) -> Self:
        """Make this model the current one of a site; return the analyst with the site's key.

        A new site takes this analyst's key. One that is there keeps its own key and, unless
        another is named, its scheme: devices hold it to both.
        """
        directory, now = Site(Path(site)), int(time.time())
        begins = directory.current() is None
        disclosure = self.disclosure
        if scheme is not None or not begins:
            disclosure = directory.disclose(self.profiles, scheme)
        same = disclosure.digest == self.disclosure.digest
        if begins:
            self._begin(directory)
            first = self.chain.entries[0].open(Entry)
            now = first.time if same else now  # signed again, it is the entry that devices pinned
        directory.publish(self.profiles, disclosure, time=now, change_scheme=scheme is not None)
        for certificate in self.certificates.certificates if same else ():
            directory.certify(certificate)
        return type(self).load(site)

    def __repr__(self) -> str:
        return "<Analyst: " + "; ".join(f"{name} {value}" for name, value in self._facts()) + ">"

    def _repr_html_(self) -> str:
        """Show a small table in a notebook."""
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
            for name, value in self._facts()
        )
        return f"<table><caption>Analyst</caption><tbody>{rows}</tbody></table>"

    def _facts(self) -> list[tuple[str, str]]:
        features = [f"{name} ({', '.join(names)})" for name, names in self.profiles.features]
        return [
            ("data", self.profiles.provenance.data),
            ("items", str(self.profiles.n_items)),
            ("private", " x ".join(features)),
            ("scheme", self.scheme),
            ("disclosure", self.disclosure.digest[:12]),
            ("key", self.key.public[:12]),
        ]

    @cached_property
    def _scorer(self) -> Scorer:
        return Scorer(self.profiles, self.disclosure)

    @cached_property
    def _questions(self) -> Questions:
        return Questions(self.profiles, self.disclosure, report_weights=self._scorer.weights)

    def _begin(self, site: Site) -> None:
        """Give a new site this key; one list must not begin at two sites."""
        if len(self.chain.entries) > 1:
            raise MidpointError(
                "this list has earlier disclosures, in the site that it was loaded from; copy"
                " that directory instead"
            )
        if not (site.root / KEY).exists():
            site.root.mkdir(parents=True, exist_ok=True)
            self.key.save(site.root / KEY)
