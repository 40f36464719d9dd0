"""Section 6.3: over repeated, adaptive interactions the joint report says nothing of x0."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midpoint.analyst.disclose.chain import sign_entry
from midpoint.protocol import LearningProtocol, Population
from midpoint.user import (
    Accepted,
    DeviceSecret,
    Ledger,
    PrivateCategory,
    check_disclosure,
    decide,
)
from midpoint.user.core.coins import REVEAL
from midpoint.wire import (
    ONE,
    Disclosure,
    Entry,
    FeatureNames,
    RatingScale,
    RefusedError,
    Signed,
    SigningKey,
    Solicitation,
    from_fixed,
    to_fixed,
)
from tests.support.people.invented import WIDE, World, world

M, ROUNDS = 24, 4


def conversation(made: World, k: int, name: str, seed: int) -> list[tuple[list[int], list[float]]]:
    """Return all rounds of one person; each asks what the answers so far suggest.

    A decision is final: an item asked again is answered as before, or stays withheld.
    """
    profiles, scheme = made.profiles, LearningProtocol(name)
    disclosure = scheme.disclose(profiles)
    assert disclosure.reveal is not None
    rng = np.random.default_rng(seed)
    s = from_fixed(to_fixed(profiles.centre + rng.normal(size=M)))
    X, coins = rng.random(M), rng.random((M, 4))
    ratio = np.empty((M, 2))
    ratio[np.argsort(profiles.item_ids)] = np.array(disclosure.reveal) / ONE
    p = 0.4 / ratio[:, k]
    coins[:, REVEAL] = X / p
    order, rounds = np.arange(M), []
    for _ in range(ROUNDS):
        asked = np.sort(order[:8])
        rated = asked[X[asked] < p[asked]]
        value = s[rated] + profiles.offset[rated, k]
        people = Population(np.zeros(len(rated), dtype=int), rated, value, np.array([k]))
        sent = scheme.report(disclosure, profiles, people, coins[rated])
        rounds.append((sent.item.tolist(), sent.value.tolist()))
        # The next question depends on what was said, and on what was left out.
        order = np.roll(order, 5 + len(sent.item) + (sent.value > 3).sum())
    return rounds


@settings(max_examples=min(30, settings().max_examples))
@given(st.integers(0, 10**6))
def test_twins_hold_the_same_conversation(seed: int) -> None:
    made = world(M=M, scale=WIDE, seed=seed)
    first = conversation(made, 0, "mpss", seed)
    assert first == conversation(made, 1, "mpss", seed)


def test_without_the_shift_their_conversations_part() -> None:
    made = world(M=M, scale=WIDE)
    assert conversation(made, 0, "ss", 1) != conversation(made, 1, "ss", 1)


PEOPLE = 500
"""Devices of each category."""
NOISE = 0.12
"""More than two samples of one distribution of so few outcomes are apart, by far."""
STARS = tuple(ONE * star for star in range(1, 6))
GENDER = FeatureNames(name="gender", categories=("F", "M"))
RATED = (0.9, 0.3)
"""How likely each category rates an item."""
GIVEN = np.array([[1, 1, 2, 4, 8], [8, 4, 2, 1, 1]]) / 16
"""Each category's distribution over the stars. Shape (2, 5)."""
KEY = SigningKey(bytes(range(32)))
Outcome = tuple[object, ...]


def disclosure_with(rate: float, scheme: str = "dmpss") -> Disclosure:
    """Disclose of two items what is true of people, but for how likely category 0 rates them."""
    levels = tuple(tuple(int(share * ONE) for share in row) for row in GIVEN.tolist())
    reveal = ((int(ONE * RATED[1] / rate), ONE),) * 2 if scheme == "dmpss" else None
    return Disclosure(
        scheme=scheme,
        features=(GENDER,),
        scale=RatingScale(low=STARS[0], high=STARS[-1], levels=STARS),
        items=("a", "b"),
        levels=(levels,) * 2,
        reveal=reveal,
    )


def accept(*disclosures: Disclosure) -> list[Accepted]:
    """Publish disclosures one after the other, and accept each as a device does."""
    chain: list[Signed] = []
    found: list[Accepted] = []
    for disclosure in disclosures:
        previous = chain[-1].open(Entry) if chain else None
        chain.append(sign_entry(disclosure, KEY, previous, time=len(chain)))
        found.append(check_disclosure(disclosure.raw, chain, found[-1].pin if found else None))
    return found


class Device:
    """One person with her device; drawn by the test, asked by it, and seen by the analyst."""

    def __init__(self, k: int, rng: np.random.Generator, rated: float) -> None:
        self.rng = rng
        self.category = PrivateCategory({"gender": GENDER.categories[k]})
        self.ledger = Ledger(DeviceSecret(rng.bytes(32)))
        self.ratings = {
            item: STARS[rng.choice(5, p=GIVEN[k])] for item in "ab" if rng.random() < rated
        }

    def ask(self, accepted: Accepted, number: int, *items: str) -> Outcome:
        """Return all that the analyst sees: the answers, or the refusal."""
        digest = accepted.disclosure.digest
        asked = Solicitation(disclosure=digest, round=number, items=items, open=False)
        try:
            return decide(self.ratings, asked, accepted, self.category, self.ledger).answers
        except RefusedError as refused:
            return (refused.code,)

    def forget(self, *, coins: bool) -> None:
        """Do what no device does: start a new ledger, with the same coins or with others."""
        self.ledger = Ledger(DeviceSecret(self.rng.bytes(32)) if coins else self.ledger.secret)


def asked_again(device: Device, *, broken: bool) -> Outcome:
    """Ask the same question in two rounds; broken: with fresh coins."""
    (accepted,) = SAME
    first = device.ask(accepted, 0, "a")
    if broken:
        device.forget(coins=True)
    return first, device.ask(accepted, 1, "a")


def under_a_new_disclosure(device: Device, *, broken: bool) -> Outcome:
    """Ask again when the numbers have changed; broken: a withheld item is tossed again."""
    before, after = CHANGED
    first = device.ask(before, 0, "a")
    if broken and not first:
        device.forget(coins=True)
    return first, device.ask(after, 1, "a")


def with_another_rating(device: Device, *, broken: bool) -> Outcome:
    """Ask again when her rating fell to the least; broken: it is answered, by the same coins."""
    (accepted,) = ALL_RATED
    first = device.ask(accepted, 0, "a")
    device.ratings = dict.fromkeys("ab", STARS[0])
    if broken:
        device.forget(coins=False)
    return first, device.ask(accepted, 1, "a")


SAME, ALL_RATED = accept(disclosure_with(RATED[0])), accept(disclosure_with(1, "dmp"))
CHANGED = accept(disclosure_with(RATED[0]), disclosure_with(0.6))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "rated"),
    [(asked_again, RATED), (under_a_new_disclosure, RATED), (with_another_rating, (1, 1))],
)
@pytest.mark.parametrize("broken", [False, True])
def test_what_devices_say_over_two_rounds_tells_nothing_unless_a_decision_is_not_final(
    scenario: Callable[..., Outcome], rated: tuple[float, float], broken: bool
) -> None:
    """The joint distribution of all that is seen, refusals too, is the same for both categories."""
    rng = np.random.default_rng(8)
    first, second = (
        Counter(scenario(Device(k, rng, rated[k]), broken=broken) for _ in range(PEOPLE))
        for k in (0, 1)
    )
    seen = first.keys() | second.keys()
    distance = sum(abs(first[one] - second[one]) for one in seen) / (2 * PEOPLE)
    assert len(seen) > 3
    assert distance > 2 * NOISE if broken else distance < NOISE
