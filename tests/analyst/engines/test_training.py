"""Training from tables chooses the scheme as training in memory does, and learns all it needs."""

from pathlib import Path

import pytest

from midpoint.analyst import Factorizer, train
from midpoint.analyst.disclose import choice
from midpoint.analyst.engines import (
    Engine,
    LocalEngine,
    RatingsTables,
    StreamingEngine,
    train_on,
)
from midpoint.data import load
from tests.support.small_tables import write_tables

QUICK = Factorizer(dimension=2, iterations=2)


@pytest.mark.parametrize("engine", [LocalEngine(), StreamingEngine()], ids=lambda e: e.name)
def test_the_scheme_is_that_of_memory(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "LEAST_PEOPLE", 10)
    ratings, users = write_tables(tmp_path)
    read = engine.read(RatingsTables(ratings, users, features=("gender",)))
    profiles = train_on(read, QUICK)
    in_memory = train(load(ratings, users=users), "gender", factorizer=QUICK)
    assert profiles.scheme == in_memory.scheme == "cmpss"
    assert profiles.positions is not None
    assert train_on(read, QUICK, scheme="dmpss").positions is None
    assert engine.read(RatingsTables(ratings, users)).fit(QUICK).scheme is None
    assert train_on(engine.read(RatingsTables(ratings, users)), QUICK).scheme is None
