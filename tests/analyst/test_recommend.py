import numpy as np
import pytest

from midpoint.analyst import (
    Evidence,
    Training,
    disclose,
    posterior,
    read_report,
    score,
)
from midpoint.errors import MidpointError
from midpoint.wire import ONE, Disclosure, Report, Scores


def report(shown: Disclosure, answers: dict[str, float]) -> Report:
    pairs = tuple((item, round(value * ONE)) for item, value in sorted(answers.items()))
    return Report(id="0" * 32, disclosure=shown.digest, round=0, answers=pairs)


def test_a_report_is_the_evidence_of_its_answers(trained_stars: Training) -> None:
    profiles = trained_stars.items
    shown = disclose(profiles)
    some = np.array([11, 3, 40])
    answers = dict(zip(profiles.item_ids[some].tolist(), [4.0, 1.5, 2.0], strict=True))
    found = read_report(profiles, report(shown, answers), shown)
    expected = Evidence.of(profiles, some, np.array([4.0, 1.5, 2.0]))
    assert found.information == pytest.approx(expected.information)
    assert found.moment == pytest.approx(expected.moment)
    assert found.count == 3


def test_an_empty_report_is_no_evidence(trained_stars: Training) -> None:
    shown = disclose(trained_stars.items)
    found = read_report(trained_stars.items, report(shown, {}), shown)
    assert found.count == 0
    assert not found.information.any()


def test_what_was_not_asked_under_this_disclosure_is_refused(trained_stars: Training) -> None:
    profiles = trained_stars.items
    shown, other = disclose(profiles), disclose(profiles, "mpr")
    with pytest.raises(MidpointError, match="answer again under the current one"):
        read_report(profiles, report(other, {"0001": 3}), shown)
    with pytest.raises(MidpointError, match="'nope' is not among the profiles"):
        read_report(profiles, report(shown, {"nope": 3}), shown)


def test_scores_are_predictions_in_the_order_of_items(trained_stars: Training) -> None:
    profiles = trained_stars.items
    shown = disclose(profiles)
    evidence = Evidence.of(profiles, np.array([1, 2, 3]), np.array([5.0, 1.0, 4.0]))
    belief = posterior(evidence, profiles)
    found = score(profiles, belief, shown)
    assert found.items == shown.items
    assert found.disclosure == shown.digest
    mean, deviation = belief.predict(profiles)
    assert np.array(found.score) / ONE == pytest.approx(mean, abs=1 / ONE)
    assert np.array(found.deviation) / ONE == pytest.approx(deviation, abs=1 / ONE)
    assert (deviation > np.sqrt(profiles.noise_variance)).all()
    assert Scores.parse(found.raw) == found
    some = score(profiles, belief, shown, np.array([40, 7]))
    assert some.items == tuple(profiles.item_ids[[7, 40]].tolist())
    assert some.score == (found.score[7], found.score[40])
