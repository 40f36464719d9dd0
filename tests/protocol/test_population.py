import numpy as np
import pytest

from midpoint.analyst import predict
from midpoint.protocol import LearningProtocol, local_correction, squared_errors
from midpoint.protocol.population import cells_of
from midpoint.user import PrivateCategory, correct
from midpoint.wire import ONE, Scores
from tests.support.people.invented import raters, ready, world
from tests.support.people.made_up import AGE, GENDER
from tests.support.people.made_up import disclosure as made_up

MADE = world(M=15, seed=1)
PEOPLE = raters(MADE, 10, seed=2)


@pytest.mark.parametrize("name", ["no", "mpss", "dmpss", "cmpss"])
def test_people_are_corrected_as_their_own_devices_correct(name: str) -> None:
    """One person's correction, with the code of a device, against all at once."""
    protocol, profiles = LearningProtocol(name), ready(MADE, name)
    disclosure = protocol.disclose(profiles)
    given = disclosure, profiles, PEOPLE
    sent = protocol.report(*given, np.random.default_rng(0))
    moves = protocol.moves(*given, np.random.default_rng(0), sent)
    person, item = np.repeat(np.arange(20), 15), np.tile(np.arange(15), 20)
    rows = item, PEOPLE.category[person], moves[person]
    found = local_correction(disclosure, profiles, *rows).reshape(20, 15)
    zero = Scores(
        disclosure=disclosure.digest, items=disclosure.items, score=(0,) * 15, deviation=(0,) * 15
    )
    for i, cell in enumerate(PEOPLE.category.tolist()):
        category = PrivateCategory({"gender": "FM"[cell]})
        ranked = {r.item: r.score for r in correct(zero, disclosure, category, (), moves[i])}
        assert [ranked[name] / ONE for name in profiles.item_ids.tolist()] == found[i].tolist()
    assert found.any() == (name != "no")


@pytest.mark.parametrize("name", ["no", "dmpss", "cmpss"])
def test_predictions_are_scores_after_the_correction_of_devices(name: str) -> None:
    protocol, profiles = LearningProtocol(name), ready(MADE, name)
    disclosure = protocol.disclose(profiles)
    people = disclosure, profiles, PEOPLE
    sent = protocol.report(*people, np.random.default_rng(0))
    given = *people, np.random.default_rng(0), sent
    x = np.random.default_rng(1).normal(size=(20, profiles.dimension))
    user, item = np.repeat(np.arange(20), 15), np.tile(np.arange(15), 20)
    shown = protocol.predictions(*given, x, user, item)
    moves = protocol.moves(*given)[user]
    added = local_correction(disclosure, profiles, item, PEOPLE.category[user], moves)
    assert shown.tolist() == predict(profiles, x, user, item, added).tolist()
    assert (shown == predict(profiles, x, user, item)).all() == (name == "no")


def test_squared_errors_add_up_by_person() -> None:
    shown, value = np.array([1.0, 2.0, 5.0]), np.array([2.0, 4.0, 5.0], dtype=np.float32)
    assert squared_errors(shown, value, np.array([0, 0, 2]), 4).tolist() == [5.0, 0.0, 0.0, 0.0]


def test_people_without_a_known_category_have_no_cell() -> None:
    shown = made_up("dmpss", (GENDER, AGE))
    old, young = "old", "young"
    people = [{"gender": "F", "age": old}, {"gender": "M", "age": young}, {"gender": "F"}, {}]
    cells = cells_of(shown, [*people, {"gender": "F", "age": "unheard of"}])
    assert cells.tolist() == [2, 3, -1, -1, -1]
