"""Transcripts of several rounds: under which disclosure each came about, and with whose coins."""

import pytest

from midpoint.audit.rounds.protocol import RoundsProtocol
from midpoint.audit.run.folds import FoldData, learn
from midpoint.audit.run.plan import Plan, read_scheme
from midpoint.audit.run.round_views import RoundViews, Versions
from midpoint.data import Simulation
from tests.support.audits.small_audit import QUICKLY

PLAN = Plan(("gender",), folds=2, seed=3, draws=2, factorizer=QUICKLY)


@pytest.mark.slow
def test_devices_of_all_kinds_share_disclosures_and_draw_coins_of_their_own(
    tiny: Simulation,
) -> None:
    fold = FoldData.of(tiny.ratings, PLAN, 0)
    profiles = learn(fold)
    known: Versions = {}

    def views(scheme: str) -> RoundViews:
        protocol = read_scheme(scheme)
        assert isinstance(protocol, RoundsProtocol)
        return RoundViews(fold, scheme, protocol, profiles, profiles, known)

    product, tossing = views("mpss:rounds=2:budget=5"), views("mpss:rounds=2:budget=5:tossing")
    assert len(product.answers) == 2
    assert all(count > 0 for count in product.answers)
    made = len(known)
    assert len(tossing.answers) == 2
    assert len(known) == made  # what the analyst discloses does not depend on devices
    first, second = (each.held_out.transcript.answered for each in (product, tossing))
    assert first.shape == second.shape
    assert first.tolist() != second.tolist()
    again = views("mpss:rounds=2:budget=5").held_out.transcript.answered
    assert again.tolist() == first.tolist()
