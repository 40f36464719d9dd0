"""What the tasks of one fold share: its people, what was learned of them, what is seen of them."""

import json
from dataclasses import dataclass, field
from functools import cached_property

from midpoint.analyst import ItemProfiles
from midpoint.audit.attackers.view import View
from midpoint.audit.choose import protocol_of
from midpoint.audit.rounds.protocol import RoundsProtocol
from midpoint.audit.run.adversaries.outsiders import (
    OUTSIDER,
    PUBLISHED,
    SPLIT,
    PublishedRounds,
    PublishedViews,
    SplitFold,
)
from midpoint.audit.run.folds import FoldData, FoldProfiles
from midpoint.audit.run.plan import DEFAULT, ChosenProtocol
from midpoint.audit.run.round_views import RoundViews, Versions
from midpoint.audit.run.store import EARLY, Store
from midpoint.audit.run.tasks.units import LEARN
from midpoint.audit.run.views import FoldViews, ReportViews, clean_view
from midpoint.audit.run.work import Work
from midpoint.protocol import LearningProtocol


@dataclass(frozen=True, eq=False)
class Prepared:
    """What the tasks of one fold share."""

    data: FoldData
    """Its users."""
    work: Work
    """What is to be run."""
    store: Store
    """Where profiles of the fold are kept."""
    _views: dict[str, FoldViews] = field(default_factory=dict)
    """What is seen of its people, by protocol."""
    _learned: dict[tuple[str, ...], FoldProfiles] = field(default_factory=dict)
    """What the analyst learned with positions, or early, by its name in the store."""
    _versions: Versions = field(default_factory=dict)
    """What it disclosed over several rounds."""

    _published: dict[str, PublishedViews | PublishedRounds] = field(default_factory=dict)
    """What is seen under the published disclosure of the last protocol, by adversary."""
    _published_versions: Versions = field(default_factory=dict)
    """What was published over several rounds."""
    _learners: dict[str, FoldData] = field(default_factory=dict)
    """The fold with the people that each adversary learns from."""

    @cached_property
    def profiles(self) -> FoldProfiles:
        """What the analyst learned."""
        return FoldProfiles.load(self.store.profiles(self.data.number), self.data)

    def published(self, adversary: str, scheme: str) -> PublishedViews | PublishedRounds:
        """Return what an adversary sees under the published disclosure; of one protocol kept."""
        for name in {adversary, PUBLISHED} - self._learners.keys():
            self._learners[name] = SplitFold(self.data).learners(name)
        name = f"{SPLIT}:{scheme}"
        if adversary not in self._published or self._published[adversary].name != name:
            how, fold = self.protocol(scheme, SPLIT), self._learners[adversary]
            names = self._positions(scheme, how)
            late = self._load_split(*names)
            panel = self._learners[PUBLISHED] if adversary == OUTSIDER else None
            if isinstance(how, RoundsProtocol):
                learned = self._load_split(EARLY, *names), late
                known = self._published_versions
                views = PublishedRounds.of(fold, scheme, how, learned, known, panel)
                self._published[adversary] = views
            else:
                self._published[adversary] = PublishedViews.of(fold, scheme, how, late, panel)
        return self._published[adversary]

    def _load_split(self, *names: str) -> ItemProfiles:
        directory = self.store.profiles(self.data.number, SPLIT, *names)
        return ItemProfiles.load(directory / "whole")

    def protocol(self, scheme: str, *under: str) -> LearningProtocol:
        """Return a protocol by name; the one that the fold chose, if it is to be chosen."""
        how = self.work.schemes[scheme]
        if not isinstance(how, ChosenProtocol):
            return how
        stored = self.store.load(self.data.number, LEARN, *under, DEFAULT)
        return protocol_of(json.loads(str(stored["choice"]))["scheme"])

    def _positions(self, scheme: str, how: LearningProtocol) -> tuple[str, ...]:
        """Return the name in the store of what was learned for a protocol beside profiles."""
        if isinstance(self.work.schemes[scheme], ChosenProtocol):
            return (DEFAULT,)
        return (how.scheme.name,) if how.scheme.counterparts else ()

    @cached_property
    def clean(self) -> View:
        """The training users' ratings as they are."""
        return clean_view(self.data, self.profiles)

    def views(self, scheme: str) -> FoldViews:
        """Return what is seen of the people under a protocol."""
        if scheme not in self._views:
            how = self.protocol(scheme)
            names = self._positions(scheme, how)
            late = self._load(*names)
            self._views[scheme] = (
                RoundViews(self.data, scheme, how, self._load(EARLY, *names), late, self._versions)
                if isinstance(how, RoundsProtocol)
                else ReportViews(self.data, scheme, how, late)
            )
        return self._views[scheme]

    def _load(self, *names: str) -> FoldProfiles:
        if not names:
            return self.profiles
        if names not in self._learned:
            directory = self.store.profiles(self.data.number, *names)
            self._learned[names] = FoldProfiles.load(directory, self.data)
        return self._learned[names]
