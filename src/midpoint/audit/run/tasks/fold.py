"""What the tasks of one fold share: its people, profiles learned from them, and views of them."""

import json
from dataclasses import dataclass, field
from functools import cached_property

from midpoint.analyst import ItemProfiles
from midpoint.audit.attackers.view import View
from midpoint.audit.choose import protocol_of
from midpoint.audit.rounds.protocol import RoundsProtocol
from midpoint.audit.run.adversaries.catalogue import OUTSIDER, PUBLISHED
from midpoint.audit.run.adversaries.outsiders import (
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
    """Views of its people, by protocol."""
    _learned: dict[tuple[str, ...], FoldProfiles] = field(default_factory=dict)
    """Profiles with positions, or early ones, by their names in the store."""
    _versions: Versions = field(default_factory=dict)
    """Disclosures over several rounds."""

    _published: dict[str, PublishedViews | PublishedRounds] = field(default_factory=dict)
    """Views under the published disclosure of the last protocol, by adversary."""
    _published_versions: Versions = field(default_factory=dict)
    """Published disclosures over several rounds."""
    _learners: dict[str, FoldData] = field(default_factory=dict)
    """The fold with the people that each adversary learns from."""

    @cached_property
    def profiles(self) -> FoldProfiles:
        """Profiles without positions."""
        return FoldProfiles.load(self.store.profiles(self.data.number), self.data)

    def published(self, adversary: str, scheme: str) -> PublishedViews | PublishedRounds:
        """Return an adversary's views under the published disclosure, kept for one protocol."""
        for name in {adversary, PUBLISHED} - self._learners.keys():
            self._learners[name] = SplitFold(self.data).learners(name)
        name = f"{SPLIT}:{scheme}"
        if adversary not in self._published or self._published[adversary].name != name:
            protocol, fold = self.protocol(scheme, SPLIT), self._learners[adversary]
            names = self._positions(scheme, protocol)
            late = self._load_split(*names)
            panel = self._learners[PUBLISHED] if adversary == OUTSIDER else None
            if isinstance(protocol, RoundsProtocol):
                learned = self._load_split(EARLY, *names), late
                known = self._published_versions
                views = PublishedRounds.of(fold, scheme, protocol, learned, known, panel)
                self._published[adversary] = views
            else:
                self._published[adversary] = PublishedViews.of(fold, scheme, protocol, late, panel)
        return self._published[adversary]

    def _load_split(self, *names: str) -> ItemProfiles:
        directory = self.store.profiles(self.data.number, SPLIT, *names)
        return ItemProfiles.load(directory / "whole")

    def protocol(self, scheme: str, *under: str) -> LearningProtocol:
        """Return a protocol by name; for `default` the one that the fold chose."""
        protocol = self.work.schemes[scheme]
        if not isinstance(protocol, ChosenProtocol):
            return protocol
        stored = self.store.load(self.data.number, LEARN, *under, DEFAULT)
        return protocol_of(json.loads(str(stored["choice"]))["scheme"])

    def _positions(self, scheme: str, protocol: LearningProtocol) -> tuple[str, ...]:
        """Return the name in the store of the profiles with positions that a protocol needs."""
        if isinstance(self.work.schemes[scheme], ChosenProtocol):
            return (DEFAULT,)
        return (protocol.scheme.name,) if protocol.scheme.counterparts else ()

    @cached_property
    def clean(self) -> View:
        """The training users' ratings as they are."""
        return clean_view(self.data, self.profiles)

    def views(self, scheme: str) -> FoldViews:
        """Return the views of the fold's people under a protocol."""
        if scheme not in self._views:
            protocol = self.protocol(scheme)
            names = self._positions(scheme, protocol)
            late = self._load(*names)
            self._views[scheme] = (
                RoundViews(
                    self.data, scheme, protocol, self._load(EARLY, *names), late, self._versions
                )
                if isinstance(protocol, RoundsProtocol)
                else ReportViews(self.data, scheme, protocol, late)
            )
        return self._views[scheme]

    def _load(self, *names: str) -> FoldProfiles:
        if not names:
            return self.profiles
        if names not in self._learned:
            directory = self.store.profiles(self.data.number, *names)
            self._learned[names] = FoldProfiles.load(directory, self.data)
        return self._learned[names]
