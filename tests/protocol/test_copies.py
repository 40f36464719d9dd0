"""Copies of whole data sets: everyone's ratings as her own device would reveal them."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from midpoint.analyst import Factorizer, disclose, prepare
from midpoint.data import Ratings, Simulation, simulate
from midpoint.data.simulation import SimulatedFeature
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Population, copies
from midpoint.protocol.copies import obfuscate, obfuscated_copy
from midpoint.wire import SCHEMES, Disclosure, Refusal, RefusedError

FEATURES = (
    SimulatedFeature("gender", ("F", "M"), bias_sd=0.3, selection_sd=0.3, missing=0.1),
    SimulatedFeature("age", ("young", "middle", "old"), bias_sd=0.2, selection_sd=0.2),
)


@pytest.fixture(scope="module")
def people(stars: Simulation) -> Ratings:
    return simulate(replace(stars.config, features=FEATURES), seed=1).ratings


@pytest.fixture(scope="module", params=["dmpss", pytest.param("cmpss", marks=pytest.mark.slow)])
def shown(request: pytest.FixtureRequest, people: Ratings) -> Disclosure:
    profiles = Factorizer(dimension=3, iterations=4).fit(people, "gender")
    return disclose(prepare(profiles, people, SCHEMES[request.param]), request.param)


def as_pairs(ratings: Ratings) -> dict[tuple[str, str], float]:
    names = ratings.user_ids[ratings.user].tolist(), ratings.item_ids[ratings.item].tolist()
    return dict(zip(zip(*names, strict=True), ratings.value.tolist(), strict=True))


def test_a_copy_is_what_the_protocol_sends_with_the_same_coins(people: Ratings) -> None:
    both = Factorizer(dimension=3, iterations=4).fit(people, ["gender", "age"])
    disclosure = disclose(both, "dmpss")
    copy, summary = obfuscated_copy(people, disclosure, seed=3)
    gender, age = people.feature("gender"), people.feature("age")
    known = gender.codes >= 0
    some = people.select_users(known)
    cell = 3 * some.feature("gender").codes + some.feature("age").codes
    assert disclosure.cell({"gender": gender.categories[1], "age": age.categories[2]}) == 5
    index = both.index_of(some.item_ids)[some.item]
    sent = LearningProtocol("dmpss").report(
        disclosure,
        both,
        Population(some.user, index, some.value, cell),
        np.random.default_rng(3),
    )
    users = some.user_ids[some.user[sent.kept]].tolist()
    pairs = zip(users, both.item_ids[sent.item].tolist(), strict=True)
    assert as_pairs(copy) == dict(zip(pairs, sent.value.tolist(), strict=True))
    assert summary.people_dropped == (~known).sum() > 0
    assert summary.revealed == len(copy) == len(some) - summary.withheld
    assert summary.ratings == len(people)
    assert summary.items_dropped == 0


def test_the_public_form_is_the_copy(people: Ratings, shown: Disclosure) -> None:
    whole, _ = obfuscated_copy(people, shown, seed=1)
    assert as_pairs(obfuscate(people, shown, seed=1)) == as_pairs(whole)
    everything = obfuscate(people, shown, seed=1, alpha=0.0)
    known = people.select_users(people.feature("gender").codes >= 0)
    assert as_pairs(everything) == as_pairs(known)


def test_a_terminal_shows_how_far_it_is(
    people: Ratings, shown: Disclosure, capsys: pytest.CaptureFixture[str]
) -> None:
    obfuscate(people, shown, seed=1)
    assert capsys.readouterr().err == ""  # no terminal
    obfuscate(people, shown, seed=1, progress=True)
    assert "Obfuscating" in capsys.readouterr().err


def test_a_seed_repeats_the_coins_and_without_one_they_are_fresh_and_fair(
    people: Ratings, shown: Disclosure
) -> None:
    first, again, other = (obfuscate(people, shown, seed=seed) for seed in (1, 1, 2))
    assert as_pairs(first) == as_pairs(again) != as_pairs(other)
    fresh = [obfuscate(people, shown) for _ in range(2)]
    assert as_pairs(fresh[0]) != as_pairs(fresh[1])
    for copy in fresh:
        assert len(copy) == pytest.approx(len(first), rel=0.04)
        assert copy.value.mean() == pytest.approx(first.value.mean(), abs=0.1)


def test_nobody_is_parted_by_how_many_are_handled_at_once(
    people: Ratings, shown: Disclosure, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, seen = obfuscate(people, shown, seed=1), list[int]()
    known = people.select_users(people.feature("gender").codes >= 0)
    for size in (1, 37, 500):
        monkeypatch.setattr(copies, "CHUNK", size)
        copy, _ = obfuscated_copy(
            people, shown, seed=1, progress=lambda done, _total: seen.append(done)
        )
        assert as_pairs(copy) == as_pairs(whole)
        assert seen[-1] == len(known)
    assert set(seen) <= set(known.user_offsets.tolist())


def test_what_cannot_be_protected_is_refused(people: Ratings, shown: Disclosure) -> None:
    strange = replace(people, item_ids=np.array([f"x{j}" for j in range(people.n_items)]))
    with pytest.raises(MidpointError, match="called the same"):
        obfuscate(strange, shown)
    with pytest.raises(MidpointError, match="not on the disclosure's scale"):
        obfuscate(replace(people, value=people.value + np.float32(0.5)), shown)
    levels = ((-1, *shown.levels[0][0][1:]), *shown.levels[0][1:]) if shown.levels else ()
    wrong = shown.model_copy(update={"levels": (levels, *(shown.levels or ())[1:])})
    with pytest.raises(RefusedError) as caught:
        obfuscate(people, wrong)
    assert caught.value.code == Refusal.BAD_DISTRIBUTION


def test_a_table_that_was_not_loaded_is_refused(shown: Disclosure) -> None:
    with pytest.raises(MidpointError, match=r"a DataFrame is no ratings yet; load it first"):
        obfuscate(pl.DataFrame({"user": [1], "item": [2], "rating": [3]}), shown)  # type: ignore[arg-type]
