"""What people would use instead, as protocols that the audit attacks like our own.

They learn from the ratings of the training users, which a `LearningProtocol` of ours never sees;
`Training` finds those ratings again from the digest that item profiles carry.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles, disclose, estimate_profiles
from midpoint.audit.run.folds import FoldData
from midpoint.audit.run.plan import Plan
from midpoint.data import Ratings, split_ratings
from midpoint.protocol import LearningProtocol, Population, Reports
from midpoint.protocol.learning import Coins
from midpoint.wire import Disclosure

Float = NDArray[np.float64]
POOL = 100
"""Items typical of a category that are chosen from by taste."""
SHARE = 0.7
"""Share of an attacked person's ratings that she gives."""


class Training:
    """Who was learned from, by the digest of their ratings."""

    by_digest: Mapping[str, Ratings] = {}
    feature: tuple[str, ...] = ()

    @classmethod
    def prepare(cls, ratings: Ratings, plan: Plan) -> None:
        """Split as the audit does: all training users of a fold, and all but one or two parts."""
        by_digest = {}
        for number in range(plan.folds):
            fold = FoldData.of(ratings, plan, number)
            for left_out in range(3):
                for parts in combinations(range(plan.parts), left_out):
                    some = fold.training.select_users(~np.isin(fold.part, parts))
                    by_digest[some.digest] = some
        cls.by_digest, cls.feature = by_digest, plan.feature


@dataclass(frozen=True)
class Peer(LearningProtocol):
    """A method of others; ratings are changed by `changed`, and all of them are sent."""

    method: str = ""
    """Which one."""
    setting: float = 0.0
    """Its strength: a privacy loss, or a share of ratings."""

    def report(
        self, disclosure: Disclosure, profiles: ItemProfiles, people: Population, coins: Coins
    ) -> Reports:
        """Change everyone's ratings as this method does."""
        del disclosure
        rng = coins if isinstance(coins, np.random.Generator) else np.random.default_rng(0)
        user, item, value = METHODS[self.method](profiles, people, self.setting, rng)
        offsets = np.zeros(people.n_users + 1, dtype=np.int64)
        np.cumsum(np.bincount(user, minlength=people.n_users), out=offsets[1:])
        kept = np.arange(len(user))
        kept[len(people.user) :] = -1
        return Reports(kept, offsets, item.astype(np.int32), value)

    def disclose(self, profiles: ItemProfiles) -> Disclosure:
        """Tell what a device needs to correct scores: class means where they were removed."""
        known = "mp" if self.method == "correlation remover" else "no"
        return disclose(profiles, known, estimation="plain")


Changed = tuple[NDArray[np.integer], NDArray[np.integer], Float]
Change = Callable[[ItemProfiles, Population, float, np.random.Generator], Changed]


def remove_correlation(
    profiles: ItemProfiles, people: Population, setting: float, rng: np.random.Generator
) -> Changed:
    """Use fairlearn's CorrelationRemover, which gets each person's category."""
    del setting, rng
    table, category = _table(profiles, people), people.category[:, None].astype(np.float64)
    remover, mean = _correlation_remover(profiles.provenance.data_digest, profiles.n_items)
    cleaned = remover.transform(np.hstack([category, np.where(np.isnan(table), mean, table)]))
    return people.user, people.item, np.asarray(cleaned)[people.user, people.item]


@lru_cache(maxsize=32)
def _correlation_remover(data: str, n_items: int):  # type: ignore[no-untyped-def]
    from fairlearn.preprocessing import CorrelationRemover  # noqa: PLC0415

    table, category, mean = _training_table(data, n_items)
    remover = CorrelationRemover(sensitive_feature_ids=[0])
    return remover.fit(np.hstack([category[:, None].astype(np.float64), table])), mean


def erase_concept(
    profiles: ItemProfiles, people: Population, setting: float, rng: np.random.Generator
) -> Changed:
    """Use LEACE: the least change after which no linear classifier reads the category."""
    del setting, rng
    import torch  # noqa: PLC0415

    eraser, mean = _eraser(profiles.provenance.data_digest, profiles.n_items)
    table = _table(profiles, people)
    filled = np.where(np.isnan(table), mean, table)
    cleaned = eraser(torch.from_numpy(filled)).numpy()
    return people.user, people.item, cleaned[people.user, people.item]


@lru_cache(maxsize=32)
def _eraser(data: str, n_items: int):  # type: ignore[no-untyped-def]
    import torch  # noqa: PLC0415
    from concept_erasure import LeaceEraser  # noqa: PLC0415

    table, category, mean = _training_table(data, n_items)
    z = torch.from_numpy(category.astype(np.int64))
    return LeaceEraser.fit(torch.from_numpy(table), z), mean


def respond_at_random(
    profiles: ItemProfiles, people: Population, epsilon: float, rng: np.random.Generator
) -> Changed:
    """Keep a rating with the odds that epsilon allows, else send another level."""
    import opendp.prelude as dp  # noqa: PLC0415

    levels = np.asarray(profiles.scale.levels)
    keep = np.exp(epsilon) / (np.exp(epsilon) + len(levels) - 1)
    dp.enable_features("contrib")
    stated = dp.m.make_randomized_response([*range(len(levels))], prob=float(keep)).map(1)
    if stated > epsilon + 1e-6:
        raise ValueError(f"OpenDP counts {stated}, not {epsilon}")
    level = np.searchsorted(levels, people.value)
    other = (level + rng.integers(1, len(levels), len(level))) % len(levels)
    sent = np.where(rng.random(len(level)) < keep, level, other)
    return people.user, people.item, levels[sent].astype(np.float64)


