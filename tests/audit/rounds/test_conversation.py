from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from midpoint.audit.rounds.conversation import DeviceKind, People
from midpoint.data import Ratings, load
from midpoint.user import (
    Accepted,
    DeviceSecret,
    Ledger,
    PrivateCategory,
    check_disclosure,
    decide,
    toss,
)
from midpoint.wire import Disclosure, Entry, Signed, SigningKey, Solicitation, from_fixed, to_fixed
from tests.support.audits.meetings import BUDGET, ROUNDS, Meetings

KEY = SigningKey(bytes(range(32)))


@pytest.fixture(scope="module")
def meetings() -> Meetings:
    return Meetings()


def test_each_round_asks_new_items_and_what_was_left_open(meetings: Meetings) -> None:
    said = meetings.hold()
    before = np.zeros_like(said.asked[0])
    answered = np.zeros_like(before)
    for asked, now in zip(said.asked, said.answered, strict=True):
        assert ((asked & ~before).sum(axis=1) <= BUDGET).all()
        assert ((asked & before) == (before & ~answered)).all()
        assert not (now & ~asked).any()
        before, answered = before | asked, answered | now
    assert before.any(axis=1).all()


def test_questions_depend_on_answers(meetings: Meetings) -> None:
    said = meetings.hold()
    assert (said.asked[0] == said.asked[0][0]).all()
    assert not (said.asked[1] == said.asked[1][0]).all()


def test_nothing_is_answered_before_it_is_rated(meetings: Meetings) -> None:
    for device in DeviceKind:
        said = meetings.hold(device)
        for number in range(ROUNDS):
            early = np.isnan(meetings.rated.value) | (meetings.rated.arrival > number)
            assert not (said.answered[number] & early).any()


def test_a_final_decision_stands_and_others_do_not(meetings: Meetings) -> None:
    decided = meetings.hold()
    assert (decided.answered.sum(axis=0) <= 1).all()
    ready = ~np.isnan(meetings.rated.value)
    for device, changes in ((DeviceKind.FORGETFUL, True), (DeviceKind.TOSSING, True)):
        said = meetings.hold(device)
        both = said.answered[0] & said.answered[-1]
        moved = said.value[0][both] != said.value[-1][both]
        late = said.asked[0] & ready & (meetings.rated.arrival == 0)
        withheld_then_revealed = late & ~said.answered[0] & said.answered[-1]
        assert moved.any() == changes
        assert withheld_then_revealed.any() == changes
    # Somebody who could answer at once and did not has withheld, and does so for ever.
    first = decided.asked[0] & ready & (meetings.rated.arrival == 0)
    withheld = first & ~decided.answered[0]
    assert withheld.any()
    assert not (withheld & decided.ever_answered).any()


def test_the_forgetful_change_only_with_the_disclosure(meetings: Meetings) -> None:
    said = meetings.hold(DeviceKind.FORGETFUL)
    for one, other, same in ((0, 1, True), (2, 3, True), (1, 2, False)):
        both = said.answered[one] & said.answered[other]
        assert (said.value[one][both] == said.value[other][both]).all() == same


@pytest.mark.parametrize("scheme", ["dmpss", "cmpss", "cmp"])
def test_devices_of_the_product_say_exactly_this(scheme: str) -> None:
    """The simulation against the real device: ledger, secret, checks and all."""
    meetings = Meetings(scheme)
    some, names = 6, [str(one) for one in meetings.people.item_ids[meetings.items]]
    secrets = [DeviceSecret(bytes([k]) * 32) for k in range(some)]
    everyone = meetings.rated
    meetings.rated = People(
        everyone.items, everyone.value[:some], everyone.arrival[:some], everyone.category[:some]
    )
    said = meetings.hold(coins=np.stack([toss(secret, names) for secret in secrets]))
    chain = [version.disclosure for version in (meetings.versions[0], meetings.versions[-1])]
    for person, secret in enumerate(secrets):
        ledger, own = Ledger(secret), meetings.rated
        category = PrivateCategory({"gender": "FM"[own.category[person]]})
        for number, version in enumerate(meetings.versions):
            disclosure, asked = version.disclosure, said.asked[number, person]
            known = chain[: 1 + chain.index(disclosure)]
            there = ~np.isnan(own.value[person]) & (own.arrival[person] <= number)
            rated = {names[j]: int(to_fixed(own.value[person, j])) for j in np.flatnonzero(there)}
            question = Solicitation(
                disclosure=disclosure.digest,
                round=number,
                items=tuple(sorted(names[j] for j in np.flatnonzero(asked))),
                open=False,
            )
            report = decide(rated, question, accepted(known), category, ledger)
            expected = {
                names[j]: float(said.value[number, person, j])
                for j in np.flatnonzero(said.answered[number, person])
            }
            assert {item: float(from_fixed(value)) for item, value in report.answers} == expected


def accepted(disclosures: list[Disclosure]) -> Accepted:
    """Accept the last of the analyst's disclosures."""
    entries: list[Entry] = []
    for number, disclosure in enumerate(disclosures):
        previous = entries[-1].digest if entries else None
        entries.append(
            Entry(
                sequence=number,
                disclosure=disclosure.digest,
                previous=previous,
                time=number,
                key=KEY.public,
            )
        )
    signed = [Signed.seal(entry, KEY) for entry in entries]
    return check_disclosure(disclosures[-1].raw, signed, None)


def with_times(ratings: Ratings) -> Ratings:
    """Have everyone rate the items in falling order."""
    return replace(ratings, time=(1000 - ratings.item).astype(np.int64))


def test_ratings_arrive_in_the_order_of_their_times(meetings: Meetings) -> None:
    people = with_times(meetings.people)
    rated = People.of(people, meetings.items, meetings.rated.category, ROUNDS, seed=0)
    for arrival, value in zip(rated.arrival, rated.value, strict=True):
        known = arrival[~np.isnan(value)]  # by item, ascending
        assert (np.diff(known) <= 0).all()
    counts = np.bincount(meetings.rated.arrival[~np.isnan(meetings.rated.value)])
    assert len(counts) == ROUNDS
    assert counts.max() < 2 * counts.min()
    shuffled = [a[~np.isnan(v)] for a, v in zip(meetings.rated.arrival, rated.value, strict=True)]
    assert not all((np.diff(one) <= 0).all() for one in shuffled)


@pytest.mark.real_data
def test_real_times_are_used(real: Callable[[str], Path]) -> None:
    ratings = load(real("ml-100k.zip"))
    assert ratings.time is not None
    users = ratings.feature("gender").codes.astype(np.intp)
    rated = People.of(ratings, np.arange(ratings.n_items), users, ROUNDS, seed=0)
    times, arrival = ratings.time, rated.arrival[ratings.user, ratings.item]
    for user in range(0, ratings.n_users, 100):
        hers = ratings.of_user(user)
        order = np.argsort(times[hers], kind="stable")
        assert (np.diff(arrival[hers][order]) >= 0).all()
