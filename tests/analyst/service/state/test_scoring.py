"""Scores of all who wait, each by what is kept of her under the model that she asked for."""

from collections.abc import Sequence
from typing import cast

import pytest

from midpoint.analyst import Training, disclose
from midpoint.analyst.score.scorer import Wish
from midpoint.analyst.service.state.model import Model
from midpoint.analyst.service.state.scoring import Wanted, scores_of
from midpoint.analyst.storage import Storage, Summary, Sums
from midpoint.wire import ONE


class Kept:
    """A storage of summaries in memory."""

    def __init__(self, summaries: dict[bytes, Summary]) -> None:
        self.kept = summaries
        self.read: list[bytes] = []

    def sums(self, tokens: Sequence[bytes]) -> dict[bytes, Sums | None]:
        return {token: self.kept[token].sums for token in tokens if token in self.kept}

    def summaries(self, tokens: Sequence[bytes]) -> dict[bytes, Summary]:
        self.read += tokens
        return {token: self.kept[token] for token in tokens}


@pytest.fixture(scope="module")
def models(trained_stars: Training) -> tuple[Model, Model]:
    profiles = trained_stars.items
    return Model(profiles, disclose(profiles, "dmpss")), Model(profiles, disclose(profiles, "mpr"))


def alone(model: Model, answers: dict[str, int], wish: Wish) -> bytes:
    return model.scores(model.estimates([model.sums(model.evidence(answers))]), [wish])[0]


def test_everyone_gets_her_own_by_her_model_and_wish(models: tuple[Model, Model]) -> None:
    new, old = models
    items = new.disclosure.items
    answers = {b"a": dict.fromkeys(items[:9], 5 * ONE), b"b": dict.fromkeys(items[3:20], ONE)}
    summaries = {
        token: Summary(0, items=given, sums=new.sums(new.evidence(given)))
        for token, given in answers.items()
    }
    storage = Kept(summaries)
    many = [
        Wanted(b"b", new, Wish(3, 2)),
        Wanted(b"a", old),
        Wanted(b"unknown", new),
        Wanted(b"a", new),
    ]
    raws = scores_of(cast("Storage", storage), many)
    expected = [alone(wanted.model, answers.get(wanted.token, {}), wanted.wish) for wanted in many]
    assert raws == expected
    assert len(set(raws)) == 4
    assert storage.read == [b"a"]  # sums of the other model say nothing, so her answers are read
