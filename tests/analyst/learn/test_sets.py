"""Reports of sets teach items: protected people beside a small panel make lists better."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from midpoint.analyst import CollectedReports, Factorizer, ItemProfiles, estimate_profiles, train
from midpoint.analyst.kernels.ranking import Sets, rank_people
from midpoint.audit.run.adversaries.reporters import collected
from midpoint.data import PRESETS, Ratings, simulate, split_ratings
from midpoint.protocol import LearningProtocol

PLAYS = replace(
    PRESETS["simulated-plays"], users=1500, items=80, ratings=24_000, selection_taste_sd=3.0
)
QUICK = Factorizer(dimension=4, iterations=6)


def ndcg(profiles: ItemProfiles, new: Ratings) -> float:
    given, hidden = split_ratings(new, seed=0)
    x = estimate_profiles(profiles, given.user_offsets, given.item, given.value)
    scores = x @ profiles.vectors.T.astype(np.float64)
    known, looked_for = (Sets(part.user_offsets, part.item) for part in (given, hidden))
    return float(np.nanmean(rank_people(lambda some: scores[some], known, looked_for, 80).ndcg))


@pytest.mark.slow
def test_reports_of_sets_teach_items() -> None:
    """The control: the same answers with items exchanged teach less than the panel alone."""
    ratings = simulate(PLAYS, seed=1).ratings
    part = np.searchsorted([60, 1100], np.arange(1500), "right")
    panel, rest, new = (ratings.select_users(part == k) for k in range(3))
    how = LearningProtocol("dmpss")
    first = train(panel, "gender", factorizer=QUICK, scheme="dmpss")
    reports = collected(rest, ("gender",), first, how, np.random.default_rng(0))

    def taught(answers: pl.DataFrame) -> float:
        beside = CollectedReports(answers, reports.disclosures, reports.name)
        both = train(panel, "gender", factorizer=QUICK, scheme="dmpss", reports=beside)
        assert both.provenance.configuration["reports"]["answers"] > 0.7 * len(answers)
        return ndcg(both, new)

    alone, both = ndcg(first, new), taught(reports.answers)
    mixed = reports.answers.with_columns(pl.col("item").shuffle(seed=1))
    assert both > alone + 0.01
    assert taught(mixed.unique(["person", "item"])) < both - 0.01
