"""A panel that shared its feature, everyone else's protected reports, and new people."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from midpoint.analyst import CollectedReports, Factorizer, ItemProfiles, train
from midpoint.data import Ratings, Scale, SimulationConfig, simulate, split_ratings
from midpoint.data.simulation import SimulatedFeature
from midpoint.protocol import PROTOCOLS, Population
from midpoint.wire import Disclosure

WORLD = SimulationConfig(
    name="two kinds",
    users=1_400,
    items=120,
    ratings=42_000,
    features=(SimulatedFeature("gender", ("F", "M"), bias_sd=0.3, selection_sd=0.4),),
    dimension=3,
    scale=Scale.stars(1, 5),
    user_mean_sd=0.3,
    taste_sd=0.7,
    popularity_sd=0.8,
)
QUICK = Factorizer(dimension=4, iterations=8)
PANEL, NEW = 150, 250


@dataclass(frozen=True)
class TwoKinds:
    """People of two kinds, and what is asked of new ones."""

    panel: Ratings
    """Raw ratings with the feature."""
    rest: Ratings
    """Raw ratings of everyone else, which nobody sees."""
    given: Ratings
    """What new people rate."""
    hidden: Ratings
    """What to predict of them."""
    first: ItemProfiles
    """Learned from the panel alone."""
    disclosure: Disclosure
    """What everyone else answered under."""
    answers: pl.DataFrame
    """What they answered."""

    def reports(self, *more: pl.DataFrame, **changes: Any) -> CollectedReports:
        """Return the answers, with further ones, as they are collected."""
        answers = pl.concat([changes.get("answers", self.answers), *more])
        return CollectedReports(answers, {self.disclosure.digest: self.disclosure})

    def both(self, *more: pl.DataFrame) -> ItemProfiles:
        """Train on the panel and on the answers."""
        return train(
            self.panel, "gender", factorizer=QUICK, scheme="dmpss", reports=self.reports(*more)
        )

    def error(self, profiles: ItemProfiles) -> float:
        """Return new people's RMSE, from what they report under a model of their own."""
        users = self.tastes(profiles)
        hidden = self.hidden
        category = hidden.feature("gender").codes[hidden.user]
        score = profiles.centre[hidden.item] + profiles.offset[hidden.item, category]
        score += (profiles.vectors[hidden.item] * users[hidden.user]).sum(axis=1)
        return float(np.sqrt(np.mean((np.clip(score, 1, 5) - hidden.value) ** 2)))

    def tastes(self, profiles: ItemProfiles) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Estimate new people's profiles."""
        protocol = PROTOCOLS["dmpss"]
        shown = protocol.disclose(profiles)
        sent = protocol.report(shown, profiles, population(self.given), np.random.default_rng(3))
        return protocol.estimate(profiles, sent, shown)

    def ten_best(self, profiles: ItemProfiles) -> list[set[int]]:
        """Return new people's ten best items, midway between the categories."""
        score = profiles.centre + self.tastes(profiles) @ profiles.vectors.T.astype(np.float64)
        return [set(row.tolist()) for row in np.argsort(-score, axis=1)[:, :10]]

    def made_up(self, person: object, values: dict[str, float], **cells: str) -> pl.DataFrame:
        """Make answers of somebody, under the disclosure unless another is named."""
        return pl.DataFrame(
            {
                "person": [str(person)] * len(values),
                "disclosure": [cells.get("disclosure", self.disclosure.digest)] * len(values),
                "item": list(values),
                "value": [float(value) for value in values.values()],
            }
        )


def write_panel(panel: Ratings, directory: Path) -> list[str]:
    """Write a panel as tables of ratings and of people; return the arguments that name them."""
    gender = panel.feature("gender")
    rows = zip(panel.user_ids[panel.user], panel.item_ids[panel.item], panel.value, strict=True)
    lines = [f"{user},{item},{value:g}" for user, item, value in rows]
    people = zip(panel.user_ids, gender.codes, strict=True)
    named = [f"{user},{gender.categories[code]}" for user, code in people]
    (directory / "panel.csv").write_text("\n".join(["user,item,rating", *lines]) + "\n")
    (directory / "people.csv").write_text("\n".join(["user,gender", *named]) + "\n")
    return [str(directory / "panel.csv"), "--users", str(directory / "people.csv")]


def population(ratings: Ratings) -> Population:
    """Return people for a protocol."""
    codes = ratings.feature("gender").codes.astype(np.intp)
    return Population(ratings.user, ratings.item, ratings.value, codes)


@cache
def two_kinds() -> TwoKinds:
    """Draw them once for all tests of a run."""
    ratings = simulate(WORLD, seed=5).ratings
    who = np.arange(ratings.n_users)
    panel, rest = ratings.select_users(who < PANEL), ratings.select_users(who[PANEL:-NEW])
    given, hidden = split_ratings(ratings.select_users(who[-NEW:]), 0.6, seed=0)
    first = train(panel, "gender", factorizer=QUICK, scheme="dmpss")
    disclosure = PROTOCOLS["dmpss"].disclose(first)
    answers = answered(first, disclosure, rest)
    return TwoKinds(panel, rest, given, hidden, first, disclosure, answers)


def answered(
    profiles: ItemProfiles, disclosure: Disclosure, people: Ratings, seed: int = 0
) -> pl.DataFrame:
    """Return what people answer under a disclosure, about all that they rated."""
    coins = np.random.default_rng(seed)
    sent = PROTOCOLS["dmpss"].report(disclosure, profiles, population(people), coins)
    user = np.repeat(np.arange(people.n_users), np.diff(sent.user_offsets))
    return pl.DataFrame(
        {
            "person": people.user_ids[user].tolist(),
            "disclosure": [disclosure.digest] * len(user),
            "item": profiles.item_ids[sent.item].tolist(),
            "value": sent.value,
        }
    )
