"""Algorithm 2 on sets: all that is sent is a set, and it is independent of the category.

With p_jk the probability that category k has item j, items chosen one by one, item j is revealed
with p_jk min_m p_jm / p_jk = min_m p_jm: the same for everybody. Categories differ much here, so
that an attacker who knows every p reads raw sets; after the scheme the same attacker is at chance.
"""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.analyst import Factorizer, prepare
from midpoint.audit.attackers.auc import auc, chance_deviation
from midpoint.data import PRESETS, simulate
from midpoint.data.simulation import SimulatedFeature
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Population, state
from midpoint.protocol.obfuscation import obfuscate_population
from midpoint.user import Parameters
from midpoint.wire import ONE, SCHEMES, Disclosure, RatingScale, as_rows
from tests.support.people.made_up import UNARY, disclosure, unary_disclosure

ITEMS, PEOPLE = 60, 4_000
Float = NDArray[np.float64]


def world(seed: int = 0) -> tuple[Float, Population]:
    """Draw probabilities of two categories, and people who choose by them, item by item."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(-1.5, 0.8, (ITEMS, 1)) + rng.normal(0, 0.4, (ITEMS, 2))
    p, category = 1 / (1 + np.exp(-logit)), rng.integers(0, 2, PEOPLE)
    user, item = np.nonzero(rng.random((PEOPLE, ITEMS)) < p.T[category])
    return p, Population(user, item, np.ones(len(user)), category)


def honest(p: Float, scheme: str = "dmpss") -> Disclosure:
    """Disclose what is so."""
    reveal = np.floor(p.min(axis=1, keepdims=True) / p * ONE).astype(np.int64)
    reveal[np.arange(ITEMS), p.argmin(axis=1)] = ONE
    made = unary_disclosure(scheme, n_items=ITEMS)
    return made.model_copy(update={"reveal": as_rows(reveal)})


def sent_sets(people: Population, shown: Disclosure) -> NDArray[np.bool_]:
    """Return which items everybody's device reveals. Shape (N, M)."""
    starts = np.searchsorted(people.user, np.arange(PEOPLE + 1))
    value = np.full(len(people.item), ONE)
    coins = np.random.default_rng(1).random((len(value), 4))
    rows = starts, people.item.astype(np.intp), value, people.category
    done = obfuscate_population(*rows, Parameters.of(shown), coins)
    assert (done.value[done.keep] == ONE).all()
    table = np.zeros((PEOPLE, ITEMS), dtype=np.bool_)
    table[people.user[done.keep], people.item[done.keep]] = True
    return table


def log_odds(table: NDArray[np.bool_], p: Float) -> Float:
    """Weigh sets as somebody does who knows every probability."""
    has, lacks = np.log(p[:, 1] / p[:, 0]), np.log((1 - p[:, 1]) / (1 - p[:, 0]))
    return np.asarray(table @ has + ~table @ lacks)


@pytest.mark.parametrize("scheme", ["ss", "dmpss"])
def test_sets_are_independent_of_the_category(scheme: str) -> None:
    p, people = world()
    raw = sent_sets(people, unary_disclosure("no", n_items=ITEMS))
    sent = sent_sets(people, honest(p, scheme))
    chance = 3.5 * chance_deviation(people.category)
    assert auc(log_odds(raw, p), people.category) > 0.85  # the control: raw sets are read
    assert abs(auc(log_odds(sent, p), people.category) - 0.5) < chance
    assert abs(auc(sent.sum(axis=1), people.category) - 0.5) < chance
    both = [sent[people.category == k].mean(axis=0) for k in (0, 1)]
    least = p.min(axis=1)
    error = np.sqrt(4 * least * (1 - least) / PEOPLE)
    assert (np.abs(both[0] - both[1]) < 4.5 * error).all()
    assert sent.mean() == pytest.approx(least.mean(), rel=0.05)


def test_a_lie_about_one_item_shows() -> None:
    """The control of the theorem: with another number disclosed, sets are not independent."""
    p, people = world()
    j = int(np.argmin(p.min(axis=1) / p.max(axis=1)))
    shown = honest(p)
    assert shown.reveal is not None
    rows = [*shown.reveal]
    rows[j] = (ONE, ONE)
    sent = sent_sets(people, shown.model_copy(update={"reveal": tuple(rows)}))
    apart = sent[people.category == 0, j].mean() - sent[people.category == 1, j].mean()
    assert abs(apart) > 0.05


@pytest.mark.slow
def test_counterparts_hide_what_goes_together_in_sets() -> None:
    """Categories that differ in what goes together: item by item it leaks, jointly less."""
    config = PRESETS["simulated-plays"]
    gender = SimulatedFeature("gender", ("F", "M"), selection_sd=0.6)
    ratings = simulate(
        replace(config, users=1_200, items=120, ratings=24_000, features=(gender,))
    ).ratings
    profiles = Factorizer(dimension=4).fit(ratings, "gender")
    category = ratings.feature("gender").codes.astype(np.intp)
    people = Population(ratings.user, ratings.item, ratings.value, category)
    odds = np.log(profiles.estimates().probability)
    reads = {}
    for scheme in ("no", "dmpss", "cmpss"):
        protocol = LearningProtocol(scheme)
        learned = prepare(profiles, ratings, protocol.scheme)
        sent = protocol.report(
            protocol.disclose(learned), learned, people, np.random.default_rng(0)
        )
        whose = np.repeat(np.arange(ratings.n_users), np.diff(sent.user_offsets))
        weight = (odds[:, 1] - odds[:, 0])[sent.item]
        reads[scheme] = abs(auc(np.bincount(whose, weight, ratings.n_users), category) - 0.5)
        assert set(sent.value.tolist()) == {1.0}
    assert reads["no"] > 0.2
    assert reads["dmpss"] < reads["no"] / 2
    assert reads["cmpss"] < reads["no"] / 2


def test_schemes_that_change_values_are_not_for_sets() -> None:
    fit = [name for name, scheme in SCHEMES.items() if scheme.is_for_sets]
    assert fit == ["no", "ss", "dmpss", "cmpss"]
    safe = [n for n in fit if SCHEMES[n].protects(discrete=True, unary=True)]
    assert safe == ["ss", "dmpss", "cmpss"]
    graded = disclosure("mpss")
    with pytest.raises(ValueError, match="'mpss' is not for unary data"):
        Disclosure(**{**graded.model_dump(), "scale": UNARY.model_dump()})
    profiles = Factorizer(dimension=2).fit(
        simulate(PRESETS["simulated-plays"]).ratings.select_users(np.arange(1_500) < 100), "gender"
    )
    with pytest.raises(MidpointError, match="changes values, and unary data has none"):
        LearningProtocol("mp").disclose(profiles)


def test_the_scale_of_sets_is_one_level_at_its_upper_end() -> None:
    assert UNARY.is_unary
    with pytest.raises(ValueError, match="do not run from low to high"):
        RatingScale(low=0, high=2 * ONE, levels=(ONE,))
    with pytest.raises(ValueError, match="does not ascend"):
        RatingScale(low=ONE, high=ONE, levels=(ONE,))


def test_what_is_stated_of_sets_is_joint() -> None:
    for name in ("ss", "dmpss", "cmpss"):
        assert state(name, discrete=True, unary=True).reach == "jointly"
        assert state(name, discrete=True, unary=True, alpha=0.5).reach == "nothing"
    assert state("no", discrete=True, unary=True).reach == "nothing"
