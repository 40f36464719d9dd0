"""Ratings in the clear: as they are, because she says so, and never by a missing category."""

import pytest

from midpoint.errors import MidpointError
from midpoint.user import DeviceSecret, Ledger, PrivateCategory, decide
from midpoint.user.core.correction import correct
from midpoint.wire import ONE, RatingScale, Scores
from tests.support.people.made_up import STARS, accepted, disclosure, ratings, solicitation
from tests.support.people.made_up_positions import counterparts_disclosure

WOMAN = PrivateCategory({"gender": "F"})


@pytest.mark.parametrize("shown", [disclosure("dmpss"), counterparts_disclosure()])
def test_all_leaves_as_it_is_and_is_final(shown) -> None:  # type: ignore[no-untyped-def]
    """Control: under a category some are withheld or changed."""
    rated = ratings(shown)
    asked, ledger = solicitation(shown), Ledger(DeviceSecret(bytes(32)))
    report = decide(rated, asked, accepted(shown), PrivateCategory.unprotected(), ledger)
    assert dict(report.answers) == rated
    assert ledger.move_under(shown.digest) == ()
    other = Ledger(DeviceSecret(bytes(32)))
    assert dict(decide(rated, asked, accepted(shown), WOMAN, other).answers) != rated
    later = solicitation(shown, 2)
    again = decide(dict.fromkeys(rated, STARS[0]), later, accepted(shown), WOMAN, ledger)
    assert dict(again.answers) == rated  # what was sent stays sent


def test_a_missing_category_is_no_consent() -> None:
    shown = disclosure("dmpss")
    with pytest.raises(MidpointError, match="needs one of"):
        decide(ratings(shown), solicitation(shown), accepted(shown), PrivateCategory({}),
               Ledger(DeviceSecret(bytes(32))))  # fmt: skip


def test_fewer_reported_levels_are_kept_to() -> None:
    fewer = RatingScale(low=ONE, high=5 * ONE, levels=STARS, reported=STARS[::2])
    shown = disclosure("dmpss", scale=fewer)
    rated = dict(zip(shown.items, STARS, strict=False))
    ledger, clear = Ledger(DeviceSecret(bytes(32))), PrivateCategory.unprotected()
    report = decide(rated, solicitation(shown), accepted(shown), clear, ledger)
    assert [value // ONE for _, value in report.answers] == [1, 1, 3, 3, 5]


def test_scores_are_ranked_as_they_came() -> None:
    shown = disclosure("dmpss")
    n = len(shown.items)
    scores = Scores(disclosure=shown.digest, items=shown.items, score=tuple(range(n)),
                    deviation=(0,) * n)  # fmt: skip
    best = correct(scores, shown, PrivateCategory.unprotected(), (), ())
    assert [row.score for row in best] == list(range(n))[::-1]
