"""Adversaries that learn from people under the published disclosure, outside the panel or in it.

Of the training people of a fold some are the panel, some are outsiders. The disclosure is made of
the panel alone. The people who are attacked are those of the fold, so that nobody is in two.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

from midpoint.analyst import ItemProfiles, prepare
from midpoint.audit.attackers.view import Panel, View
from midpoint.audit.rounds.protocol import RoundsProtocol
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
"""What is learned from the panel where outsiders are kept apart from it."""
CLEAN = "clean"
PANEL = "panel"
PUBLISHED = "published"
OUTSIDER = "outsider"
ADVERSARIES: Mapping[str, str] = MappingProxyType(
    {
        CLEAN: "the panel's raw ratings, and not the scheme (the paper's attackers)",
        PANEL: "the panel and the scheme; trained under disclosures made without those it learns"
        " from",
        PUBLISHED: "the panel and the scheme; trained on the panel itself under the published"
        " disclosure",
        OUTSIDER: "the panel, and the category of people outside it, protected under the published"
        " disclosure",
    }
)
"""What each adversary knows."""
SPLIT_ADVERSARIES = frozenset({PUBLISHED, OUTSIDER})
"""Those for which panel and outsiders are kept apart."""
QUICK_OUTSIDERS = ("adaptive-lr-items", "adaptive-lr-panel", "transcript-lr-items")
"""Attackers with which a quick audit tries outsiders: of one report, and of several rounds."""


def decisive(adversaries: Iterable[str]) -> list[str]:
    """Return whose judges a verdict looks at: all that know the scheme, or else all there are."""
    every = list(adversaries)
    return [name for name in every if name != CLEAN] or every


def choose_adversaries(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return the adversaries that were named, in the order of what they know."""
    asked = [names] if isinstance(names, str) else list(names)
    for name in asked:
        if name not in ADVERSARIES:
            raise MidpointError(
                f"there is no adversary {name!r}; choose from {', '.join(ADVERSARIES)}"
            )
    if not asked:
        raise MidpointError("no adversary is named: name one at least, such as panel or outsider")
    return tuple(name for name in ADVERSARIES if name in asked)


def require_panel(people: Ratings, plan: Plan, *, outsiders: int = 0) -> None:
    """Refuse a panel, with so many outsiders beside it, that the folds cannot fill."""
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
    """Refuse a panel and outsiders that the folds cannot fill."""
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
    """The training people of a fold, panel and outsiders apart."""

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
        """Return the same fold with the people that an adversary learns from, in parts."""
        people = self.outsiders if adversary == OUTSIDER else self.panel
        fold, plan = self.fold, self.fold.plan
        seed = plan.seed_of("parts", fold.number, adversary)
        feature = people.feature(*plan.feature)
        part = user_folds(people.n_users, plan.parts, seed=seed, feature=feature)
        return replace(fold, training=people, part=part)

    @cached_property
    def early_panel(self) -> Ratings:
        """Those of the panel who came before the first of several rounds: half of it."""
        seed = self.fold.plan.seed_of("early", self.fold.number)
        return self.panel.select_users(first_comers(self.panel, seed))

    def learn(self, *, early: bool = False) -> ItemProfiles:
        """Fit item profiles to the panel, or to those of it who came early."""
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
    """Everyone under what is published: those attacked and those learned from.

    `fold` holds the adversary's people as training people, profiles are what the analyst learned
    from the panel.
    """

    members: FoldData | None = None
    """The fold with the panel as training people, where the adversary's are others."""

    def left_out(self, parts: Parts) -> Parts:
        """Leave nobody out: what is published is the same for all."""
        del parts
        return NOBODY

    @property
    def shows_sign(self) -> bool:
        """Whether its people are not the panel's own."""
        return self.members is not None

    def panel(self, without: Parts) -> Panel | None:
        """Show the panel to outsiders; those who learn from the panel itself have none beside."""
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
        how: LearningProtocol,
        learned: ItemProfiles,
        members: FoldData | None = None,
    ) -> "PublishedViews":
        """Show an adversary's people; all adversaries see the same reports of those attacked."""
        return cls(fold, f"{SPLIT}:{scheme}", how, FoldProfiles(learned, ()), members=members)


@dataclass(frozen=True, eq=False)
class PublishedRounds(Published, RoundViews):
    """The same over several rounds: everyone under the disclosures that are published in turn."""

    @classmethod
    def of(
        cls,
        fold: FoldData,
        scheme: str,
        how: RoundsProtocol,
        learned: tuple[ItemProfiles, ItemProfiles],
        known: Versions,
        members: FoldData | None = None,
    ) -> "PublishedRounds":
        """Show an adversary's people, by what was learned early and late; `known` is shared."""
        early, late = (FoldProfiles(profiles, ()) for profiles in learned)
        name = f"{SPLIT}:{scheme}"
        return cls(fold, name, how, early, late, known, members=members)
