"""A live site audited again, by people who joined its panel since a disclosure was published.

The disclosure was made without them, and their category is known: they are outsiders. They are cut
into parts. Their devices are simulated under the disclosure as it was published, and each part is
attacked by attackers that learned from the others. People who joined earlier are taken for the
disclosure's panel: one attacker learns from them in which directions the categories differ, and
from the outsiders what that is worth. The result can refute a certificate; it does not confirm one,
since an auditor's attackers learned from more people.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles
from midpoint.analyst.fit.choice import RAW
from midpoint.analyst.learn.volunteers import Volunteers
from midpoint.audit.attackers.attacker import targets
from midpoint.audit.attackers.auc import Area, area
from midpoint.audit.attackers.linear import Logistic, panel_directions
from midpoint.audit.attackers.view import Panel, View, report_scale
from midpoint.audit.choose.attackers import ATTACKERS, QuickAttacker, stacked
from midpoint.audit.choose.measurement import stack_scores
from midpoint.audit.run.adversaries.bound import PASSED
from midpoint.data import Ratings, user_folds
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Population
from midpoint.wire import MILLION, ONE, Certificate, Disclosure

Float = NDArray[np.float64]
PARTS: Final = 5
"""Parts of the people; each is attacked by attackers trained on the others."""
DRAWS: Final = 2
"""Draws of the coins, of those attacked and of those learned from."""
LEAST: Final = 30
"""People that each category needs: with fewer, nothing would be seen."""
DOUBT: Final = 0.05
"""Probability that a certificate is refuted though it holds, over all categories."""
OF_PANEL: Final = QuickAttacker("panel", panel_directions, Logistic((1.0, 30.0, 1000.0)))
"""The attacker that knows people who joined before the disclosure, too."""


@dataclass(frozen=True)
class Reading:
    """How well people of a category are distinguished, by attackers that learned from others."""

    auc: float
    """Of two people of different categories, how often the right one is picked."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end of its interval."""
    category: str
    """The category that is looked for, against all others."""


@dataclass(frozen=True)
class SiteAudit:
    """What people who joined since a disclosure say about it."""

    disclosure: Disclosure
    """The disclosure, as it was published."""
    published: int
    """When it was first published, in whole seconds since 1970 in UTC."""
    counts: tuple[tuple[str, int], ...]
    """How many people there are of each category."""
    protected: Reading
    """What attackers infer from what their devices send."""
    raw: Reading
    """The control: the same attackers on their raw ratings."""
    certificates: tuple[Certificate, ...] = ()
    """What auditors signed about the disclosure."""
    panel: int = 0
    """How many people joined before the disclosure; 0 where too few did to learn from."""

    @property
    def proves(self) -> bool:
        """Whether the attackers succeed on raw ratings; else their failing says nothing."""
        return self.raw.low > 0.5

    @property
    def broken(self) -> tuple[str, ...]:
        """What was certified, or promised by the service, and no longer holds."""
        said = [
            f"{signed.auditor} certified an AUC of {signed.auc / MILLION:.2f}, at most"
            f" {signed.reach / MILLION:.2f}"
            for signed in self.certificates
            if self.protected.low > signed.reach / MILLION
        ]
        leak = self.disclosure.leak
        passed = PASSED if self.disclosure.prior is not None else 0.0  # as with counterparts
        if leak is not None and self.protected.low > leak / ONE + passed:
            said.append(f"the service says that errors leak up to an AUC of {leak / ONE:.2f}")
        return tuple(said)

    def words(self) -> list[str]:
        """Say what was measured, and what it means for what was certified."""
        sent, raw = self.protected, self.raw
        people = sum(count for _, count in self.counts)
        listed = ", ".join(f"{name} {count:,}" for name, count in self.counts)
        joined = (
            f"{people:,} people joined since this disclosure was published on"
            f" {_day(self.published)}: {listed}"
        )
        before = f", and from {self.panel:,} who joined before," if self.panel else ""
        measured = (
            f"Attackers that learned from {people * (PARTS - 1) // PARTS:,} of them{before} pick"
            f" the right one of two others {100 * sent.auc:.0f} times in 100"
            f" ({100 * sent.low:.0f} to {100 * sent.high:.0f}; blind guessing: 50; on raw"
            f" ratings: {100 * raw.auc:.0f})"
        )
        lines = [joined, measured]
        if not self.proves and not self.broken:
            lines.append(
                "The same attackers fail on raw ratings, so their failing proves nothing: more"
                " people have to join"
            )
        lines += [f"NO LONGER HOLDS: {said}" for said in self.broken]
        if self.broken:
            lines.append(
                "Train again with these people (`midpoint learn`), and have the new disclosure"
                " audited and certified; until then devices that require a certificate still trust"
                " the old one"
            )
        elif self.certificates:
            names = ", ".join(
                f"{signed.auditor}: AUC {signed.auc / MILLION:.2f}, at most"
                f" {signed.reach / MILLION:.2f}, of {_day(signed.time)}"
                for signed in self.certificates
            )
            lines.append(
                f"Nothing here contradicts what was certified ({names}). That is no new proof:"
                " these attackers learned from few people"
            )
        else:
            lines.append("No auditor certified this disclosure: there is nothing to compare with")
        return lines


def _day(moment: int) -> str:
    return f"{datetime.fromtimestamp(moment, tz=UTC):%d %B %Y}"


