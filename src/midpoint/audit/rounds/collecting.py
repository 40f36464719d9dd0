"""From stored scores to what is reported of transcripts."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from midpoint.audit.measure.results import AUC, READABLE, Band, Row
from midpoint.audit.measure.statistics import area, null_band
from midpoint.audit.rounds.folds import Setup
from midpoint.audit.rounds.results import TranscriptResults
from midpoint.audit.run.folds import questions
from midpoint.audit.run.store import ATTACK, Store, code_digest
from midpoint.data import Ratings

SEEN = "seen"
"""What is kept of a fold beside scores."""
Labels = NDArray[np.int64]


def collect_transcripts(setup: Setup, store: Store, ratings: Ratings) -> TranscriptResults:
    """Measure all that is complete, whenever it was run.

    Raw ratings are the first case, the product's devices the second. A maximum is taken over all
    attackers that ever ran here, and so is its band.
    """
    attacks = _complete(setup, store)
    plan, folds = setup.plan, range(setup.plan.folds)
    raw, product, *_ = setup.cases
    rows, bands, answers = list[Row](), {}, {}
    for name in setup.cases:
        each = [_scores(setup, store, name, attack) for attack in attacks]
        found = list(_rows(setup, store, name, dict(zip(attacks, each, strict=True))))
        best = max((row.value for row in found), key=lambda value: abs(value - 0.5))
        scores = np.stack(each)
        if scores.shape[2] == 1:
            scores = scores[:, :, 0]
        null = null_band(scores, *_everyone(setup, store))
        bands[name] = Band(null.low, null.high, len(each), null.p_value(best))
        said = np.mean([store.load(fold, name, SEEN)["answers"] for fold in folds], axis=0)
        answers[name] = tuple(said.tolist())
        rows += found
    return TranscriptResults(
        dataset=ratings.name,
        data_digest=ratings.digest,
        feature=setup.ratings.feature(*plan.feature).name,
        code=code_digest(),
        folds=plan.folds,
        seed=plan.seed,
        rounds=setup.rounds,
        budget=setup.budget,
        items=setup.items,
        timed=ratings.time is not None,
        product=product,
        raw=raw,
        rows=tuple(rows),
        bands=bands,
        reads={
            row.attack: row.value >= max(READABLE, bands[raw].judged_high)
            for row in rows
            if row.scheme == raw
        },
        answers=answers,
    )


def _complete(setup: Setup, store: Store) -> list[str]:
    """Return the attackers that tried every kind of device in all folds."""
    places = [(fold, name) for fold in range(setup.plan.folds) for name in setup.cases]
    return sorted(set.intersection(*(set(store.attacks(*place)) for place in places)))


def _rows(
    setup: Setup, store: Store, name: str, scores: dict[str, NDArray[np.float64]]
) -> Iterator[Row]:
    """Go through attackers, and the categories they are asked about where there are several."""
    feature, plan = setup.ratings.feature(*setup.plan.feature), setup.plan
    category, folds = _everyone(setup, store)
    asked = questions(len(feature.categories))
    for attack, own in scores.items():
        for column, k in enumerate(asked):
            label = attack if len(asked) == 1 else f"{attack}[{feature.categories[k]}]"
            one = area(own[:, column], category == k, folds)
            yield Row(
                dataset=setup.ratings.name,
                feature=feature.name,
                scheme=name,
                metric=AUC,
                attack=label,
                value=one.value,
                low=one.interval()[0],
                high=one.interval()[1],
                folds=plan.folds,
                seed=plan.seed,
            )


def _everyone(setup: Setup, store: Store) -> tuple[Labels, Labels]:
    """Return everyone's category and fold, fold after fold. Shapes (N,)."""
    each = [store.load(fold, SEEN)["category"] for fold in range(setup.plan.folds)]
    folds = np.repeat(np.arange(setup.plan.folds), [len(one) for one in each])
    return np.concatenate(each).astype(np.int64), folds.astype(np.int64)


def _scores(setup: Setup, store: Store, name: str, attack: str) -> NDArray[np.float64]:
    """Return everyone's scores for each question. Shape (N, questions)."""
    folds = range(setup.plan.folds)
    return np.concatenate([store.load(fold, name, ATTACK, attack)["scores"] for fold in folds])
