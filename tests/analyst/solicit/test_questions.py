"""What to ask next is chosen by one rule, which knows what was asked and what people rate."""

from dataclasses import replace

import numpy as np
import pytest

from midpoint.analyst import Evidence, ItemProfiles, Training, disclose
from midpoint.analyst.fit.priors.set_prior import SetPrior
from midpoint.analyst.service.state.model import Model
from midpoint.analyst.solicit.questions import Questions, rated_share
from midpoint.analyst.solicit.selection import select
from midpoint.analyst.storage import Summary
from midpoint.errors import MidpointError
from midpoint.wire import ONE, Disclosure


@pytest.fixture(scope="module")
def profiles(trained_stars: Training) -> ItemProfiles:
    return trained_stars.items


@pytest.fixture(scope="module")
def disclosure(profiles: ItemProfiles) -> Disclosure:
    return disclose(profiles, "dmpss")


def test_it_is_the_selection_of_the_paper_with_prior_and_shares(
    profiles: ItemProfiles, disclosure: Disclosure
) -> None:
    statistics = profiles.statistics
    assert statistics is not None
    precision = profiles.noise_variance * np.linalg.inv(profiles.profile_covariance)
    share = statistics.count.sum(axis=1) / statistics.users.sum()
    known = Evidence.of(profiles, np.arange(5), np.full(5, 3.0)).information
    chosen = Questions(profiles, disclosure).choose(6, information=known, certified=True)
    expected = select(
        profiles.vectors,
        6,
        start=known,
        prior=precision,
        weights=share,
        candidates=profiles.informative,
    )
    assert chosen.items.tolist() == expected.items.tolist()
    assert chosen.loss == pytest.approx(expected.loss, rel=1e-12)
    assert chosen.gap == pytest.approx(expected.gap, rel=1e-9)
    alike = Questions(profiles, disclosure, weighted=False, with_prior=False).choose(6)
    assert alike.loss != pytest.approx(expected.loss, rel=1e-3)


def test_what_was_touched_is_not_asked_again(
    profiles: ItemProfiles, disclosure: Disclosure
) -> None:
    questions = Questions(profiles, disclosure)
    first = profiles.item_ids[questions.choose(8).items].tolist()
    second = profiles.item_ids[questions.choose(8, touched=[*first, "gone"]).items].tolist()
    assert len(second) == 8
    assert not set(first) & set(second)


def test_items_whose_reports_say_nothing_are_not_asked_before_others(
    profiles: ItemProfiles, disclosure: Disclosure
) -> None:
    first = Questions(profiles, disclosure).choose(8).items
    weights = np.ones(profiles.n_items)
    weights[first] = 1e-6
    assert not set(first) & set(
        Questions(profiles, disclosure, report_weights=weights).choose(8).items
    )


def test_items_that_no_device_reveals_are_never_asked(
    profiles: ItemProfiles, disclosure: Disclosure
) -> None:
    """By library, service and audit alike; the control asks them under other keep probabilities."""
    everything = np.arange(profiles.n_items)
    nothing = np.zeros((1, profiles.n_items), dtype=np.bool_)

    def asked(keep: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[set[str]]:
        shown = disclosure.model_copy(
            update={"keep": tuple(keep[profiles.order].tolist()), "leak": 3 * ONE // 5}
        )
        questions = Questions(profiles, shown)
        many = questions.choose_for_many(everything, nothing, nothing, 8)[0]
        return [
            set(profiles.item_ids[questions.choose(8).items].tolist()),
            set(profiles.item_ids[many].tolist()),
            set(Model(profiles, shown).ask(Summary(0), 8)),
            set(Model(profiles, shown).ask(Summary(0, items={shown.items[0]: 3 * ONE}), 8)),
        ]

    often = np.full(profiles.n_items, ONE)
    favourites = set.union(*asked(often))
    never = np.where(np.isin(profiles.item_ids, [*favourites]), 0, ONE)
    for items in asked(never):
        assert len(items) == 8
        assert not items & favourites
    assert set.union(*asked(np.maximum(never, 1))) & favourites


def test_many_people_are_asked_what_the_greedy_steps_ask_each(
    profiles: ItemProfiles, disclosure: Disclosure
) -> None:
    some = np.arange(0, profiles.n_items, 2)
    rng = np.random.default_rng(0)
    asked = rng.random((5, len(some))) < 0.3
    answered = asked & (rng.random(asked.shape) < 0.5)
    questions = Questions(profiles, disclosure)
    together = questions.choose_for_many(some, asked, answered, 4)
    assert (together.sum(axis=1) == 4).all()
    assert not (together & asked).any()
    for person in range(5):
        alone = questions.choose_for_many(some, asked[[person]], answered[[person]], 4)
        assert (alone == together[person]).all()
    with pytest.raises(MidpointError, match="under a prior only"):
        Questions(profiles, disclosure, with_prior=False).choose_for_many(some, asked, answered, 4)


def test_shares_are_of_the_whole_panel_and_need_one(
    profiles: ItemProfiles, disclosure: Disclosure
) -> None:
    statistics = profiles.statistics
    assert statistics is not None
    assert np.array_equal(
        np.rint(rated_share(profiles) * statistics.users.sum()), statistics.count.sum(axis=1)
    )
    alone = replace(profiles, statistics=None)
    with pytest.raises(MidpointError, match="counted only for a private feature"):
        rated_share(alone)
    uncounted = Questions(alone, disclosure).choose(5).items
    alike = Questions(profiles, disclosure, weighted=False).choose(5).items
    assert uncounted.tolist() == alike.tolist()


def test_somebody_who_answered_is_asked_what_her_set_does_not_say(
    profiles: ItemProfiles, disclosure: Disclosure
) -> None:
    """The set says much about one direction of taste; nobody's first question changes."""
    rng = np.random.default_rng(1)
    root = profiles.profile_root
    towards = np.zeros((1, profiles.dimension))
    towards[0] = 0.95 * root[:, 1]
    sets = SetPrior(rng.normal(size=(profiles.n_items, 1)).astype(np.float32), np.ones(1), towards)
    knowing = replace(profiles, set_prior=sets)
    known = Evidence.of(profiles, np.arange(5), np.full(5, 3.0)).information
    without, with_sets = (Questions(p, disclosure) for p in (profiles, knowing))
    assert (without.choose(8).items == with_sets.choose(8).items).all()
    chosen = with_sets.choose(8, information=known, answers=5, certified=True)
    expected = select(
        profiles.vectors,
        8,
        start=known,
        prior=knowing.after(5).prior_precision,
        weights=rated_share(profiles),
        candidates=profiles.informative,
    )
    assert chosen.items.tolist() == expected.items.tolist()
    assert chosen.items.tolist() != without.choose(8, information=known, answers=5).items.tolist()
    some, asked = np.arange(profiles.n_items), np.zeros((3, profiles.n_items), np.bool_)
    asked[1, :2], asked[2, :40] = True, True
    many = with_sets.choose_for_many(some, asked, asked, 4)
    for person in range(3):
        alone = with_sets.choose_for_many(some, asked[[person]], asked[[person]], 4)
        assert (alone == many[person]).all()
    assert (many[0] == without.choose_for_many(some, asked, asked, 4)[0]).all()
    assert (many[2] != without.choose_for_many(some, asked, asked, 4)[2]).any()
