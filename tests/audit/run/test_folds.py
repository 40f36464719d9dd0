from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.audit.run import folds
from midpoint.audit.run import nested_folds as rehearsing
from midpoint.audit.run.folds import (
    FoldData,
    FoldProfiles,
    audited,
    clean_view,
    held_out_view,
    learn,
    obfuscated_views,
    one_against_rest,
)
from midpoint.audit.run.nested_folds import nested_folds
from midpoint.audit.run.plan import Plan, Work, read_scheme
from midpoint.data import Feature, Simulation
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol
from tests.support.small_audit import QUICKLY, ByItems

PLAN = Plan(("gender",), folds=2, seed=3, draws=2, factorizer=QUICKLY)


@pytest.fixture(scope="module")
def fold(tiny: Simulation) -> FoldData:
    return FoldData.of(tiny.ratings, PLAN, 0)


@pytest.fixture(scope="module")
def profiles(fold: FoldData) -> FoldProfiles:
    return learn(fold)


def test_each_user_is_held_out_once(tiny: Simulation) -> None:
    folds = [FoldData.of(tiny.ratings, PLAN, number) for number in range(2)]
    held_out = [set(one.given.user_ids.tolist()) for one in folds]
    assert held_out[0] | held_out[1] == set(tiny.ratings.user_ids.tolist())
    assert not held_out[0] & held_out[1]
    for one, ids in zip(folds, held_out, strict=True):
        assert not ids & set(one.training.user_ids.tolist())
        assert len(one.given) + len(one.hidden) + len(one.training) == len(tiny.ratings)


def test_held_out_ratings_are_split_the_same_in_any_company(tiny: Simulation) -> None:
    fewer = tiny.ratings.select_users(np.arange(tiny.ratings.n_users) != 0)
    number = {str(user): k for k in (0, 1) for user in FoldData.of(fewer, PLAN, k).given.user_ids}
    user = next(iter(number))
    mine = FoldData.of(fewer, PLAN, number[user]).given
    again = next(
        one
        for k in (0, 1)
        if user in (one := FoldData.of(tiny.ratings, PLAN, k).given).user_ids.tolist()
    )
    rated = [
        one.item[one.of_user(one.user_ids.tolist().index(user))].tolist() for one in (mine, again)
    ]
    assert rated[0] == rated[1]


def test_profiles_for_cross_fitting_leave_their_part_out(
    fold: FoldData, profiles: FoldProfiles
) -> None:
    def users(one: int | None) -> int:
        learned = profiles.whole if one is None else profiles.without[one]
        assert learned.statistics is not None
        return int(learned.statistics.users.sum())

    sizes = np.bincount(fold.part)
    assert users(None) == fold.training.n_users
    assert [users(p) for p in range(3)] == [fold.training.n_users - size for size in sizes]


def test_profiles_come_back_from_disk(
    fold: FoldData, profiles: FoldProfiles, tmp_path: Path
) -> None:
    directory = tmp_path / "fold"
    profiles.save(directory)
    again = FoldProfiles.load(directory, fold)
    assert np.array_equal(again.whole.vectors, profiles.whole.vectors)
    assert np.array_equal(again.without[2].vectors, profiles.without[2].vectors)
    assert len(again.without_two) == 3
    for two, found in again.without_two.items():
        assert np.array_equal(found.vectors, profiles.without_two[two].vectors)


def test_pooled_views_and_categories_are_in_the_same_order(
    fold: FoldData, profiles: FoldProfiles
) -> None:
    # Raw ratings: what each pooled person reports must be a part of what she rated.
    views = obfuscated_views(fold, profiles, "no", LearningProtocol("no"))
    order = np.argsort(fold.part, kind="stable")
    rated = clean_view(fold, profiles).item_table(fold.training.value.astype(np.float64))
    for view in views:
        sent = view.item_table(view.reports.value)
        missing = (sent - sent.multiply(rated[order] > 0)).count_nonzero()
        assert missing == 0
        shuffled = (sent - sent.multiply(rated[order[::-1]] > 0)).count_nonzero()
        assert shuffled > 0
    category = fold.training_category
    assert fold.pooled_category.tolist() == category[order].tolist()
    assert fold.pooled_category.tolist() != category.tolist()


def test_training_people_are_thinned_as_the_held_out_ones_are(
    fold: FoldData, profiles: FoldProfiles
) -> None:
    first, second = obfuscated_views(fold, profiles, "no", LearningProtocol("no"))
    share = first.counts.sum() / len(fold.training)
    assert share == pytest.approx(0.7, abs=0.02)
    held_out = len(fold.given) / (len(fold.given) + len(fold.hidden))
    assert share == pytest.approx(held_out, abs=0.02)
    assert first.reports.item.tolist() != second.reports.item.tolist()


def test_each_part_is_obfuscated_under_a_disclosure_made_without_it(
    fold: FoldData, profiles: FoldProfiles
) -> None:
    how = LearningProtocol("mp")
    view = obfuscated_views(fold, profiles, "mp", how)[0]
    assert [part.disclosure.digest for part in view.parts] == [
        how.disclose(one).digest for one in profiles.without
    ]
    told = how.disclose(profiles.whole).digest
    assert view.disclosure.digest == told
    assert told not in {part.disclosure.digest for part in view.parts}


