import pickle

import numpy as np
import pytest

from midpoint.analyst import (
    Evidence,
    ItemProfiles,
    Scorer,
    Training,
    disclose,
    expected_loss,
    posterior,
    publish,
    report_weights,
)
from midpoint.analyst.fit.fold_in import Method
from midpoint.analyst.score.scorer import Wish
from midpoint.errors import MidpointError
from midpoint.user import (
    DeviceSecret,
    Ledger,
    PrivateCategory,
    check_disclosure,
    correct,
    decide,
)
from midpoint.wire import ONE, Disclosure, Report, Scores, SigningKey, Solicitation


def report(shown: Disclosure, answers: dict[str, float]) -> Report:
    pairs = tuple((item, round(value * ONE)) for item, value in sorted(answers.items()))
    return Report(id="0" * 32, disclosure=shown.digest, round=0, answers=pairs)


def plain(profiles: ItemProfiles, shown: Disclosure) -> Scorer:
    """Return the scorer of the paper, to which all reports count alike."""
    return Scorer(profiles, shown, estimator="least-squares")


def test_a_report_is_the_evidence_of_its_answers(trained_stars: Training) -> None:
    profiles = trained_stars.items
    some = np.array([11, 3, 40])
    answers = dict(zip(profiles.item_ids[some].tolist(), [4.0, 1.0, 2.0], strict=True))
    shown, value = disclose(profiles), np.array([4.0, 1.0, 2.0])
    weighed, alike = Scorer(profiles, shown), plain(profiles, shown)
    weights = report_weights(profiles, shown)
    for scorer, expected in (
        (alike, Evidence.of(profiles, some, value)),
        (weighed, Evidence.of(profiles, some, value, weights)),
    ):
        found = scorer.evidence([report(shown, answers)])
        assert found.information == pytest.approx(expected.information)
        assert found.moment == pytest.approx(expected.moment)
        assert found.count == 3
    assert not np.allclose(weights, 1)


def test_either_estimator_reads_the_same_sums(trained_stars: Training) -> None:
    profiles = trained_stars.items
    shown = disclose(profiles)
    sent = [report(shown, {item: 1 + n % 5 for n, item in enumerate(shown.items[::3])})]
    by_prior, by_squares = Scorer(profiles, shown), plain(profiles, shown)
    expected = posterior(by_prior.evidence(sent), profiles)
    assert np.array_equal(by_prior.estimate(sent).mean, expected.mean)
    evidence = by_squares.evidence(sent)
    closed = np.linalg.solve(evidence.information, evidence.moment)
    assert by_squares.estimate(sent).mean == pytest.approx(closed, rel=1e-6, abs=1e-6)
    loss = expected_loss(evidence.information, profiles.noise_variance)
    assert np.trace(by_squares.estimate(sent).covariance) == pytest.approx(loss)


@pytest.mark.parametrize(("estimator", "near"), [("map", 1e-4), ("least-squares", 1e-2)])
def test_many_are_estimated_as_each_alone(
    trained_stars: Training, estimator: Method, near: float
) -> None:
    """Up to single precision; least squares of many has next to no prior, that of one has none."""
    profiles = trained_stars.items
    shown = disclose(profiles)
    scorer = Scorer(profiles, shown, estimator=estimator)
    rng = np.random.default_rng(0)
    rows = [np.sort(rng.choice(profiles.n_items, 60, replace=False)) for _ in range(3)]
    value = rng.integers(1, 6, 180).astype(np.float64)
    many = scorer.profiles(
        np.array([0, 60, 120, 180]), np.concatenate(rows).astype(np.int32), value
    )
    for row, x, of_row in zip(rows, many, value.reshape(3, 60), strict=True):
        answers = dict(zip(profiles.item_ids[row].tolist(), of_row.tolist(), strict=True))
        assert x == pytest.approx(
            scorer.estimate([report(shown, answers)]).mean, rel=near, abs=near
        )


def test_coins_that_hide_less_weigh_more(trained_stars: Training) -> None:
    profiles = trained_stars.items
    shown = disclose(profiles)
    half, whole = (Scorer(profiles, shown, alpha=alpha).weights for alpha in (0.5, 1.0))
    assert half is not None
    assert whole is not None
    assert (half >= whole).all()
    assert (half > whole).any()


def test_a_scorer_goes_to_another_process_and_scores_the_same(trained_stars: Training) -> None:
    profiles = trained_stars.items
    shown = disclose(profiles)
    sent = [report(shown, {shown.items[3]: 5})]
    assert shown.index[shown.items[3]] == 3  # a mapping that cannot be pickled is not in the way
    scorer = Scorer(profiles, shown)
    again = pickle.loads(pickle.dumps(scorer))  # noqa: S301 - our own bytes
    assert again.scores(sent) == scorer.scores(sent)
    assert again.top(sent, top=2, margin=1) == scorer.top(sent, top=2, margin=1)


def test_an_empty_report_or_none_is_no_evidence(trained_stars: Training) -> None:
    shown = disclose(trained_stars.items)
    for reports in ([report(shown, {})], []):
        found = Scorer(trained_stars.items, shown).evidence(reports)
        assert found.count == 0
        assert not found.information.any()


