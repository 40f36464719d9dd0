"""The prior of people: what somebody chose to rate says what she likes, whatever the ratings.

People who rate the same items have similar taste. So the prior of a profile is not the same for
everyone: its mean depends on the set S of items that a person revealed, n in number. Each item has
set factors e_j, the leading right singular vectors of who rated what (`item_factors`), centred. In
people's sets they scatter around a mean u, one for each person, normal with covariance I. Each
factor's scatter is worth a pseudo count kappa, so that

    E[u | S] = sum_{j in S} e_j / (n + kappa),      Cov[u | S] = kappa / (n + kappa).

Profiles are regressed on it: x = m + W' u + rest. Hence, of somebody who revealed S,

    E[x | S]   = m + W' E[u | S],
    Cov[x | S] = C - W' diag(n / (n + kappa)) W.

Somebody who revealed nothing has the prior of everyone, m and C.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.categories.item_factors import rated_sets
from midpoint.analyst.kernels.positions.evidence import draw_parts
from midpoint.data import Ratings

Float = NDArray[np.float64]
Integers = NDArray[np.int64]

LEAST_GAIN: Final = 0.01
"""Share of the variance of taste that a set must explain of people it was not learned from."""
RIDGE: Final = 100.0
"""People that the weights' prior is worth."""
SMALLEST: Final = 2
"""Ratings of the smallest sets that are learned from."""
LEAST_PSEUDO: Final = 1e-6
"""Pseudo count of a factor whose values in a set scatter no more than those of people, at least."""
KNOWN: Final = 0.95
"""Share of any direction's variance that a set explains, at most."""


@dataclass(frozen=True, eq=False, repr=False)
class SetPrior:
    """Prior of profiles by what was revealed; M items, k factors, dimension D."""

    factors: NDArray[np.float32]
    """The set factors e_j. Shape (M, k)."""
    pseudo_count: Float
    """kappa: how many items each factor's scatter is worth. Shape (k,)."""
    weights: Float
    """W: what each factor adds to a profile. Shape (k, D)."""

    def __repr__(self) -> str:
        """Say how large it is, in one line."""
        items, count = self.factors.shape
        return f"<SetPrior: {items} items, {count} factors>"

    def sums(self, item: NDArray[np.integer]) -> Float:
        """Sum up the factors of one person's items. Shape (k,)."""
        return np.asarray(self.factors[item].sum(axis=0, dtype=np.float64))

    def shift(self, sums: Float, count: Integers | int) -> Float:
        """Return W' E[u | S]: what sets of this sum and number add to the mean of a profile."""
        return np.asarray(
            (sums / (np.asarray(count)[..., None] + self.pseudo_count)) @ self.weights
        )

    def covariance(self, count: int, root: Float) -> Float:
        """Return C - W' diag(n / (n + kappa)) W with C = root root'. Shape (D, D).

        n is rounded to a power of 2 (`size_class`), so that a population needs few of these. No
        direction of taste is taken to be explained by more than `KNOWN`.
        """
        n = 2.0 ** size_class(count)
        inner = np.linalg.solve(root, self.weights.T) * np.sqrt(n / (n + self.pseudo_count))
        share, turn = np.linalg.eigh(inner @ inner.T)
        left = (root @ turn) * np.sqrt(1 - np.minimum(share, KNOWN))
        return np.asarray(left @ left.T)


def size_class(count: Integers | int) -> NDArray[np.int64]:
    """Return the binary logarithm of a number of items, rounded."""
    return np.rint(np.log2(np.maximum(count, 1))).astype(np.int64)


def learn_set_prior(
    ratings: Ratings,
    factors: Float | None,
    taste: Float,
    mean: Float,
    vectors: NDArray[np.floating],
    *,
    seed: int,
) -> SetPrior | None:
    """Learn what sets say of taste, or return None if they say next to nothing.

    Args:
        ratings: The training people's ratings.
        factors: The leading factors of who rated what (`item_prior.set_factors`). Shape (M, k).
        taste: Their profiles. Shape (N, D).
        mean: The mean m of profiles. Shape (D,).
        vectors: The item profiles, by which an error of a profile matters. Shape (M, D).
        seed: Draws the sets that are learned from: parts of people's own, of every size.
    """
    if factors is None:
        return None
    people, draws = ratings.n_users, np.random.default_rng(seed)
    factors, pseudo_count = _scattered(ratings, factors, draws)
    size = np.diff(ratings.user_offsets)
    rated = np.maximum(size, SMALLEST)
    part = np.minimum(SMALLEST * (rated / SMALLEST) ** draws.random(people), size).astype(np.int64)
    chosen = rated_sets(_part(ratings, part, draws)) @ factors
    known = chosen / (part[:, None] + pseudo_count)
    beyond = taste - mean
    metric = np.asarray(vectors, np.float64).T @ vectors
    if _gain(known, beyond, metric) < LEAST_GAIN:
        return None
    return SetPrior(factors.astype(np.float32), pseudo_count, _regress(known, beyond))


def _scattered(ratings: Ratings, factors: Float, draws: np.random.Generator) -> tuple[Float, Float]:
    """Return set factors in units of how people's means scatter, and their pseudo counts.

    Two halves of a person's set have nothing in common but her mean, so the covariance of their
    means is the variance of u. Shapes (M, k), (k,).
    """
    sets = rated_sets(ratings)
    half = draws.random(len(ratings.item)) < 0.5
    means = []
    for side in (half, ~half):
        own = rated_sets(ratings.select_ratings(side))
        n = np.asarray(own.sum(axis=1)).ravel()
        means.append((own @ factors, n))
    both = (means[0][1] > 0) & (means[1][1] > 0)
    first, second = (total[both] / n[both, None] for total, n in means)
    centre = (first.mean(axis=0) + second.mean(axis=0)) / 2
    factors = factors - centre
    total = np.asarray(sets.sum(axis=0)).ravel() @ np.square(factors) / len(ratings.item)
    between = ((first - centre) * (second - centre)).mean(axis=0)
    between = np.maximum(between, 1e-3 * total)
    # Never 0: of an empty set nothing is known, and 0 / 0 is no number.
    return factors / np.sqrt(between), np.maximum((total - between) / between, LEAST_PSEUDO)


def _part(ratings: Ratings, size: Integers, draws: np.random.Generator) -> Ratings:
    """Draw so many ratings of each person."""
    drawn = np.empty(len(ratings.item), np.bool_)
    draw_parts(ratings.user_offsets, draws.random(len(ratings.item)), size, drawn)
    return ratings.select_ratings(drawn)


def _regress(known: Float, beyond: Float) -> Float:
    """Regress profiles on what sets say. Shape (k, D)."""
    gram = known.T @ known
    scale = RIDGE * np.trace(gram) / (len(gram) * max(len(known), 1))
    gram.flat[:: len(gram) + 1] += scale
    return np.asarray(np.linalg.solve(gram, known.T @ beyond))


def _gain(known: Float, beyond: Float, metric: Float) -> float:
    """Return the share of the variance of predictions that sets explain of held-out people."""
    odd = np.arange(len(known)) % 2 == 1
    left = beyond.copy()
    for side in (odd, ~odd):
        left[side] -= known[side] @ _regress(known[~side], beyond[~side])
    before, after = (float(np.einsum("nd,de,ne->", x, metric, x)) for x in (beyond, left))
    return 1 - after / before if before > 0 else 0.0
