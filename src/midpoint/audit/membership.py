"""Membership inference: whether a person was in the panel, inferred from the disclosure.

Published numbers are fitted to the panel, and so a little to each of its members. The attacker
knows somebody's raw ratings and her category, what was published, and a reference: what the same
scheme would have disclosed of other people. Its score is the logarithm of how much likelier her
record is under the one than under the other (the test of Sankararaman et al. 2009 for frequencies
of genes). With a_jk = log p_jk less its mean over the categories, which is all that reveal
probabilities show of p_jk, and f_jk(r) the distribution of ratings,

    score = sum_{j rated} (a_jk - a0_jk) - sum_j p0_jk (exp(a_jk - a0_jk) - 1)
          + sum_{j rated} log(f_jk(r_j) / f0_jk(r_j))

where 0 marks the reference. Where a scheme discloses offsets instead of distributions, f_jk is
normal around a centre that both share. The two lines are weighted by how well the model fits:
people differ in how much they rate by more than chance, so each line has the weight of its
variance under the model, divided by its actual variance. What is reported is the strongest of
three: one line, the other, or both. Members are compared with strangers: people who are in
neither group.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import Factorizer, ItemProfiles, prepare
from midpoint.analyst.disclose.disclosure import disclose
from midpoint.analyst.disclose.specification import SchemeSpec
from midpoint.audit.attackers.auc import Area, area
from midpoint.audit.measure.findings import Membership
from midpoint.data import Ratings, user_folds
from midpoint.errors import MidpointError
from midpoint.wire import GRAIN, ONE, Disclosure, from_fixed

Float = NDArray[np.float64]
PARTS: Final = 5
"""Parts of the people: two are the panel, two the reference, one are strangers; in turn."""
LEAST: Final = 1 / ONE
"""Least probability that a level is given: one unit of what is disclosed."""


class Scores(NamedTuple):
    """How much likelier each person's record is if she is in the panel."""

    sets: Float
    """Scores by which items she rated. Shape (people,)."""
    values: Float
    """Scores by how she rated them. Shape (people,)."""
    both: Float
    """By both, weighed. Shape (people,)."""


class Reader:
    """Somebody who has a published disclosure, and a reference of other people."""

    def __init__(self, published: Disclosure, reference: ItemProfiles, spec: SchemeSpec) -> None:
        """Take what was published, and what the attacker learned from the reference.

        Args:
            published: The disclosure whose panel is looked for.
            reference: Item profiles of other people, about the same items.
            spec: The scheme, by which the reference is disclosed as well.
        """
        other = disclose(reference, str(spec))
        if other.items != published.items:
            raise MidpointError("the reference must be about the items that are published")
        order = reference.order
        self._spec, self._sigma2 = spec, reference.noise_variance
        self._index = published.index
        self._rated = _difference(_selection(published), _selection(other))
        self._probability = reference.estimates().probability[order]
        self._levels = _level_ratio(published, other)
        self._offset = _difference(_shift(published), _shift(other))
        self._mean = (reference.centre[:, None] + reference.offset)[order]
        self._scale = published.scale

    def scores(self, people: Ratings, features: Sequence[str]) -> Scores:
        """Say of each person how much likelier her record is if she is in the panel."""
        category = people.feature(*features).codes.astype(np.intp)
        where = np.array([self._index[item] for item in people.item_ids.tolist()])
        item, k = where[people.item], category[people.user]
        sets, values = np.zeros(people.n_users), np.zeros(people.n_users)
        variance = [0.0, 0.0]
        if self._rated is not None:
            sets = _summed(people.user, self._rated[item, k], people.n_users)
            sets = sets - (self._probability * np.expm1(self._rated)).sum(axis=0)[category]
            each = (self._probability * self._rated**2).sum(axis=0)
            variance[0] = float(each[category].mean())
        if self._levels is not None:
            logs, share = self._levels
            level = np.searchsorted(from_fixed(np.array(self._scale.levels)), people.value - 1e-6)
            values = _summed(people.user, logs[item, k, level], people.n_users)
            mean = (share * logs).sum(axis=2)
            each = (share * logs**2).sum(axis=2) - mean**2
            variance[1] = float(each[item, k].sum()) / people.n_users
        elif self._offset is not None:
            moved = self._offset[item, k]
            each = moved * (people.value - self._mean[item, k] - moved / 2) / self._sigma2
            values = _summed(people.user, each, people.n_users)
            variance[1] = float((moved**2).sum() / self._sigma2) / people.n_users
        weights = [
            model / max(float(np.var(part)), 1e-300)
            for model, part in zip(variance, (sets, values), strict=True)
        ]
        return Scores(sets, values, weights[0] * sets + weights[1] * values)


def _summed(index: NDArray[np.integer], each: Float, size: int) -> Float:
    """Add up what belongs to each index. Shape (size,)."""
    return np.asarray(np.bincount(index, each, size), np.float64)


def _difference(published: Float | None, other: Float | None) -> Float | None:
    return None if published is None or other is None else published - other


