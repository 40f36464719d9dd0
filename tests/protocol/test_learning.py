import numpy as np
import pytest

from midpoint.analyst import itemwise_scheme
from midpoint.errors import MidpointError
from midpoint.protocol import (
    PROTOCOLS,
    LearningProtocol,
    Population,
)
from midpoint.user import Parameters, adjust, check_numbers, obfuscate, taste_move
from midpoint.wire import from_fixed, to_fixed
from tests.support.people.invented import WIDE, raters, ready, world

MADE = world(M=15, seed=1)

PEOPLE = raters(MADE, 40, seed=2)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_discloses_reports_and_estimates(name: str) -> None:
    one, profiles = LearningProtocol(name), ready(MADE, name)
    disclosure = one.disclose(profiles)
    check_numbers(disclosure)
    sent = one.report(disclosure, profiles, PEOPLE, np.random.default_rng(3))
    coins = np.random.default_rng(3).random((len(PEOPLE.user), 4))
    again = one.report(disclosure, profiles, PEOPLE, coins)
    assert np.array_equal(sent.value, again.value)
    found = one.estimate(profiles, sent)
    assert found.shape == (80, 3)
    assert np.isfinite(found).all()
    # What was revealed, of whom, and of which item.
    counts = np.diff(sent.user_offsets)
    assert np.array_equal(np.bincount(PEOPLE.user[sent.kept], minlength=80), counts)
    assert np.array_equal(PEOPLE.item[sent.kept], sent.item)
    reveals_some = len(sent.kept) > 0
    assert reveals_some == (name not in {"nothing", "full"})


def test_the_default_is_discrete_on_a_discrete_scale_and_mpss_on_a_continuous_one() -> None:
    assert itemwise_scheme(MADE.profiles.scale) == "dmpss"
    assert itemwise_scheme(WIDE) == "mpss"


def test_nothing_learns_nothing_and_no_is_no_obfuscation() -> None:
    rng = np.random.default_rng(4)
    nothing, no = LearningProtocol("nothing"), LearningProtocol("no")
    sent = nothing.report(nothing.disclose(MADE.profiles), MADE.profiles, PEOPLE, rng)
    found = nothing.estimate(MADE.profiles, sent)
    assert np.array_equal(found, np.broadcast_to(MADE.profiles.profile_mean, found.shape))
    sent = no.report(no.disclose(MADE.profiles), MADE.profiles, PEOPLE, rng)
    assert np.array_equal(sent.value, PEOPLE.value)
    assert not np.array_equal(no.estimate(MADE.profiles, sent), found)


def test_alpha_mixes_in_ratings_as_they_are() -> None:
    coins = np.random.default_rng(6).random((len(PEOPLE.user), 4))
    sent = {
        alpha: LearningProtocol("mpss", alpha=alpha).report(
            LearningProtocol("mpss").disclose(MADE.profiles), MADE.profiles, PEOPLE, coins
        )
        for alpha in (0.0, 0.5, 1.0)
    }
    assert np.array_equal(sent[0.0].value, PEOPLE.value)
    as_is = [float((s.value == PEOPLE.value[s.kept]).mean()) for s in sent.values()]
    assert as_is[0] == 1
    assert as_is[1] == pytest.approx(0.6, abs=0.15)
    assert as_is[2] < 0.1


@pytest.mark.parametrize("name", ["cmp", "cmpss"])
def test_people_are_reported_as_their_own_devices_would(name: str) -> None:
    """One after another, with the code of a device, against all at once."""
    profiles, one = ready(MADE, name), LearningProtocol(name)
    disclosure = one.disclose(profiles)
    coins = np.random.default_rng(9).random((len(PEOPLE.user), 4))
    sent = one.report(disclosure, profiles, PEOPLE, coins)
    moves = one.moves(disclosure, profiles, PEOPLE, coins, sent)
    parameters = Parameters.of(disclosure)
    index, value = profiles.message_index[PEOPLE.item], to_fixed(PEOPLE.value)
    everything, kept, values = np.arange(profiles.n_items), [], []
    for person, cell in enumerate(PEOPLE.category.tolist()):
        mine = np.flatnonzero(PEOPLE.user == person)
        hers = adjust(parameters, cell, everything, index[mine], value[mine])
        done = obfuscate(index[mine], value[mine], cell, parameters, coins[mine], hers)
        kept += mine[done.keep].tolist()
        values += from_fixed(done.value[done.keep]).tolist()
        said = index[mine[done.keep]], done.value[done.keep]
        alone = taste_move(disclosure, cell, (index[mine], value[mine]), said)
        assert np.array_equal(moves[person], alone)
    assert kept == sent.kept.tolist()
    assert values == sent.value.tolist()
    assert np.abs(moves).max() > 16
    if name == "cmp":
        assert len(kept) == len(PEOPLE.user)
    else:
        assert 0.3 < len(kept) / len(PEOPLE.user) < 0.95


