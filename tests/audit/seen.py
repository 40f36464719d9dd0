"""People as an analyst sees them, small and made up, for the tests of attackers."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import Factorizer, ItemProfiles, prepare
from midpoint.audit.view import View
from midpoint.data import Ratings, Scale, SimulationConfig, hold_out, simulate
from midpoint.data.simulation import SimulatedFeature
from midpoint.protocol import LearningProtocol, Population, Reports
from midpoint.wire import SCHEMES

LEAKY = SimulationConfig(
    name="leaky",
    users=420,
    items=40,
    ratings=8_000,
    features=(SimulatedFeature("gender", ("F", "M"), bias_sd=0.6, selection_sd=0.8),),
    dimension=2,
    scale=Scale.stars(1, 5),
    taste_sd=0.3,
    noise_sd=0.7,
)


class Seen:
    """Training and test people of one simulation, and what the analyst learned of the former."""

    def __init__(self, config: SimulationConfig = LEAKY, seed: int = 3) -> None:
        ratings = simulate(config, seed=seed).ratings
        fold = hold_out(ratings, np.arange(ratings.n_users) % 2, 1)
        self.training, self.tried = fold.training, fold.held_out
        self.profiles: ItemProfiles = Factorizer(dimension=2, iterations=5).fit(
            self.training, "gender"
        )
        self._ready: dict[str, ItemProfiles] = {}

    def view(self, ratings: Ratings, scheme: str, seed: int = 0) -> View:
        """Show people's ratings under a scheme."""
        scheme_of, profiles = LearningProtocol(scheme), self.ready(scheme)
        told = scheme_of.disclose(profiles)
        people = Population(ratings.user, ratings.item, ratings.value, codes(ratings))
        sent = scheme_of.report(told, profiles, people, np.random.default_rng(seed))
        return View(sent, profiles, told, ratings.scale)

    def ready(self, scheme: str) -> ItemProfiles:
        """Return what the analyst learned, with what a scheme needs beside it."""
        if scheme not in self._ready:
            self._ready[scheme] = prepare(self.profiles, self.training, SCHEMES[scheme])
        return self._ready[scheme]


def codes(ratings: Ratings) -> NDArray[np.int64]:
    return ratings.feature("gender").codes.astype(np.int64)


def some(view: View, people: NDArray[np.intp]) -> View:
    """Keep these people."""
    old = view.reports
    rows = [np.arange(old.user_offsets[i], old.user_offsets[i + 1]) for i in people]
    chosen = np.concatenate([np.zeros(0, np.int64), *rows]).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    reports = Reports(old.kept[chosen], offsets, old.item[chosen], old.value[chosen])
    return replace(view, reports=reports)


def silenced(view: View, people: NDArray[np.intp]) -> View:
    """Have these people say nothing."""
    quiet = np.isin(view.user, people)
    old, counts = view.reports, np.where(np.isin(np.arange(view.n_users), people), 0, view.counts)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    reports = Reports(old.kept[~quiet], offsets, old.item[~quiet], old.value[~quiet])
    return replace(view, reports=reports)