def _selection(disclosure: Disclosure) -> Float | None:
    """Return log p_jk less its mean over the categories, as far as it is disclosed. (M, K)."""
    if disclosure.reveal is not None:
        logs = -np.log(np.maximum(from_fixed(np.array(disclosure.reveal)), LEAST))
    elif disclosure.rate is not None:
        logs = -np.log1p(np.exp(-np.array(disclosure.rate, np.float64) / GRAIN))
    else:
        return None
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


def _level_ratio(published: Disclosure, other: Disclosure) -> tuple[Float, Float] | None:
    """Return log f - log f0 of every level, and f0. Shapes (M, K, L)."""
    if published.levels is None or other.levels is None:
        return None
    tables = [np.maximum(from_fixed(np.array(d.levels)), LEAST) for d in (published, other)]
    return np.asarray(np.log(tables[0] / tables[1])), tables[1]


def _shift(disclosure: Disclosure) -> Float | None:
    """Return what each category adds to a rating, as far as it is disclosed. Shape (M, K)."""
    if disclosure.offset is not None:
        return np.asarray(from_fixed(np.array(disclosure.offset)))
    if disclosure.base is None:
        return None
    base = np.array(disclosure.base, np.float64) / GRAIN
    return np.asarray(base - base.mean(axis=1, keepdims=True))


def recognized(
    ratings: Ratings,
    features: Sequence[str],
    schemes: Iterable[str],
    *,
    factorizer: Factorizer | None = None,
    seed: int = 0,
) -> dict[str, Membership]:
    """Measure for each scheme how well members of a panel are distinguished from strangers.

    The people are cut into five parts, each category alike. Two parts are the panel, two the
    reference and one are strangers, in turn, so that everybody is a member twice and a stranger
    once. As the control, the same people are looked for in what is disclosed of one half of the
    reference, read with the other half.

    Args:
        ratings: People whose category is known.
        features: The private feature; several make a joint one.
        schemes: Schemes by name, as in `SchemeSpec`.
        factorizer: How item profiles are learned.
        seed: Decides who is in which part.
    """
    names, fitter = tuple(features), factorizer or Factorizer(seed=seed)
    part = user_folds(ratings.n_users, PARTS, seed=seed, feature=ratings.feature(*names))

    @cache
    def fitted(*parts: int) -> ItemProfiles:
        return fitter.fit(ratings.select_users(np.isin(part, parts)), names)

    def profiles(spec: SchemeSpec, *parts: int) -> ItemProfiles:
        chosen = tuple(sorted(number % PARTS for number in parts))
        people = ratings.select_users(np.isin(part, chosen))
        return prepare(fitted(*chosen), people, spec.scheme, threads=fitter.threads)

    def measured(spec: SchemeSpec) -> Membership:
        rows = []
        for turn in range(PARTS):
            panel, reference = (turn, turn + 1), (turn + 2, turn + 3)
            inside = np.isin(part, [number % PARTS for number in panel])
            who = np.flatnonzero(inside | (part == (turn + 4) % PARTS))
            people = ratings.select_users(np.isin(np.arange(ratings.n_users), who))
            reader = Reader(
                disclose(profiles(spec, *panel), str(spec)), profiles(spec, *reference), spec
            )
            halves = [profiles(spec, number) for number in reference]
            control = Reader(disclose(halves[0], str(spec)), halves[1], spec)
            read, idle = reader.scores(people, names), control.scores(people, names)
            turns = np.full(len(who), turn)
            rows.append(np.stack([who, turns, inside[who], *read, *idle]))
        table = np.concatenate(rows, axis=1)
        who, turns, member = table[0].astype(np.intp), table[1].astype(np.intp), table[2]
        kinds = Scores._fields
        areas = [_by_person(area(scores, member, turns), who) for scores in table[3:]]
        best = max(range(len(kinds)), key=lambda kind: areas[kind].value)
        chance = areas[len(kinds) + best]
        low, high = areas[best].interval()
        return Membership(
            kind=kinds[best],
            value=areas[best].value,
            low=low,
            high=high,
            sets=areas[0].value,
            values=areas[1].value,
            both=areas[2].value,
            control=chance.value,
            control_low=chance.interval()[0],
            control_high=chance.interval()[1],
            panel=int(np.isin(part, (0, 1)).sum()),
            reference=int(np.isin(part, (2, 3)).sum()),
        )

    return {name: measured(SchemeSpec.read(name)) for name in schemes}


def _by_person(whole: Area, who: NDArray[np.intp]) -> Area:
    """Add up what a person adds to the error in all turns, which are not independent."""
    return Area(whole.value, _summed(who, whole.influence, int(who.max()) + 1), whole.pairs)


def readable(names: Iterable[str]) -> list[str]:
    """Return those of the schemes that disclose something, settings of an audit left out."""
    specs = dict[str, SchemeSpec]()
    for name in names:
        try:
            specs[name] = SchemeSpec.read(name)
        except MidpointError:
            continue
    return [name for name, spec in specs.items() if spec.scheme.columns]
