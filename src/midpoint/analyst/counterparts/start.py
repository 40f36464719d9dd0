"""Where a fit of positions starts, and which taste factors it goes on with."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.prior import Model, Prior
from midpoint.analyst.counterparts.selection import SelectionModel
from midpoint.analyst.fit.positions import Float, rounded, transports
from midpoint.analyst.fit.profiles import ItemProfiles

FIRST_SELECTION_VARIANCE: Final = 0.1
"""Variance that a taste factor starts with in what people rate, as log odds."""
LEAST_DIRECTION: Final = 1e-4
"""Share of the largest mean square that a direction of the item profiles has at least."""


def no_selection(profiles: ItemProfiles) -> SelectionModel:
    """Describe data in which everyone rates everything."""
    items, K = profiles.offset.shape
    return SelectionModel(np.zeros((items, K)), np.zeros((items, 0)), np.zeros((K, 0)))


def begin(
    profiles: ItemProfiles, sets: SelectionModel, rated: NDArray[np.bool_]
) -> tuple[Model, Prior]:
    """Take all taste factors of the profiles, with covariance I; an item nobody rated has none."""
    # All that categories differ by in the mean is in `base`, and level distributions take it off.
    # Were it in the means of taste factors, devices would take it off twice.
    model = Model(
        rate=rounded(sets.rate),
        selection=rounded(sets.selection),
        base=profiles.centre[:, None] + profiles.offset,
        taste=profiles.vectors @ profiles.profile_root * rated[:, None],
        noise=float(profiles.noise_variance),
    )
    taste = np.linalg.solve(profiles.profile_root, profiles.profile_mean)
    mean = np.hstack([sets.mean, np.tile(taste, (len(sets.mean), 1))])
    return model, Prior(mean, np.tile(np.eye(mean.shape[1]), (len(mean), 1, 1)))


def begin_sets(
    profiles: ItemProfiles, sets: SelectionModel, weight: Float, count: int
) -> tuple[Model, Prior]:
    """Take the profiles' leading directions as further selection factors: sets have no values.

    The directions are those along which items differ most, counted as often as people have them.
    One along which they hardly differ is left out: brought to size, it would be nothing but noise.
    """
    V = profiles.vectors[:, 1:].astype(np.float64)
    size, directions = np.linalg.eigh((V * weight[:, None]).T @ V)
    leading = np.arange(len(size))[::-1][:count]
    leading = leading[size[leading] > LEAST_DIRECTION * size[-1]]
    further = V @ directions[:, leading] / np.sqrt(size[leading] / weight.sum())
    (M, K), d = profiles.offset.shape, sets.selection.shape[1]
    model = Model(
        rate=rounded(sets.rate),
        selection=rounded(np.hstack([sets.selection, further])),
        base=np.ones((M, K)),
        taste=np.zeros((M, 0)),
        noise=1.0,
    )
    mean = np.hstack([sets.mean, np.zeros((K, further.shape[1]))])
    spread = np.repeat([1.0, FIRST_SELECTION_VARIANCE], [d, further.shape[1]])
    return model, Prior(mean, np.tile(np.diag(spread), (K, 1, 1)))


def with_taste_selection(model: Model, prior: Prior, weight: Float) -> tuple[Model, Prior]:
    """Let taste decide what is rated too: r further selection factors that cost no number."""
    (K, D), d = prior.mean.shape, model.selection.shape[1]
    r = D - d
    size, first = np.average(model.taste**2, axis=0, weights=weight), FIRST_SELECTION_VARIANCE
    mean = np.hstack([prior.mean[:, :d], np.zeros((K, r)), prior.mean[:, d:]])
    spread = np.concatenate([np.ones(d), first / np.maximum(size, first), np.ones(r)])
    wide = model._replace(selection=np.hstack([model.selection, model.taste]))
    return wide, Prior(mean, np.tile(np.diag(spread), (K, 1, 1)))


def narrow(
    people: People, model: Model, prior: Prior, wide: Prior, weight: Float, taste_factors: int
) -> tuple[Model, Prior]:
    """Keep the directions along which counterparts differ most; the others become noise."""
    d = model.selection.shape[1]
    kept = _directions(wide, model.taste, weight, people.sizes, d, taste_factors)
    lost = model.taste - model.taste @ kept @ kept.T
    noise = model.noise + float(np.average((lost**2).sum(axis=1), weights=weight))
    mean = np.hstack([prior.mean[:, :d], prior.mean[:, d:] @ kept])
    narrow = Prior(mean, np.tile(np.eye(mean.shape[1]), (len(mean), 1, 1)))
    return model._replace(taste=model.taste @ kept, noise=noise), narrow


def _directions(
    prior: Prior, taste: Float, weight: Float, size: NDArray[np.int64], d: int, count: int
) -> Float:
    """Return an orthonormal basis of the taste factors that move ratings most. Shape (r, count).

    A rating moves by <e, taste_j>, where e are moves T_km z - z and differences of means. With G
    the mean of e e' and C that of taste taste' over ratings, it is spanned by C^(-1/2) times the
    leading eigenvectors of C^(1/2) G C^(1/2).
    """
    share = size / size.sum()
    apart = prior.mean - share @ prior.mean
    moves = transports(prior.covariance) - np.eye(prior.mean.shape[1])
    G = np.einsum("k,kd,ke->de", share, apart, apart)
    G += np.einsum("k,kmda,kab,kmeb->de", share, moves, prior.covariance, moves, optimize=True)
    C = (taste * weight[:, None]).T @ taste / weight.sum()
    values, vectors = np.linalg.eigh(C)
    root = np.sqrt(np.maximum(values, 1e-9 * values[-1]))
    R, inverse = vectors * root @ vectors.T, vectors / root @ vectors.T
    leading = np.linalg.eigh(R @ G[d:, d:] @ R)[1][:, ::-1][:, :count]
    return np.asarray(np.linalg.qr(inverse @ leading)[0])