def test_without_counterparts_nothing_moves() -> None:
    dmpss, coins = LearningProtocol("dmpss"), np.random.default_rng(10)
    disclosure = dmpss.disclose(MADE.profiles)
    sent = dmpss.report(disclosure, MADE.profiles, PEOPLE, coins)
    assert dmpss.moves(disclosure, MADE.profiles, PEOPLE, coins, sent).shape == (80, 0)


@pytest.mark.parametrize("name", ["dmp", "cmp", "cmpss"])
def test_everyone_keeps_the_same_share(name: str) -> None:
    """Coins alike for all categories thin what any scheme reveals, and change no value."""
    profiles, coins = ready(MADE, name), np.random.default_rng(5).random((len(PEOPLE.user), 4))
    sent = [
        protocol.report(protocol.disclose(profiles), profiles, PEOPLE, coins)
        for protocol in (LearningProtocol(name), LearningProtocol(name, keep=0.5))
    ]
    some = np.isin(sent[0].kept, sent[1].kept)
    assert sent[0].kept[some].tolist() == sent[1].kept.tolist()
    assert sent[0].value[some].tolist() == sent[1].value.tolist()
    assert 0.42 < some.mean() < 0.58
    by_category = [some[PEOPLE.category[PEOPLE.user[sent[0].kept]] == k].mean() for k in (0, 1)]
    assert abs(by_category[0] - by_category[1]) < 0.1


def test_bits_and_estimation_reach_the_disclosure() -> None:
    plain = LearningProtocol("mpss", estimation="plain", bits=4).disclose(MADE.profiles)
    assert plain.bits == 4
    assert set(np.array(plain.reveal).ravel() % (65536 >> 4)) == {0}
    fine = LearningProtocol("mpss", estimation="plain").disclose(MADE.profiles)
    assert fine != LearningProtocol("mpss").disclose(MADE.profiles)


def test_estimators_differ_where_the_prior_matters() -> None:
    disclosure = LearningProtocol("mp").disclose(MADE.profiles)
    sent = LearningProtocol("mp").report(
        disclosure, MADE.profiles, PEOPLE, np.random.default_rng(7)
    )
    ours = LearningProtocol("mp").estimate(MADE.profiles, sent)
    papers = LearningProtocol("mp", estimator="least-squares").estimate(MADE.profiles, sent)
    assert (papers**2).sum() > (ours**2).sum() * 1.01


def test_people_of_unknown_category_are_refused_where_it_matters() -> None:
    unknown = Population(PEOPLE.user, PEOPLE.item, PEOPLE.value, np.full(80, -1))
    rng = np.random.default_rng(8)
    for name in ("mp", "ss", "dmp", "ssia", "full", "cmp", "cmpss"):
        one, profiles = LearningProtocol(name), ready(MADE, name)
        with pytest.raises(MidpointError, match="not known"):
            one.report(one.disclose(profiles), profiles, unknown, rng)
    for name in ("nothing", "no", "ia"):
        one = LearningProtocol(name)
        one.report(one.disclose(MADE.profiles), MADE.profiles, unknown, rng)


def test_wrong_names_and_settings_are_refused() -> None:
    with pytest.raises(MidpointError, match="did you mean mpss"):
        LearningProtocol("mspss")
    with pytest.raises(MidpointError, match="probability"):
        LearningProtocol("mp", alpha=1.5)
    with pytest.raises(MidpointError, match="sends no ratings"):
        LearningProtocol("full", alpha=0.5)
