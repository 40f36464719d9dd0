from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.audit.run import folds
from midpoint.audit.run.folds import FoldData, FoldProfiles
from midpoint.audit.run.views import ReportViews, clean_view
from midpoint.data import Scale, Simulation
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol
from tests.support.audits.small_audit import PLAN


def seen(fold: FoldData, profiles: FoldProfiles, scheme: str, name: str = "") -> ReportViews:
    return ReportViews(fold, name or scheme, LearningProtocol(scheme), profiles)


def test_pooled_views_and_categories_are_in_the_same_order(
    fold: FoldData, profiles: FoldProfiles
) -> None:
    # Raw ratings: what each pooled person reports must be a part of what she rated.
    views = seen(fold, profiles, "no").training()
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
    first, second = seen(fold, profiles, "no").training()
    share = first.counts.sum() / len(fold.training)
    assert share == pytest.approx(0.7, abs=0.02)
    held_out = len(fold.given) / (len(fold.given) + len(fold.hidden))
    assert share == pytest.approx(held_out, abs=0.02)
    assert first.reports.item.tolist() != second.reports.item.tolist()


def test_each_part_is_obfuscated_under_a_disclosure_made_without_it(
    fold: FoldData, profiles: FoldProfiles
) -> None:
    protocol = LearningProtocol("mp")
    view = seen(fold, profiles, "mp").training()[0]
    assert [part.disclosure.digest for part in view.parts] == [
        protocol.disclose(one).digest for one in profiles.without
    ]
    whole = protocol.disclose(profiles.whole).digest
    assert view.disclosure.digest == whole
    assert whole not in {part.disclosure.digest for part in view.parts}


def test_nested_folds_show_each_part_under_what_was_learned_without_it(
    fold: FoldData, profiles: FoldProfiles
) -> None:
    protocol = LearningProtocol("mp")
    found = seen(fold, profiles, "mp").nested_folds()
    assert len(found) == 3  # people are few
    order = np.argsort(fold.part, kind="stable")
    for judged, one in enumerate(found):
        assert set(fold.part[order][one.judged]) == {judged}
        assert judged not in fold.part[order][one.learners]
        assert len(one.judged) + len(one.learners) == fold.training.n_users
        assert len(one.learn) == PLAN.draws
        whole = protocol.disclose(profiles.without[judged]).digest
        assert one.judge.disclosure.digest == whole == one.learn[0].disclosure.digest
        for part, view in zip(sorted({0, 1, 2} - {judged}), one.learn[0].parts, strict=True):
            without = profiles.without_two[frozenset({part, judged})]
            assert view.profiles is without
            assert view.disclosure.digest == protocol.disclose(without).digest
            assert without.statistics is not None
            inside = ~np.isin(fold.part, [part, judged])
            assert without.statistics.users.sum() == inside.sum()


def test_nested_folds_show_the_people_whose_indices_they_name(
    fold: FoldData, profiles: FoldProfiles
) -> None:
    rated = clean_view(fold, profiles).item_table(np.ones(len(fold.training)))
    order = np.argsort(fold.part, kind="stable")
    one = seen(fold, profiles, "no").nested_folds()[1]
    for view, who in ((one.judge, one.judged), (one.learn[1], one.learners)):
        sent = view.item_table(np.ones(len(view.reports.item)))
        assert sent.multiply(rated[order[who]]).sum() == sent.sum()
        assert sent.multiply(rated[order[who[::-1]]]).sum() < sent.sum()


def test_many_people_are_judged_once(
    fold: FoldData, profiles: FoldProfiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folds, "FEW", 10)
    (only,) = seen(fold, profiles, "no").nested_folds()
    assert len(only.learn) == 2
    assert len(only.judged) == (fold.part == 0).sum()


def test_coins_follow_from_the_names_of_fold_and_scheme(
    fold: FoldData, profiles: FoldProfiles
) -> None:
    def sent(name: str) -> NDArray[np.float64]:
        return seen(fold, profiles, "dmpss", name).held_out.reports.value

    assert np.array_equal(sent("dmpss"), sent("dmpss"))
    assert sent("dmpss").tolist() != sent("again").tolist()


def test_views_are_on_the_levels_that_are_reported(fold: FoldData, profiles: FoldProfiles) -> None:
    few = ReportViews(fold, "few", LearningProtocol("dmp", levels=3), profiles)
    whole = seen(fold, profiles, "dmp").held_out
    assert whole.scale == fold.given.scale
    assert set(np.unique(whole.reports.value)) == {1, 2, 3, 4, 5}
    for view in (few.held_out, *few.training()):
        assert view.scale == Scale.discrete([1, 3, 5])
        assert set(np.unique(view.reports.value)) == {1, 3, 5}


def test_all_ratings_can_be_given_and_some_are_then_predicted_from_the_others(
    tiny: Simulation, fold: FoldData, profiles: FoldProfiles
) -> None:
    whole = FoldData.of(tiny.ratings, replace(PLAN, share=1.0), 0)
    everything, some = seen(whole, profiles, "no"), seen(fold, profiles, "no")
    assert len(everything.held_out.reports.item) == len(whole.held_out)
    assert everything.training()[0].counts.sum() == len(whole.training)
    # Errors are measured as where 70 % are given, and are the same.
    assert np.array_equal(everything.rated.reports.item, some.held_out.reports.item)
    assert some.rated is some.held_out
    assert np.array_equal(whole.category, fold.category)


@pytest.mark.parametrize("share", [0.0, 1.5, -1.0])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(MidpointError, match="a share of their ratings above 0 and up to 1"):
        replace(PLAN, share=share)
