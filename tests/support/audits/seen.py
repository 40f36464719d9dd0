"""People as an analyst sees them, small and made up, for the tests of attackers."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import Factorizer, ItemProfiles, prepare
from midpoint.audit import contract
from midpoint.audit.attackers.view import View
from midpoint.audit.run.adversaries.judge import only
from midpoint.data import Ratings, SimulationConfig, hold_out, simulate
from midpoint.protocol import LearningProtocol, Population
from midpoint.wire import SCHEMES

LEAKY = replace(contract.LEAKY, users=420, items=40, ratings=8_000)
some, silenced = only, contract.silenced


class Seen:
    """Training and test people of one simulation, and what the analyst learned of the former."""

    def __init__(self, people: SimulationConfig | Ratings = LEAKY, seed: int = 3) -> None:
        ratings = people if isinstance(people, Ratings) else simulate(people, seed=seed).ratings
        fold = hold_out(ratings, np.arange(ratings.n_users) % 2, 1)
        self.training, self.tried = fold.training, fold.held_out
        self.profiles: ItemProfiles = Factorizer(dimension=2, iterations=5).fit(
            self.training, "gender"
        )
        self._ready: dict[str, ItemProfiles] = {}

    def view(self, ratings: Ratings, scheme: str, seed: int = 0) -> View:
        """Show people's ratings under a scheme."""
        scheme_of, profiles = LearningProtocol(scheme), self.ready(scheme)
        disclosure = scheme_of.disclose(profiles)
        people = Population(ratings.user, ratings.item, ratings.value, codes(ratings))
        sent = scheme_of.report(disclosure, profiles, people, np.random.default_rng(seed))
        return View(sent, profiles, disclosure, ratings.scale)

    def ready(self, scheme: str) -> ItemProfiles:
        """Return what the analyst learned, with what a scheme needs beside it."""
        if scheme not in self._ready:
            self._ready[scheme] = prepare(self.profiles, self.training, SCHEMES[scheme])
        return self._ready[scheme]


def codes(ratings: Ratings) -> NDArray[np.int64]:
    return ratings.feature("gender").codes.astype(np.int64)
