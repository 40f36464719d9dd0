"""Five republications: items do not drift, what is disclosed does not feed on itself, nor leak."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]
from sklearn.model_selection import cross_val_predict  # type: ignore[import-untyped]

from midpoint.analyst import CollectedReports, Factorizer, ItemProfiles, disclose, train
from midpoint.analyst.disclose.leak import LeakBudget
from midpoint.data import Ratings, simulate
from midpoint.wire import Disclosure, from_fixed
from tests.support.tables.two_kinds import WORLD, answered

pytestmark = pytest.mark.slow

QUICK = Factorizer(dimension=3, iterations=5)
ROUNDS, FIRST, JOIN, SEND, TRIED, LATE = 5, 180, 20, 120, 400, 10
"""Republications; the first panel, who joins it and who reports each time; who is attacked; items
that are new from the third time on."""


@dataclass(frozen=True)
class Life:
    """What a site showed one time after the other."""

    everyone: Ratings
    """All people's raw ratings, which nobody has."""
    models: list[ItemProfiles]
    """What was learned each time."""
    shown: list[Disclosure]
    """What was disclosed."""
    answers: list[pl.DataFrame]
    """What was answered under each."""

    def attack(self, number: int) -> float:
        """Read people who are in no panel, from labelled others under the same disclosure."""
        model = self.models[number]
        people = visible(self.everyone, number).select_users(
            np.arange(self.everyone.n_users) >= self.everyone.n_users - TRIED
        )
        sent = answered(model, self.shown[number], people, seed=9)
        index = {name: n for n, name in enumerate(model.item_ids.tolist())}
        row = {name: n for n, name in enumerate(people.user_ids.tolist())}
        table = np.zeros((people.n_users, model.n_items))
        table[[row[p] for p in sent["person"]], [index[j] for j in sent["item"]]] = 1
        codes = people.feature("gender").codes
        clf = LogisticRegression(C=0.05, max_iter=500)
        scores = cross_val_predict(clf, table, codes, cv=5, method="decision_function")
        return float(roc_auc_score(codes, scores))


def visible(ratings: Ratings, number: int) -> Ratings:
    """Return the ratings of the items that there are by then."""
    items = ratings.n_items - (LATE if number < 2 else 0)
    return ratings.select_items(np.arange(items))


def ratios(disclosure: Disclosure) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return log p_F - log p_M of each item, as it is disclosed."""
    reveal = from_fixed(np.array(disclosure.reveal))
    return np.asarray(np.log(reveal[:, 1] / reveal[:, 0]))


@cache
def life() -> Life:
    """Train, publish and collect five times; the panel grows, and new items enter by it."""
    everyone = simulate(WORLD, seed=8).ratings
    who = np.arange(everyone.n_users)
    lived, senders = Life(everyone, [], [], []), FIRST + ROUNDS * JOIN
    for number in range(ROUNDS):
        panel = visible(everyone, number).select_users(who < FIRST + JOIN * number)
        collected = pl.concat(lived.answers) if lived.answers else None
        digests = {shown.digest: shown for shown in lived.shown}
        reports = None if collected is None else CollectedReports(collected, digests)
        model = train(panel, "gender", factorizer=QUICK, scheme="dmpss", reports=reports)
        shown = disclose(model)
        start = senders + SEND * number
        mask = (who >= start) & (who < start + SEND)
        sent = answered(model, shown, visible(everyone, number).select_users(mask), seed=number)
        lived.models.append(model)
        lived.shown.append(shown)
        lived.answers.append(sent)
    return lived


def test_items_do_not_drift_and_new_ones_enter_by_the_panel() -> None:
    lived = life()
    truth = train(lived.everyone, "gender", factorizer=QUICK, scheme="dmpss")
    for number, model in enumerate(lived.models):
        right = truth.centre[: model.n_items]
        slope, shift = np.polyfit(right - right.mean(), model.centre - right.mean(), 1)
        assert 0.85 < slope < 1.15, number
        assert abs(shift) < 0.1, number
    errors = [
        float(np.sqrt(np.mean((model.centre[:-LATE] - truth.centre[: model.n_items][:-LATE]) ** 2)))
        for model in (lived.models[0], lived.models[-1])
    ]
    assert errors[1] < errors[0]
    new = truth.item_ids[-LATE:].tolist()
    assert not set(new) & set(lived.models[1].item_ids.tolist())
    assert set(new) <= set(lived.models[2].item_ids.tolist())
    assert set(lived.answers[2]["item"]) & set(new)


def test_what_is_disclosed_does_not_feed_on_itself() -> None:
    lived = life()
    truth = ratios(disclose(train(lived.everyone, "gender", factorizer=QUICK, scheme="dmpss")))
    items = lived.models[0].n_items
    slopes = [
        float(ratios(shown)[:items] @ truth[:items] / (truth[:items] @ truth[:items]))
        for shown in lived.shown
    ]
    assert slopes[-1] > 0.9 * slopes[0]
    # The control: an analyst that takes reports for raw ratings of their senders learns that
    # categories are alike, and its devices then hide nothing.
    assert float(fed_on_itself(lived)[:items] @ truth[:items]) < 0.6 * slopes[-1] * float(
        truth[:items] @ truth[:items]
    )


def fed_on_itself(lived: Life) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return what is disclosed if reports count as raw ratings of known category."""
    everyone, sent = lived.everyone, pl.concat(lived.answers)
    row = {name: n for n, name in enumerate(everyone.user_ids.tolist())}
    index = {name: n for n, name in enumerate(everyone.item_ids.tolist())}
    user = np.array([row[p] for p in sent["person"]], np.int32)
    panel = everyone.user < FIRST + JOIN * (ROUNDS - 1)
    both = replace(
        everyone,
        user=np.concatenate([everyone.user[panel], user]),
        item=np.concatenate(
            [everyone.item[panel], np.array([index[j] for j in sent["item"]], np.int32)]
        ),
        value=np.concatenate(
            [everyone.value[panel], np.clip(np.rint(sent["value"].to_numpy()), 1, 5)]
        ).astype(everyone.value.dtype),
        time=None,
    )
    who = np.unique(both.user)
    mixed = both.select_users(np.isin(np.arange(everyone.n_users), who))
    return ratios(disclose(train(mixed, "gender", factorizer=QUICK, scheme="dmpss")))


def test_the_leak_does_not_grow() -> None:
    lived = life()
    bounds = [LeakBudget(model).everything().leak for model in lived.models]
    assert bounds[-1] < bounds[0] + 0.01
    assert lived.attack(ROUNDS - 1) < lived.attack(0) + 0.05
