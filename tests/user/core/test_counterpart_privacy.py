"""The claim: what is sent has one joint distribution for all categories, if the prior is true.

The discrete midpoint is the control. It blinds every item for itself, and what goes together, how
much is rated, and how tastes spread still leak. The claim is exact with the tables of moved values,
and holds for what training discloses: tables of all ratings, and in `base` all that differs in the
mean.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import rankdata

from midpoint.analyst import Factorizer, ItemProfiles, fit_positions
from midpoint.analyst import disclose as disclose_trained
from midpoint.data import Ratings, Scale
from midpoint.user import Adjustment, Obfuscated, Parameters, check_numbers, obfuscate
from midpoint.user.core.discrete import split
from midpoint.wire import ONE, SCHEMES, Disclosure, as_rows, to_fixed
from tests.support.people.made_up import STARS
from tests.support.people.nature import Float, Integers, Nature, People, disclose

N = 4000
CHANCE = 3 * np.sqrt(8 / N / 12)
"""Three standard errors of the area that a guess reaches on half of the people."""
HALF_A_RATING = ONE // 2


@dataclass(frozen=True, eq=False)
class World:
    """People to learn from and people to attack, of one nature."""

    nature: Nature
    """How they come to rate."""
    learned: People
    """Those whom the analyst knows."""
    attacked: People
    """Those who only send reports."""
    coins: Float
    """Of each of their ratings. Shape (n, 4)."""

    @classmethod
    def draw(cls, seed: int, *, dense: bool) -> "World":
        rng = np.random.default_rng(seed)
        shape, usual = ((30, 2, 0, 3), 0.0) if dense else ((60, 2, 2, 3), -2.0)
        nature = Nature.draw(rng, shape, usual=usual, contrast=0.7)
        learned = People.draw(nature, N, rng, STARS, everything=dense)
        attacked = People.draw(nature, N, rng, STARS, everything=dense)
        return cls(nature, learned, attacked, rng.random((len(attacked.item), 4)))

    def sent(self, shown: Disclosure) -> Obfuscated:
        """Let the attacked obfuscate as their devices do."""
        check_numbers(shown)
        p, people = Parameters.of(shown), self.attacked
        cell = people.category[people.person]
        return obfuscate(people.item, people.value, cell, p, self.coins, people.adjustment(p))

    def disclosure(self, scheme: str) -> Disclosure:
        """Know the prior, and count level tables exactly: of values as devices move and reveal."""
        everything = (len(self.learned.item), ONE)
        if SCHEMES[scheme].counterparts:
            moved = self.learned.adjustment(Parameters.of(disclose(self.nature, scheme, STARS)))
            return disclose(self.nature, scheme, STARS, tables(self.learned, moved))
        still = np.zeros(everything[0], np.int64)
        unmoved = Adjustment(np.full(*everything), still, np.zeros(0, np.int64))
        more = {"reveal": self.reveal()} if SCHEMES[scheme].sub_samples else {}
        return disclose(self.nature, scheme, STARS, tables(self.learned, unmoved), **more)

    @cached_property
    def trained(self) -> ItemProfiles:
        """What an analyst learns from the people whom it knows."""
        people = self.learned
        items = np.array([f"i{j:03d}" for j in range(len(self.nature.rate))])
        users = np.array([f"u{i:05d}" for i in range(N)])
        ratings = Ratings.from_columns(
            users[people.person],
            items[people.item],
            people.value / ONE,
            scale=Scale.stars(1, 5),
            features={"side": dict(zip(users, np.array(["l", "r"])[people.category], strict=True))},
        )
        profiles = Factorizer(threads=1).fit(ratings, "side")
        return fit_positions(
            profiles,
            ratings,
            selection_factors=4 if self.nature.selection.shape[1] else 0,
            threads=1,
        )

    def reveal(self) -> tuple[tuple[int, ...], ...]:
        """Return Algorithm 2's probabilities, counted."""
        people, M = self.learned, len(self.nature.rate)
        cell = people.category[people.person]
        p = np.stack([np.bincount(people.item[cell == k], minlength=M) for k in (0, 1)], axis=1)
        rows: tuple[tuple[int, ...], ...] = as_rows(to_fixed(p.min(axis=1, keepdims=True) / p))
        return rows

    def read(self, keep: NDArray[np.bool_], value: Integers) -> float:
        """Return the area that an attacker reaches who learned from half of the reports."""
        seen, second = products(self.profiles(keep, value)), self.attacked.category == 1
        half = np.arange(N) < N // 2
        score = seen[~half] @ logistic(seen[half], second[half])
        ranks, ones = rankdata(score), second[~half]
        return float((ranks[ones].mean() - (ones.sum() + 1) / 2) / (~ones).sum())

    def profiles(self, keep: NDArray[np.bool_], value: Integers) -> Float:
        """Return mean selection and taste factors of what is sent, its taste, and how much."""
        nature, person, item = self.nature, self.attacked.person[keep], self.attacked.item[keep]
        taste, r = nature.taste[item], nature.taste.shape[1]
        rest = value[keep] / ONE - nature.base[item].mean(axis=1)
        number = np.bincount(person, minlength=N)
        mean = (
            summed(person, np.hstack([nature.selection[item], taste]))
            / np.maximum(number, 1)[:, None]
        )
        gram = summed(person, (taste[:, :, None] * taste[:, None]).reshape(-1, r * r))
        toward = summed(person, taste * rest[:, None])
        ridge = gram.reshape(N, r, r) + nature.noise * np.eye(r)
        estimate = np.linalg.solve(ridge, toward[:, :, None])[:, :, 0]
        seen = np.column_stack([mean, estimate, np.log1p(number)])
        return np.asarray(seen[:, seen.std(axis=0) > 1e-9])