def audit_site(
    disclosure: Disclosure,
    profiles: ItemProfiles,
    published: int,
    volunteers: Volunteers,
    certificates: Sequence[Certificate] = (),
    *,
    seed: int = 0,
) -> SiteAudit:
    """Attack people who joined since a disclosure was published, and look at its certificates.

    Args:
        disclosure: What is published.
        profiles: The model behind it.
        published: When it was first published: it may have been made from people who joined before.
        volunteers: All who joined the site's panel.
        certificates: What auditors signed about the disclosure.
        seed: Decides parts and coins.
    """
    names = tuple(feature.name for feature in disclosure.features)
    fresh = volunteers.since(published).ratings
    people = None if fresh is None else _known(fresh, profiles)
    counts = _counts(people, disclosure, names)
    few = [(name, count) for name, count in counts if count < LEAST]
    if people is None or few:
        name, count = few[0]
        raise MidpointError(
            f"of the people who joined since {_day(published)}, when this disclosure was published,"
            f" {count:,} are {name!r}: {LEAST} of each category are needed; ask more people to"
            " join, or audit people of your own by `midpoint audit SOURCE`"
        )
    outside, earlier = _Outside.of(people, names, seed), volunteers.before(published).ratings
    panel = None if earlier is None else _known(earlier, profiles)
    if min(count for _, count in _counts(panel, disclosure, names)) < LEAST:
        panel = None
    raw = LearningProtocol(RAW)
    return SiteAudit(
        disclosure,
        published,
        counts,
        _read(outside, panel, LearningProtocol(disclosure.scheme), disclosure, profiles, seed),
        _read(outside, panel, raw, raw.disclose(profiles), profiles, seed),
        tuple(certificates),
        0 if panel is None else panel.n_users,
    )


def _known(people: Ratings, profiles: ItemProfiles) -> Ratings:
    """Number items as the model does; ratings of others are left out."""
    number = {item: n for n, item in enumerate(profiles.item_ids.tolist())}
    index = np.array([number.get(item, -1) for item in people.item_ids.tolist()], np.int64)
    kept = people.select_ratings(index[people.item] >= 0)
    item = index[kept.item].astype(np.int32)
    order = np.lexsort((item, kept.user))
    return Ratings(
        user=kept.user[order],
        item=item[order],
        value=kept.value[order],
        scale=kept.scale,
        user_ids=kept.user_ids,
        item_ids=profiles.item_ids,
        item_names=profiles.item_names,
        features=kept.features,
    )


def _counts(
    people: Ratings | None, disclosure: Disclosure, names: tuple[str, ...]
) -> tuple[tuple[str, int], ...]:
    """Count people by category, or joint cell."""
    if people is None:
        first = disclosure.features[0]
        return tuple((category, 0) for category in first.categories)
    feature = people.feature(*names)
    return tuple(zip(feature.categories, feature.counts.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class _Outside:
    """Outsiders in parts."""

    ratings: Ratings
    category: NDArray[np.intp]
    features: tuple[str, ...]
    names: tuple[str, ...]
    part: NDArray[np.int64]
    members: list[NDArray[np.intp]]
    given: list[Population]

    @classmethod
    def of(cls, people: Ratings, features: tuple[str, ...], seed: int) -> "_Outside":
        feature = people.feature(*features)
        category = feature.codes.astype(np.intp)
        part = user_folds(people.n_users, PARTS, seed=seed, feature=feature)
        members = [np.flatnonzero(part == number) for number in range(PARTS)]
        chosen = [people.select_users(part == number) for number in range(PARTS)]
        given = [
            _population(some, category[who]) for some, who in zip(chosen, members, strict=True)
        ]
        return cls(people, category, features, feature.categories, part, members, given)


def _population(people: Ratings, category: NDArray[np.intp]) -> Population:
    return Population(people.user, people.item, people.value, category, repeated=True)


def _read(
    outside: _Outside,
    panel: Ratings | None,
    protocol: LearningProtocol,
    disclosure: Disclosure,
    profiles: ItemProfiles,
    seed: int,
) -> Reading:
    """Attack each part by attackers trained on the others, under one disclosure; combine them."""
    scale = report_scale(disclosure, outside.ratings.scale)

    def view(people: Population, part: int, draw: int, beside: Panel | None = None) -> View:
        coins = np.random.default_rng([seed, part, draw])
        sent = protocol.report(disclosure, profiles, people, coins)
        return View(sent, profiles, disclosure, scale, panel=beside)

    attackers, beside = list(ATTACKERS), None
    if panel is not None:
        members = _population(panel, panel.feature(*outside.features).codes.astype(np.intp))
        beside = Panel(
            lambda: [view(members, PARTS, draw) for draw in range(DRAWS)], members.category
        )
        attackers.append(OF_PANEL)
    views = [
        [view(given, part, draw, beside) for draw in range(DRAWS)]
        for part, given in enumerate(outside.given)
    ]
    wanted = targets(len(outside.names))
    scores = np.zeros((len(attackers), len(wanted), DRAWS, len(outside.category)))
    for part, whose in enumerate(outside.members):
        others = [number for number in range(PARTS) if number != part]
        learners = np.concatenate([outside.members[number] for number in others])
        category = np.tile(outside.category[learners], DRAWS)
        pooled = [
            View.pooled([views[number][draw] for number in others], profiles, disclosure)
            for draw in range(DRAWS)
        ]
        for r, attacker in enumerate(attackers):
            rows = stacked(attacker.form, pooled)
            for q, k in enumerate(wanted):
                score = attacker.fit(rows, category == k)
                for draw in range(DRAWS):
                    scores[r, q, draw, whose] = score(attacker.form(views[part][draw]))
    readings = []
    for q, k in enumerate(wanted):
        ones = outside.category == k
        weighed = stack_scores(outside, scores[:, q], ones)
        mean = Area.mean([area(drawn, ones, outside.part) for drawn in weighed])
        low, high = mean.interval(1 - DOUBT / len(wanted))
        readings.append(Reading(mean.value, low, high, outside.names[k]))
    return max(readings, key=lambda reading: reading.auc)