def add_laplace(
    profiles: ItemProfiles, people: Population, epsilon: float, rng: np.random.Generator
) -> Changed:
    """Add OpenDP's Laplace noise to each rating, then cut to the scale."""
    del rng  # it draws from the system
    import opendp.prelude as dp  # noqa: PLC0415

    dp.enable_features("contrib")
    low, high = profiles.scale.low, profiles.scale.high
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    noisy = dp.m.make_laplace(*space, scale=(high - low) / epsilon)
    sent = np.array(noisy(people.value.astype(np.float64).tolist()))
    return people.user, people.item, np.clip(sent, low, high)


def blur(
    profiles: ItemProfiles, people: Population, share: float, rng: np.random.Generator
) -> Changed:
    """Add ratings of titles that are typical of the other category (the BlurMe family).

    Each person gets `share` times as many additional ratings as she gave, of the titles that she
    did not rate and that speak most clearly for the other category, at the title's average.
    """
    del rng
    lists, average = _typical(profiles.provenance.data_digest, profiles.n_items)
    user, item = [people.user], [people.item]
    starts = np.searchsorted(people.user, np.arange(people.n_users + 1))
    for who in range(people.n_users):
        own = people.item[starts[who] : starts[who + 1]]
        foreign = lists[1 - int(people.category[who])]
        added = foreign[~np.isin(foreign, own)][: round(share * len(own))]
        user.append(np.full(len(added), who))
        item.append(added)
    users, items = np.concatenate(user), np.concatenate(item)
    values = np.concatenate([people.value, average[items[len(people.item) :]]])
    order = np.lexsort((items, users))
    return users[order], items[order], values[order].astype(np.float64)


def blur_by_taste(
    profiles: ItemProfiles, people: Population, share: float, rng: np.random.Generator
) -> Changed:
    """Add to sets what is typical of the other category and to her taste (as PerBlur does).

    Of the `POOL` items that speak most clearly for the other category, those with the best scores
    for her are added, `share` times as many as she has.
    """
    del rng
    lists, _ = _typical(profiles.provenance.data_digest, profiles.n_items)
    starts = np.searchsorted(people.user, np.arange(people.n_users + 1))
    x = estimate_profiles(profiles, starts, people.item.astype(np.int32), people.value)
    user, item = [people.user], [people.item]
    for who in range(people.n_users):
        own = people.item[starts[who] : starts[who + 1]]
        foreign = lists[1 - int(people.category[who])][:POOL]
        foreign = foreign[~np.isin(foreign, own)]
        best = foreign[np.argsort(-(profiles.vectors[foreign] @ x[who]), kind="stable")]
        added = best[: round(share * len(own))]
        user.append(np.full(len(added), who))
        item.append(added)
    users, items = np.concatenate(user), np.concatenate(item)
    order = np.lexsort((items, users))
    return users[order], items[order], np.ones(len(items))


def remove_typical(
    profiles: ItemProfiles, people: Population, share: float, rng: np.random.Generator
) -> Changed:
    """Remove a share of each set: what speaks most clearly for the person's own category."""
    del rng
    lists, _ = _typical(profiles.provenance.data_digest, profiles.n_items)
    rank = np.full((2, profiles.n_items), profiles.n_items)
    for k, best in enumerate(lists):
        rank[k, best] = np.arange(len(best))
    telling = rank[people.category[people.user], people.item]
    order = np.lexsort((telling, people.user))
    counts = np.bincount(people.user, minlength=people.n_users)
    nth = np.empty(len(order), dtype=np.int64)
    nth[order] = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = nth >= np.floor(share * counts)[people.user]
    return people.user[kept], people.item[kept], people.value[kept].astype(np.float64)


@lru_cache(maxsize=32)
def _typical(data: str, n_items: int) -> tuple[list[NDArray[np.intp]], Float]:
    """Rank titles by what a logistic regression says they speak for; (list per category, mean)."""
    from scipy import sparse  # noqa: PLC0415
    from sklearn.linear_model import (  # type: ignore[import-untyped]  # noqa: PLC0415
        LogisticRegression,
    )

    ratings = Training.by_digest[data]
    category = ratings.feature(*Training.feature).codes
    rows = ratings.value, (ratings.user, ratings.item)
    table = sparse.csr_matrix(rows, shape=(ratings.n_users, n_items))
    weight = LogisticRegression(C=0.01, max_iter=500).fit(table, category).coef_[0]
    order = np.argsort(weight, kind="stable")
    average = np.bincount(ratings.item, ratings.value, n_items) / np.maximum(
        np.bincount(ratings.item, minlength=n_items), 1
    )
    level = np.asarray(ratings.scale.levels)
    nearest = level[np.abs(average[:, None] - level).argmin(axis=1)]
    return [order[weight[order] < 0], order[::-1][weight[order[::-1]] > 0]], nearest


METHODS: Mapping[str, Change] = {
    "correlation remover": remove_correlation,
    "leace": erase_concept,
    "randomized response": respond_at_random,
    "laplace": add_laplace,
    "blur": blur,
    "blur by taste": blur_by_taste,
    "removal": remove_typical,
}


def _table(profiles: ItemProfiles, people: Population) -> Float:
    """Lay ratings out as people by items, with gaps. Shape (N, M)."""
    table = np.full((people.n_users, profiles.n_items), np.nan)
    table[people.user, people.item] = people.value
    return table


def _training_table(data: str, n_items: int) -> tuple[Float, NDArray[np.integer], Float]:
    """Lay training ratings out, thinned as attacked people are; the item's mean fills gaps."""
    ratings = split_ratings(Training.by_digest[data], SHARE, seed=0).given
    table = np.full((ratings.n_users, n_items), np.nan)
    table[ratings.user, ratings.item] = ratings.value
    mean = np.nanmean(table, axis=0)
    return np.where(np.isnan(table), mean, table), ratings.feature(*Training.feature).codes, mean
