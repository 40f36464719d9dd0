"""What may not teach is left out, counted and said."""

import numpy as np
import polars as pl
import pytest

from midpoint.analyst import CollectedReports, Factorizer, disclose
from midpoint.analyst.learn.admission import PanelData, Reason, admit, revealed_share
from midpoint.data import Scale, in_levels
from midpoint.wire import from_fixed
from tests.support.tables.two_kinds import TwoKinds, two_kinds


@pytest.fixture(scope="module")
def world() -> TwoKinds:
    return two_kinds()


def left_out(world: TwoKinds, reports: CollectedReports) -> dict[Reason, int]:
    feature = world.panel.feature("gender")
    return dict(admit(PanelData.of(world.panel), feature, reports).admission.left_out)


def test_what_devices_sent_teaches_whole(world: TwoKinds) -> None:
    admitted = admit(PanelData.of(world.panel), world.panel.feature("gender"), world.reports())
    admission = admitted.admission
    assert dict(admission.left_out).keys() <= {Reason.TOO_MANY}
    assert admission.answers >= 0.98 * len(world.answers)
    assert admission.people == world.answers["person"].n_unique()
    pairs = list(zip(admitted.person.tolist(), admitted.item.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert (admitted.variance > 0).any()
    assert admitted.presence.min() >= 1


def test_bad_answers_are_counted_by_their_reason(world: TwoKinds) -> None:
    first, second = world.disclosure.items[:2]
    bad = [
        world.made_up("eve", {first: float("nan")}),
        world.made_up("eve", {first: 3}, disclosure="0" * 64),
        world.made_up("eve", {"no such film": 3}),
        world.made_up("eve", {first: 3.5}),
        world.made_up("eve", {first: 1e300}),
        world.made_up("eve", {first: 99}),
        world.made_up("eve", {first: 4, second: 4}),
        world.made_up("eve", {first: 2}),
    ]
    only = world.reports(*bad, answers=world.answers.clear())
    assert left_out(world, only) == {
        Reason.BLANK: 1,
        Reason.UNPUBLISHED: 1,
        Reason.UNKNOWN_ITEM: 1,
        Reason.IMPOSSIBLE: 3,
        Reason.AGAIN: 1,
    }
    admitted = admit(PanelData.of(world.panel), world.panel.feature("gender"), only)
    assert admitted.value.tolist() == [4, 4]  # the first answer stands
    assert "left out: 3 of a value that no device sends" in str(admitted.admission)


def test_another_feature_scale_or_a_silent_scheme_teaches_nothing(world: TwoKinds) -> None:
    factorizer = Factorizer(dimension=2, iterations=2)
    other = world.panel.feature("gender")
    renamed = world.panel.with_feature(type(other)("party", ("F", "M"), other.codes))
    shown = {
        Reason.OTHER_FEATURE: disclose(factorizer.fit(renamed, "party"), "dmpss"),
        Reason.OTHER_SCALE: disclose(factorizer.fit(in_levels(world.panel, 3), "gender"), "dmpss"),
        Reason.SILENT: disclose(world.first, "ia"),
    }
    assert world.panel.scale == Scale.stars(1, 5)
    for reason, disclosure in shown.items():
        answers = world.made_up("ann", {disclosure.items[0]: 3}, disclosure=disclosure.digest)
        reports = CollectedReports(answers, {disclosure.digest: disclosure})
        assert left_out(world, reports) == {reason: 1}


def test_nobody_counts_for_more_than_the_busiest_of_the_panel(world: TwoKinds) -> None:
    few = world.panel.select_users(np.diff(world.panel.user_offsets) <= 20)
    most = int(np.diff(few.user_offsets).max())
    everything = world.made_up("eve", dict.fromkeys(world.disclosure.items, 5.0))
    reports = world.reports(everything, answers=world.answers.clear())
    admission = admit(PanelData.of(few), few.feature("gender"), reports).admission
    assert admission.answers == most
    assert dict(admission.left_out) == {Reason.TOO_MANY: len(everything) - most}


def test_an_item_that_the_panel_does_not_have_teaches_nothing(world: TwoKinds) -> None:
    without = world.panel.select_items(np.arange(world.panel.n_items) > 0)
    gone = str(world.panel.item_ids[0])
    counted = dict(
        admit(PanelData.of(without), without.feature("gender"), world.reports()).admission.left_out
    )
    about = world.answers.filter(pl.col("item") == gone).height
    assert counted[Reason.NOT_IN_PANEL] == about > 0


def test_the_revealed_share_is_what_devices_reveal(world: TwoKinds) -> None:
    feature = world.rest.feature("gender")
    share = feature.counts / feature.counts.sum()
    expected = revealed_share(world.disclosure, share)
    reveal = from_fixed(world.disclosure.reveal or ())
    assert expected == pytest.approx(1 / (share / reveal).sum(axis=1))
    names = np.array(world.disclosure.items)
    rated = np.bincount(
        np.searchsorted(names, world.rest.item_ids[world.rest.item]), minlength=len(names)
    )
    sent = np.bincount(
        np.searchsorted(names, world.answers["item"].to_numpy()), minlength=len(names)
    )
    assert sent.sum() == pytest.approx((expected * rated).sum(), rel=0.03)
    assert np.corrcoef(sent / rated, expected)[0, 1] > 0.7
    unthinned = disclose(world.first, "dmp")
    assert (revealed_share(unthinned, share) == 1).all()
