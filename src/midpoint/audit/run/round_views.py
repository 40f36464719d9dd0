"""What is seen of the people of one fold over several rounds: transcripts and disclosures."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from midpoint.audit.attackers.view import Panel, View
from midpoint.audit.rounds.conversation import (
    DeviceKind,
    People,
    Transcript,
    Version,
    catalogue,
    converse,
)
from midpoint.audit.rounds.protocol import RoundsProtocol
from midpoint.audit.rounds.view import TranscriptView
from midpoint.audit.run.folds import FoldData, FoldProfiles, categories_of
from midpoint.audit.run.views import FEWER_DRAWS, NOBODY, FoldViews, Parts
from midpoint.data import Ratings

Versions = dict[tuple[RoundsProtocol, Parts], list[Version]]
"""What the analyst knew early and late, by protocol and by the parts it learned without."""


@dataclass(frozen=True, eq=False)
class RoundViews(FoldViews):
    """The transcript of each person."""

    protocol: RoundsProtocol
    """The protocol, and what its devices do when they are asked again."""
    early: FoldProfiles
    """What the analyst learned before the first round, with all that the protocol needs."""
    late: FoldProfiles
    """What it learned half way, likewise."""
    known: Versions = field(default_factory=dict)
    """The disclosures made of these: devices of all kinds share them."""

    @cached_property
    def held_out(self) -> TranscriptView:
        """What the analyst sees of the held-out people in all rounds."""
        coins = self._generator("tried")
        return self._converse(self._people(self.fold.held_out), NOBODY, coins)

    @property
    def nested_draws(self) -> int:
        """Enough to choose a setting by."""
        return FEWER_DRAWS

    def of_part(
        self, part: int, without: Parts, draw: int, coins: np.random.Generator
    ) -> TranscriptView:
        """Hold all rounds with the people of a part."""
        del draw  # the coins are those of the draw
        return self._converse(self._parts[part], without, coins)

    def coins(self, draw: int) -> Iterator[np.random.Generator]:
        """Give each part a generator of its own."""
        parts = range(self.fold.plan.parts)
        return (self._generator("training", part, draw) for part in parts)

    def nested_coins(self, part: int, without: Parts, draw: int) -> np.random.Generator:
        """Draw the same coins as in training, whatever the analyst learned from."""
        del without
        return self._generator("training", part, draw)

    def attack_seed(self, attack: str, category: int) -> int:
        """Derive the seed from all names but the category's."""
        del category
        return self.fold.plan.seed_of("rounds", self.fold.number, self.name, attack)

    @property
    def answers(self) -> list[float]:
        """Mean number of answers of a held-out person in each round."""
        each = self.held_out.transcript.answered.sum(axis=2).mean(axis=1)
        return [float(mean) for mean in each]

    @cached_property
    def _parts(self) -> list[People]:
        parts = range(self.fold.plan.parts)
        return [self._people(self.fold.of_part(part)) for part in parts]

    def in_panel(self, fold: FoldData, parts: list[int], without: Parts) -> list[View]:
        """Hold all rounds with them, in few draws: enough to learn directions from."""
        people, views = [self._people(fold.of_part(part)) for part in parts], list[View]()
        for draw in range(min(FEWER_DRAWS, fold.plan.draws)):
            coins = self._generator("panel", *sorted(without), draw)
            said = [self._held(one, without, coins) for one in people]
            views.append(self._seen(Transcript.joined(said), without, None))
        return views

    def _people(self, ratings: Ratings) -> People:
        """Say who can answer what, and from which round on."""
        plan, items = self.fold.plan, min(self.protocol.items, ratings.n_items)
        return People.of(
            ratings,
            catalogue(self.late.whole, items),
            categories_of(ratings, plan),
            self.protocol.rounds,
            plan.seed_of("arrival"),
        )

    def _converse(
        self, people: People, without: Parts, coins: np.random.Generator
    ) -> TranscriptView:
        """Show people who hold all rounds with an analyst that learned without some parts."""
        said = self._held(people, without, coins)
        return self._seen(said, without, self.panel(without))

    def _held(self, people: People, without: Parts, coins: np.random.Generator) -> Transcript:
        versions, device = self._versions(without), self.protocol.device
        return converse(people, versions, budget=self.protocol.budget, device=device, coins=coins)

    def _seen(self, said: Transcript, without: Parts, panel: Panel | None) -> TranscriptView:
        last = self._versions(without)[-1]
        return TranscriptView.of(said, last, self.fold.held_out.scale, panel)

    def _versions(self, without: Parts) -> list[Version]:
        """Return what the analyst knows in each round: it learns again half way."""
        key, rounds = (
            (replace(self.protocol, device=DeviceKind.FINAL), without),
            self.protocol.rounds,
        )
        if key not in self.known:
            learned = [profiles.without_parts(without) for profiles in (self.early, self.late)]
            self.known[key] = [Version(known, self.protocol.disclose(known)) for known in learned]
        early, late = self.known[key]
        return [late if 2 * number >= rounds else early for number in range(rounds)]

    def _generator(self, *names: object) -> np.random.Generator:
        plan = self.fold.plan
        return np.random.default_rng(plan.seed_of("rounds", self.fold.number, self.name, *names))
