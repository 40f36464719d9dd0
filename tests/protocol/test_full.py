import numpy as np
import pytest

from midpoint.protocol import (
    FullDisclosure,
    LearningProtocol,
)
from tests.support.people.invented import raters, world

MADE = world(M=15, seed=1)
PEOPLE = raters(MADE, 40, seed=2)


def test_full_disclosure_sends_the_estimate_of_mp_and_no_ratings() -> None:
    full, mp = LearningProtocol("full"), LearningProtocol("mp")
    disclosure = full.disclose(MADE.profiles)
    assert isinstance(disclosure, FullDisclosure)
    coins = np.random.default_rng(5).random((len(PEOPLE.user), 4))
    sent = full.report(disclosure, MADE.profiles, PEOPLE, coins)
    assert sent.profile is not None
    other = mp.report(mp.disclose(MADE.profiles), MADE.profiles, PEOPLE, coins)
    expected = mp.estimate(MADE.profiles, other)
    assert full.estimate(MADE.profiles, sent) == pytest.approx(expected, abs=1e-4)
    no = LearningProtocol("no")
    other = no.report(no.disclose(MADE.profiles), MADE.profiles, PEOPLE, coins)
    assert np.abs(sent.profile - no.estimate(MADE.profiles, other)).max() > 0.1
