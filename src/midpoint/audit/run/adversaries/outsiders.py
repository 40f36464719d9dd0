"""The adversaries `published` and `outsider`, which learn under the published disclosure.

For them the training people of a fold are split into a panel and outsiders. The disclosure is made
of the panel alone. The people who are attacked are the held-out ones, so nobody has two roles.
"""

from dataclasses import dataclass, replace
from functools import cached_property

from midpoint.analyst import ItemProfiles, prepare
from midpoint.audit.attackers.view import Panel, View
from midpoint.audit.rounds.protocol import RoundsProtocol
from midpoint.audit.run.adversaries.catalogue import OUTSIDER
from midpoint.audit.run.adversaries.panel_draw import Drawn, draw_panel, sizes
from midpoint.audit.run.folds import FoldData, FoldProfiles, first_comers
from midpoint.audit.run.plan import Plan
from midpoint.audit.run.round_views import RoundViews, Versions
from midpoint.audit.run.views import NOBODY, FoldViews, Parts, ReportViews
from midpoint.data import Ratings, user_folds
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol
from midpoint.wire import Scheme

SPLIT = "split"
"""Name in the store of what is learned from the panel of such a split."""


def require_panel(people: Ratings, plan: Plan, *, outsiders: int = 0) -> None:
    """Refuse a panel and a number of outsiders that are more people than a fold leaves."""
    training = _outside(people, plan)
    panel, _ = sizes(plan, training)
    if panel + outsiders > training:
        beside = f" and {outsiders:,} outsiders are" if outsiders else " is"
        raise MidpointError(
            f"a panel of {panel:,}{beside} more than the {training:,} people outside a fold"
            f" ({plan.folds} folds of {people.n_users:,} people); ask for fewer, or for more folds"
        )


def _outside(people: Ratings, plan: Plan) -> int:
    """Return how many people are outside the largest fold."""
    return people.n_users - -(-people.n_users // plan.folds)


def require_split(people: Ratings, plan: Plan) -> None:
    """Refuse a split that needs more people than a fold leaves, of any category."""
    panel, outsiders = sizes(plan, _outside(people, plan))
    require_panel(people, plan, outsiders=outsiders)
    feature = people.feature(*plan.feature)
    share = float(feature.counts.min()) / people.n_users
    needed = 2 * plan.parts
    # Each category has its share of either, up to one person.
    fewest = int(share * min(panel, outsiders)) - 1
    if fewest < needed:
        name = feature.categories[int(feature.counts.argmin())]
        raise MidpointError(
            f"a panel of {panel:,} and {outsiders:,} outsiders hold too few people who are"
            f" {name!r} by {feature.name}: {needed} are needed in either; ask for more"
        )


@dataclass(frozen=True, eq=False)
class SplitFold:
    """The training people of a fold, split into panel and outsiders."""

    fold: FoldData
    """The fold."""

    @cached_property
    def _drawn(self) -> Drawn:
        return draw_panel(self.fold.outside, self.fold.plan, self.fold.number)

    @cached_property
    def panel(self) -> Ratings:
        """The people whom the disclosure is made of."""
        return self.fold.outside.select_users(self._drawn.panel)

    @cached_property
    def outsiders(self) -> Ratings:
        """Labelled people outside the panel, who are not attacked."""
        return self.fold.outside.select_users(self._drawn.outsiders)

    def learners(self, adversary: str) -> FoldData:
        """Return the fold with the people that an adversary learns from as its training people."""
        people = self.outsiders if adversary == OUTSIDER else self.panel
        fold, plan = self.fold, self.fold.plan
        seed = plan.seed_of("parts", fold.number, adversary)
        feature = people.feature(*plan.feature)
        part = user_folds(people.n_users, plan.parts, seed=seed, feature=feature)
        return replace(fold, training=people, part=part)

    @cached_property
    def early_panel(self) -> Ratings:
        """The half of the panel that came before the first of several rounds."""
        seed = self.fold.plan.seed_of("early", self.fold.number)
        return self.panel.select_users(first_comers(self.panel, seed))

    def learn(self, *, early: bool = False) -> ItemProfiles:
        """Fit item profiles to the panel, or to its early half."""
        people = self.early_panel if early else self.panel
        return self.fold.fit(people)

    def prepared(
        self,
        profiles: ItemProfiles,
        scheme: Scheme,
        *,
        early: bool = False,
        spread: bool = True,
    ) -> ItemProfiles:
        """Add what a scheme needs of the ratings that they were fitted to."""
        people = self.early_panel if early else self.panel
        return prepare(profiles, people, scheme, spread=spread, threads=1)


@dataclass(frozen=True, eq=False, kw_only=True)
class Published(FoldViews):
    """What is seen under the published disclosure, of the attacked and of those learned from.

    The training people of `fold` are those that the adversary learns from. Profiles are learned
    from the panel.
    """

    members: FoldData | None = None
    """The fold with the panel as training people, if the adversary learns from others."""

    def left_out(self, parts: Parts) -> Parts:
        """Leave nobody out: there is one published disclosure."""
        del parts
        return NOBODY

    @property
    def shows_sign(self) -> bool:
        """Whether the adversary learns from people outside the panel."""
        return self.members is not None

    def panel(self, without: Parts) -> Panel | None:
        """Return the panel, for an adversary that learns from others; None if it learns from it."""
        del without
        return None if self.members is None else self.panel_of(self.members, NOBODY)


@dataclass(frozen=True, eq=False)
class PublishedViews(Published, ReportViews):
    """One report of each person under the one disclosure that is published."""

    def training(self) -> list[View]:
        """Return the people it learns from; the disclosure stays, since it is the only one."""
        disclosures = dict(self._disclosures)
        views = super().training()
        self._disclosures.update(disclosures)
        return views

    @classmethod
    def of(
        cls,
        fold: FoldData,
        scheme: str,
        protocol: LearningProtocol,
        learned: ItemProfiles,
        members: FoldData | None = None,
    ) -> "PublishedViews":
        """Make an adversary's views; all adversaries see the same reports of the attacked."""
        return cls(fold, f"{SPLIT}:{scheme}", protocol, FoldProfiles(learned, ()), members=members)


@dataclass(frozen=True, eq=False)
class PublishedRounds(Published, RoundViews):
    """The same over several rounds: everyone under the disclosures that are published in turn."""

    @classmethod
    def of(
        cls,
        fold: FoldData,
        scheme: str,
        protocol: RoundsProtocol,
        learned: tuple[ItemProfiles, ItemProfiles],
        known: Versions,
        members: FoldData | None = None,
    ) -> "PublishedRounds":
        """Make an adversary's views, from early and late profiles; adversaries share `known`."""
        early, late = (FoldProfiles(profiles, ()) for profiles in learned)
        name = f"{SPLIT}:{scheme}"
        return cls(fold, name, protocol, early, late, known, members=members)
