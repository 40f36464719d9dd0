import numpy as np
import pytest

from midpoint.analyst import (
    Evidence,
    ItemProfiles,
    Training,
    answers_of,
    disclose,
    evidence_of,
    posterior,
    private_top,
    publish,
    score,
)
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


def read(profiles: ItemProfiles, shown: Disclosure, *answers: dict[str, float]) -> Evidence:
    return evidence_of(profiles, answers_of([report(shown, one) for one in answers], shown))


def test_a_report_is_the_evidence_of_its_answers(trained_stars: Training) -> None:
    profiles = trained_stars.items
    some = np.array([11, 3, 40])
    answers = dict(zip(profiles.item_ids[some].tolist(), [4.0, 1.0, 2.0], strict=True))
    found = read(profiles, disclose(profiles), answers)
    expected = Evidence.of(profiles, some, np.array([4.0, 1.0, 2.0]))
    assert found.information == pytest.approx(expected.information)
    assert found.moment == pytest.approx(expected.moment)
    assert found.count == 3


def test_an_empty_report_or_none_is_no_evidence(trained_stars: Training) -> None:
    shown = disclose(trained_stars.items)
    for reports in ([report(shown, {})], []):
        found = evidence_of(trained_stars.items, answers_of(reports, shown))
        assert found.count == 0
        assert not found.information.any()


def test_what_was_not_asked_under_this_disclosure_is_refused(trained_stars: Training) -> None:
    profiles = trained_stars.items
    shown, other = disclose(profiles), disclose(profiles, "mpr")
    with pytest.raises(MidpointError, match="made under disclosure"):
        answers_of([report(other, {"0001": 3})], shown)
    with pytest.raises(MidpointError, match="'nope' is not in the disclosure"):
        answers_of([report(shown, {"nope": 3})], shown)


@pytest.mark.parametrize(
    ("scheme", "legal", "illegal"),
    [
        ("dmpss", [1, 3, 5], [0, 6, 2.5, 2.0**30]),
        ("mpr", [1, 5], [0.9, 3.5]),
        ("no", [1, 5], [0, 3.5]),
        ("fa", [1, 3.7, 5], [0.9, 5.1]),
    ],
)
def test_values_that_no_device_sends_are_refused(
    trained_stars: Training, scheme: str, legal: list[float], illegal: list[float]
) -> None:
    shown = disclose(trained_stars.items, scheme)
    item = shown.items[0]
    for value in legal:
        assert answers_of([report(shown, {item: value})], shown) == {item: round(value * ONE)}
    for value in illegal:
        with pytest.raises(MidpointError, match=f"item '{item}' with .* from 1 to 5"):
            answers_of([report(shown, {item: value})], shown)


def test_a_shifted_value_may_leave_the_scale_by_its_items_offset(trained: Training) -> None:
    shown = disclose(trained.items, "mp")
    assert shown.offset is not None
    least, most = shown.scale.low - max(shown.offset[0]), shown.scale.high - min(shown.offset[0])
    assert least < shown.scale.low < shown.scale.high < most
    for value, fine in ((least, True), (most, True), (least - 1, False), (most + 1, False)):
        sent = report(shown, {shown.items[0]: value / ONE})
        if fine:
            assert answers_of([sent], shown) == {shown.items[0]: value}
        else:
            with pytest.raises(MidpointError, match="no rating from"):
                answers_of([sent], shown)


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
    together = answers_of(reports, shown)
    assert together.keys() == both[0] | both[1]
    assert together == answers_of(reversed(reports), shown)
    found = evidence_of(profiles, together)
    assert found.count == len(together)
    twice = evidence_of(profiles, dict(reports[0].answers)) + evidence_of(
        profiles, dict(reports[1].answers)
    )
    assert twice.count > found.count
    # One that contradicts is of somebody else.
    item, value = reports[0].answers[0]
    other = report(shown, {item: value / ONE % 5 + 1})
    with pytest.raises(MidpointError, match="two people"):
        answers_of([*reports, other], shown)


@pytest.mark.parametrize("category", ["F", "M"])
@pytest.mark.parametrize("scheme", ["dmpss", "mpssr", "ssfa"])
def test_the_private_top_is_exact_on_the_device_with_withheld_items_taken_out(
    trained_stars: Training, scheme: str, category: str
) -> None:
    profiles, top = trained_stars.items, 5
    shown = disclose(profiles, scheme)
    plain = score(profiles, posterior(Evidence.none(profiles), profiles), shown)
    me = PrivateCategory({"gender": category})
    best = [one.item for one in correct(plain, shown, me, (), ())][:30]  # she rates what she likes
    ratings = dict.fromkeys(best, 4 * ONE)
    reports, ledger = person(shown, ratings, category, tuple(sorted(best)))
    answers = answers_of(reports, shown)
    assert answers.keys() < set(best) == set(ledger.decided)  # some are withheld
    belief = posterior(evidence_of(profiles, answers), profiles)
    everything = score(profiles, belief, shown)
    expected = correct(everything, shown, me, ledger.decided, ())[:top]
    listed = private_top(profiles, belief, shown, top=top, margin=30)
    assert len(listed.items) == 2 * (top + 30) < len(everything.items)
    assert correct(listed, shown, me, ledger.decided, ())[:top] == expected
    # The control: a margin for what the analyst knows of is too small.
    narrow = private_top(profiles, belief, shown, top=top, margin=0)
    assert correct(narrow, shown, me, ledger.decided, ())[:top] != expected


def test_scores_of_other_items_than_the_disclosure_are_refused(trained_stars: Training) -> None:
    profiles = trained_stars.items
    shown = disclose(profiles, "no")
    fewer = shown.model_copy(update={"items": shown.items[1:]})
    belief = posterior(Evidence.none(profiles), profiles)
    score(profiles, belief, shown)
    with pytest.raises(MidpointError, match="other items"):
        score(profiles, belief, fewer)
    with pytest.raises(MidpointError, match="other items"):
        private_top(profiles, belief, fewer, top=1, margin=0)


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