def products(seen: Float) -> Float:
    """Return the columns and all products of two, each with mean 0 and variance 1, and a one."""
    first, second = np.triu_indices(seen.shape[1])
    whole = (seen - seen.mean(axis=0)) / seen.std(axis=0)
    whole = np.hstack([whole, whole[:, first] * whole[:, second]])
    whole = (whole - whole.mean(axis=0)) / whole.std(axis=0)
    return np.column_stack([whole, np.ones(len(whole))])


def logistic(seen: Float, second: NDArray[np.bool_], penalty: float = 20.0) -> Float:
    """Return the weights of a ridge logistic regression, by Newton steps."""
    weights = np.zeros(seen.shape[1])
    for _ in range(10):
        p = 1 / (1 + np.exp(-np.clip(seen @ weights, -30, 30)))
        curvature = (seen * (p * (1 - p))[:, None]).T @ seen + penalty * np.eye(len(weights))
        weights += np.linalg.solve(curvature, seen.T @ (second - p) - penalty * weights)
    return weights


def summed(person: NDArray[np.intp], rows: Float) -> Float:
    """Sum the rows of each person."""
    total = np.zeros((N, rows.shape[1]))
    np.add.at(total, person, rows)
    return total


def tables(people: People, adjustment: Adjustment) -> Integers:
    """Count moved values by item and category, weighed by the probability of being revealed."""
    there = np.clip(people.value + adjustment.shift, STARS[0], STARS[-1])
    below = split(there, np.asarray(STARS), np.ones(len(there)))
    level, above = below // ONE - 1, (there - below) / ONE
    cell = people.category[people.person]
    total = np.full((int(people.item.max()) + 1, 2, 6), float(HALF_A_RATING))
    np.add.at(total, (people.item, cell, level), adjustment.reveal * (1 - above))
    np.add.at(total, (people.item, cell, level + 1), adjustment.reveal * above)
    total = total[:, :, :5]
    ends = np.rint(total.cumsum(axis=2) / total.sum(axis=2, keepdims=True) * ONE)
    return np.asarray(np.diff(ends.astype(np.int64), axis=2, prepend=0))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize("dense", [False, True])
def test_the_reports_of_people_who_follow_the_prior_do_not_leak(seed: int, dense: bool) -> None:
    world = World.draw(seed, dense=dense)
    item_by_item, joint = ("dmp", "cmp") if dense else ("dmpss", "cmpss")
    everything = np.ones(len(world.attacked.item), dtype=np.bool_)
    raw = world.read(everything, world.attacked.value)
    before = world.sent(world.disclosure(item_by_item))
    after = world.sent(world.disclosure(joint))
    plain, read = world.read(before.keep, before.value), world.read(after.keep, after.value)
    assert raw > plain > 0.5 + 2 * CHANCE
    assert abs(read - 0.5) < CHANCE
    assert after.keep.all() == dense
    assert after.keep.mean() > 0.6  # it is not by revealing nothing
    assert (after.value[after.keep] == world.attacked.value[after.keep]).mean() > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("dense", [False, True])
def test_what_training_discloses_hides_as_much(dense: bool) -> None:
    world = World.draw(2, dense=dense)
    item_by_item, joint = ("dmp", "cmp") if dense else ("dmpss", "cmpss")
    before, after = (
        world.sent(disclose_trained(world.trained, name)) for name in (item_by_item, joint)
    )
    assert world.read(before.keep, before.value) > 0.5 + 2 * CHANCE
    assert abs(world.read(after.keep, after.value) - 0.5) < CHANCE
    assert after.keep.mean() > 0.6


@pytest.mark.slow
def test_tables_of_all_ratings_need_all_that_differs_in_the_mean_in_the_base() -> None:
    """With the true means of taste factors, moves and tables both take their difference off."""
    world = World.draw(2, dense=True)
    of_all = world.disclosure("dmp").levels
    assert of_all is not None
    sent = world.sent(disclose(world.nature, "cmp", STARS, np.array(of_all)))
    assert world.read(sent.keep, sent.value) > 0.5 + 2 * CHANCE
