"""Training from tables chooses the scheme as training in memory does, and learns all it needs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from midpoint.analyst import Factorizer, ItemProfiles, estimate_profiles, predict, train
from midpoint.analyst.engines import (
    Engine,
    LocalEngine,
    RatingsTables,
    StreamingEngine,
    train_on,
)
from midpoint.analyst.fit.choice import Choice
from midpoint.data import Ratings, load, split_ratings
from tests.support.tables.people_who_choose import people_who_choose
from tests.support.tables.small_tables import write_tables

QUICK = Factorizer(dimension=2, iterations=2)


def genders(ratings: Ratings) -> dict[str, str]:
    feature = ratings.feature("gender")
    return {
        who: feature.categories[code]
        for who, code in zip(ratings.user_ids.tolist(), feature.codes.tolist(), strict=True)
    }


@pytest.mark.parametrize("engine", [LocalEngine(), StreamingEngine()], ids=lambda e: e.name)
def test_the_scheme_is_that_of_memory(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def choose(sample: Ratings, _: object, **settings: object) -> Choice:
        seen.append((sample, settings["positions"]))
        return Choice("cmpss" if settings["positions"] else "dmp", "it leaks least", people=20)

    monkeypatch.setattr("midpoint.audit.choose.choose", choose)
    monkeypatch.setattr("midpoint.analyst.engines.training.SAMPLE", 20)
    ratings, users = write_tables(tmp_path)
    read = engine.read(RatingsTables(ratings, users, features=("gender",)))
    profiles = train_on(read, QUICK)
    in_memory = train(load(ratings, users=users), "gender", factorizer=QUICK)
    assert profiles.scheme == in_memory.scheme == "cmpss"
    assert profiles.positions is not None
    assert train_on(read, QUICK, scheme="dmpss").positions is None
    first, everyone = seen[0][0], load(ratings, users=users)
    if engine.name != "local":  # a sample of people, with all of their ratings
        assert first.n_users == 20
        assert profiles.choice is not None
        assert (profiles.choice.people, profiles.choice.panel) == (20, everyone.n_users)
        kept = np.isin(everyone.user_ids, first.user_ids)
        all_of_theirs = everyone.select_users(kept)
        assert len(first) == len(all_of_theirs)
        assert first.value.sum() == all_of_theirs.value.sum()
        assert genders(first) == genders(all_of_theirs)
    assert engine.read(RatingsTables(ratings, users)).fit(QUICK).scheme is None
    assert train_on(engine.read(RatingsTables(ratings, users)), QUICK).scheme is None


def test_what_sets_say_is_learned_from_people_in_memory(tmp_path: Path) -> None:
    """People who choose by taste: the set prior lowers the error, as the one of memory does."""
    everyone = people_who_choose(1.5)
    new = np.arange(everyone.n_users) % 5 == 0
    training = everyone.select_users(~new)
    names = training.user_ids.tolist()
    rows = {"user": training.user_ids[training.user], "item": training.item_ids[training.item]}
    pl.DataFrame({**rows, "rating": training.value}).write_parquet(tmp_path / "ratings.parquet")
    gender = ["FM"[k % 2] for k in range(len(names))]
    pl.DataFrame({"user": names, "gender": gender}).write_csv(tmp_path / "users.csv")
    tables = RatingsTables(
        tmp_path / "ratings.parquet", tmp_path / "users.csv", features=("gender",)
    )
    given, hidden = split_ratings(everyone.select_users(new), 0.25, seed=1)

    def error(profiles: ItemProfiles) -> float:
        x = estimate_profiles(profiles, given.user_offsets, given.item, given.value)
        shown = predict(profiles, x, hidden.user, hidden.item)
        return float(np.sqrt(np.mean((shown - hidden.value) ** 2)))

    errors = []
    for engine in (LocalEngine(), StreamingEngine()):
        found = train_on(engine.read(tables), Factorizer(dimension=3), scheme="dmpss")
        assert found.set_prior is not None
        assert error(found) < 0.99 * error(replace(found, set_prior=None))
        errors.append(error(found))
    assert errors[1] == pytest.approx(errors[0], rel=0.005)
    off = Factorizer(dimension=3, sets=False)
    assert train_on(StreamingEngine().read(tables), off, scheme="dmpss").set_prior is None
