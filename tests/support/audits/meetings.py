"""A few rounds with made-up people, for the tests of transcripts."""

from dataclasses import replace

import numpy as np

from midpoint.analyst import Factorizer, prepare
from midpoint.audit.rounds.conversation import (
    Coins,
    DeviceKind,
    People,
    Transcript,
    Version,
    catalogue,
    converse,
)
from midpoint.data import Ratings, simulate
from midpoint.protocol import LearningProtocol
from tests.support.audits.seen import LEAKY, codes

ROUNDS, BUDGET = 4, 8


class Meetings:
    """People who are asked several times by an analyst that learns again half way."""

    def __init__(self, scheme: str = "dmpss", users: int = 160, seed: int = 5) -> None:
        config = replace(LEAKY, users=2 * users, ratings=users * 30)
        everyone = simulate(config, seed=seed).ratings
        half = np.arange(everyone.n_users) < users
        self.people: Ratings = everyone.select_users(half)
        training = everyone.select_users(~half)
        first = training.select_users(np.arange(training.n_users) % 3 == 0)
        factorizer, protocol = Factorizer(dimension=2, iterations=3), LearningProtocol(scheme)
        learned = [
            prepare(factorizer.fit(some, "gender"), some, protocol.scheme)
            for some in (first, training)
        ]
        early, late = (Version(one, protocol.disclose(one)) for one in learned)
        self.versions = [early, early, late, late]
        self.items = catalogue(late.profiles, 30)
        self.rated = People.of(self.people, self.items, codes(self.people), ROUNDS, seed=0)

    def hold(self, device: DeviceKind = DeviceKind.FINAL, coins: Coins | int = 0) -> Transcript:
        """Hold all rounds."""
        drawn = np.random.default_rng(coins) if isinstance(coins, int) else coins
        return converse(self.rated, self.versions, budget=BUDGET, device=device, coins=drawn)
