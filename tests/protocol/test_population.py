import numpy as np
import pytest

from midpoint.protocol import LearningProtocol, local_correction
from midpoint.user import PrivateCategory, correct
from midpoint.wire import ONE, Scores
from tests.support.people.invented import raters, ready, world

MADE = world(M=15, seed=1)
PEOPLE = raters(MADE, 10, seed=2)


@pytest.mark.parametrize("name", ["no", "mpss", "dmpss", "cmpss"])
def test_people_are_corrected_as_their_own_devices_correct(name: str) -> None:
    """One person's correction, with the code of a device, against all at once."""
    protocol, profiles = LearningProtocol(name), ready(MADE, name)
    disclosure = protocol.disclose(profiles)
    moves = protocol.moves(disclosure, profiles, PEOPLE, np.random.default_rng(0))
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