def test_what_was_not_asked_under_this_disclosure_is_refused(trained_stars: Training) -> None:
    profiles = trained_stars.items
    shown, other = disclose(profiles), disclose(profiles, "mpr")
    with pytest.raises(MidpointError, match="made under disclosure"):
        Scorer(profiles, shown).answers([report(other, {"0001": 3})])
    with pytest.raises(MidpointError, match="'nope' is not in the disclosure"):
        Scorer(profiles, shown).answers([report(shown, {"nope": 3})])
    with pytest.raises(MidpointError, match="with 6, which is no rating from 1 to 5"):
        Scorer(profiles, shown).answers([report(shown, {shown.items[0]: 6})])


def person(shown: Disclosure, ratings: dict[str, int], category: str, *asked: tuple[str, ...]) -> (
    tuple[list[Report], Ledger]
):  # fmt: skip
    """Return what a device answers in rounds that ask about these items, and its ledger."""
    accepted = check_disclosure(shown.raw, [publish(shown, SigningKey(bytes(32)), time=0)], None)
    me, ledger = PrivateCategory({"gender": category}), Ledger(DeviceSecret(bytes(range(32))))
    questions = [
        Solicitation(disclosure=shown.digest, round=number, items=items, open=False)
        for number, items in enumerate(asked)
    ]
    return [decide(ratings, question, accepted, me, ledger) for question in questions], ledger


def test_an_answer_that_is_repeated_in_a_later_round_counts_once(trained_stars: Training) -> None:
    profiles = trained_stars.items
    shown = disclose(profiles)
    ratings = {item: ONE * (1 + n % 5) for n, item in enumerate(shown.items)}
    reports, _ = person(shown, ratings, "F", shown.items[:12], shown.items[6:20])
    both = [{item for item, _ in one.answers} for one in reports]
    assert both[0] & both[1]
    scorer = Scorer(profiles, shown)
    together = scorer.answers(reports)
    assert together.keys() == both[0] | both[1]
    assert together == scorer.answers(reversed(reports))
    found = scorer.evidence(reports)
    assert found.count == len(together)
    twice = scorer.evidence(reports[:1]) + scorer.evidence(reports[1:])
    assert twice.count > found.count
    # One that contradicts is of somebody else.
    item, value = reports[0].answers[0]
    other = report(shown, {item: value / ONE % 5 + 1})
    with pytest.raises(MidpointError, match="two people"):
        scorer.answers([*reports, other])


@pytest.mark.parametrize("category", ["F", "M"])
@pytest.mark.parametrize("scheme", ["dmpss", "mpssr", "ssfa"])
def test_the_private_top_is_exact_on_the_device_with_withheld_items_taken_out(
    trained_stars: Training, scheme: str, category: str
) -> None:
    profiles, top = trained_stars.items, 5
    shown = disclose(profiles, scheme)
    scorer = Scorer(profiles, shown)
    me = PrivateCategory({"gender": category})
    liked = correct(scorer.scores([]), shown, me, (), ())
    best = [one.item for one in liked][:30]  # she rates what she likes
    ratings = dict.fromkeys(best, 4 * ONE)
    reports, ledger = person(shown, ratings, category, tuple(sorted(best)))
    answers = scorer.answers(reports)
    assert answers.keys() < set(best) == set(ledger.decided)  # some are withheld
    everything = scorer.scores(reports)
    expected = correct(everything, shown, me, ledger.decided, ())[:top]
    listed = scorer.top(reports, top=top, margin=30)
    assert len(listed.items) == 2 * (top + 30) < len(everything.items)
    assert correct(listed, shown, me, ledger.decided, ())[:top] == expected
    # The control: a margin for what the analyst knows of is too small.
    narrow = scorer.top(reports, top=top, margin=0)
    assert correct(narrow, shown, me, ledger.decided, ())[:top] != expected


def test_scores_of_other_items_than_the_disclosure_are_refused(trained_stars: Training) -> None:
    profiles = trained_stars.items
    shown = disclose(profiles, "no")
    fewer = shown.model_copy(update={"items": shown.items[1:]})
    assert Scorer(profiles, shown).scores([]).items == shown.items
    with pytest.raises(MidpointError, match="other items"):
        Scorer(profiles, fewer)


def test_scores_are_predictions_in_the_order_of_items(trained_stars: Training) -> None:
    profiles = trained_stars.items
    shown = disclose(profiles)
    evidence = Evidence.of(profiles, np.array([1, 2, 3]), np.array([5.0, 1.0, 4.0]))
    estimate, scorer = posterior(evidence, profiles), Scorer(profiles, shown)
    found = scorer.scores_of(estimate)
    assert found.items == shown.items
    assert found.disclosure == shown.digest
    mean, deviation = estimate.predict(profiles)
    assert np.array(found.score) / ONE == pytest.approx(mean, abs=1 / ONE)
    assert np.array(found.deviation) / ONE == pytest.approx(deviation, abs=1 / ONE)
    assert (deviation > np.sqrt(profiles.noise_variance)).all()
    assert Scores.parse(found.raw) == found
    # A list that holds all items is that of all items, and takes no more work.
    assert scorer.top_of(estimate, top=1, margin=len(shown.items)) == found
    whole = scorer.score(estimate.stacked, [Wish(1, len(shown.items))])[0]
    assert whole.listed is None
    with pytest.raises(MidpointError, match="at least 1"):
        scorer.top_of(estimate, top=0, margin=10**6)
    some = scorer.top_of(estimate, top=1, margin=1)
    at = [shown.index[item] for item in some.items]
    assert len(at) == 4
    assert some.score == tuple(found.score[j] for j in at)
    assert np.abs(np.subtract(some.deviation, [found.deviation[j] for j in at])).max() <= 1