def test_rehearsals_show_each_part_under_what_was_learned_without_it(
    fold: FoldData, profiles: FoldProfiles
) -> None:
    how = LearningProtocol("mp")
    found = nested_folds(fold, profiles, "mp", how)
    assert len(found) == 3  # people are few
    order = np.argsort(fold.part, kind="stable")
    for judged, one in enumerate(found):
        assert set(fold.part[order][one.judged]) == {judged}
        assert judged not in fold.part[order][one.learners]
        assert len(one.judged) + len(one.learners) == fold.training.n_users
        assert len(one.learn) == PLAN.draws
        told = how.disclose(profiles.without[judged]).digest
        assert one.judge.disclosure.digest == told == one.learn[0].disclosure.digest
        for part, view in zip(sorted({0, 1, 2} - {judged}), one.learn[0].parts, strict=True):
            without = profiles.without_two[frozenset({part, judged})]
            assert view.profiles is without
            assert view.disclosure.digest == how.disclose(without).digest
            assert without.statistics is not None
            inside = ~np.isin(fold.part, [part, judged])
            assert without.statistics.users.sum() == inside.sum()


def test_rehearsals_show_the_people_whose_places_they_name(
    fold: FoldData, profiles: FoldProfiles
) -> None:
    rated = clean_view(fold, profiles).item_table(np.ones(len(fold.training)))
    order = np.argsort(fold.part, kind="stable")
    one = nested_folds(fold, profiles, "no", LearningProtocol("no"))[1]
    for view, who in ((one.judge, one.judged), (one.learn[1], one.learners)):
        sent = view.item_table(np.ones(len(view.reports.item)))
        assert sent.multiply(rated[order[who]]).sum() == sent.sum()
        assert sent.multiply(rated[order[who[::-1]]]).sum() < sent.sum()


def test_many_people_are_judged_once(
    fold: FoldData, profiles: FoldProfiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (folds, rehearsing):
        monkeypatch.setattr(module, "FEW", 10)
    (only,) = nested_folds(fold, profiles, "no", LearningProtocol("no"))
    assert len(only.learn) == 2
    assert len(only.judged) == (fold.part == 0).sum()


def test_coins_follow_from_the_names_of_fold_and_scheme(
    fold: FoldData, profiles: FoldProfiles
) -> None:
    def sent(name: str) -> NDArray[np.float64]:
        return held_out_view(fold, profiles, name, LearningProtocol("dmpss")).reports.value

    assert np.array_equal(sent("dmpss"), sent("dmpss"))
    assert sent("dmpss").tolist() != sent("again").tolist()


def test_people_of_unknown_category_are_left_out(tiny: Simulation) -> None:
    feature = tiny.ratings.features["gender"]
    codes = feature.codes.copy()
    codes[:20] = -1
    ratings = tiny.ratings.with_feature(Feature("gender", feature.categories, codes))
    people, known = audited(ratings, PLAN)
    assert people.n_users == tiny.ratings.n_users - 20
    assert known.known.all()


def test_too_few_people_for_the_folds_are_refused(tiny: Simulation) -> None:
    feature = tiny.ratings.features["gender"]
    codes = np.zeros_like(feature.codes)
    codes[:3] = 1
    ratings = tiny.ratings.with_feature(Feature("gender", feature.categories, codes))
    with pytest.raises(MidpointError, match=r"only 3 users .* are 'M'"):
        audited(ratings, PLAN)


def test_questions_are_one_for_two_categories_and_each_for_three() -> None:
    category = np.array([0, 1, 2, 1])
    assert [(k, ones.tolist()) for k, ones in one_against_rest(category % 2, 2)] == [
        (1, [0, 1, 0, 1])
    ]
    assert [(k, ones.tolist()) for k, ones in one_against_rest(category, 3)] == [
        (0, [1, 0, 0, 0]),
        (1, [0, 1, 0, 1]),
        (2, [0, 0, 1, 0]),
    ]


def test_schemes_are_read_with_their_settings() -> None:
    assert read_scheme("mpss:bits=4:alpha=0.5:estimation=plain") == LearningProtocol(
        "mpss", estimation="plain", bits=4, alpha=0.5
    )
    for text in ("mpss:bits=some", "mpss:size=3", "mpss:estimation=good", "mpss:alpha"):
        with pytest.raises(MidpointError, match="is no setting"):
            read_scheme(text)
    with pytest.raises(MidpointError, match="did you mean dmpss"):
        read_scheme("dmps")
    assert read_scheme("full") == LearningProtocol("full")


def test_the_control_is_always_there_and_one_of_an_attackers_own_too() -> None:
    class OfMpOnly(ByItems):
        control = "mp"

    class ByProfiles(ByItems):
        reads_profiles = True

    work = Work.of(
        {"dmp": LearningProtocol("dmp"), "full": LearningProtocol("full")},
        {"items": ByItems, "own": OfMpOnly, "profiles": ByProfiles},
    )
    assert set(work.schemes) == {"no", "mp", "dmp", "full"}
    assert work.wants("full", "profiles")
    assert work.wants("dmp", "profiles")
    assert not work.wants("full", "items")
    assert work.wants("mp", "own")
    assert not work.wants("mp", "items")
    assert work.wants("no", "items")
    assert work.clean == {"items", "own", "profiles"}
