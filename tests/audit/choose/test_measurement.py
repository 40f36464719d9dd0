"""What is measured of a candidate: leaks person by person, and what predictions lose."""

from typing import Any

import numpy as np
import pytest

from midpoint.analyst import Factorizer
from midpoint.audit.attackers.attacker import targets
from midpoint.audit.attackers.auc import area, auc, chance_deviation
from midpoint.audit.choose import panel as panel_module
from midpoint.audit.choose.attackers import ATTACKERS, exact_levels
from midpoint.audit.choose.candidates import (
    BUDGETS,
    candidates,
    protocol_of,
    thinned,
    variants,
)
from midpoint.audit.choose.measurement import (
    Leak,
    RawAttackers,
    accuracy,
    cost,
    cost_bound,
    measure,
    stack_scores,
)
from midpoint.audit.choose.panel import Panel, PanelViews, measurable
from midpoint.data import Feature, Scale, Simulation, SimulationConfig, simulate
from midpoint.protocol import LearningProtocol

QUICK = Factorizer(dimension=2, iterations=2)


@pytest.fixture(scope="module")
def panel(tiny: Simulation) -> Panel:
    return Panel.of(tiny.ratings, ["gender"], QUICK, 0)


def test_nobody_attacked_taught_a_disclosure_of_those_learned_from(panel: Panel) -> None:
    shown = PanelViews(panel, LearningProtocol("dmp"))
    for part, trial in enumerate(shown.trials()):
        assert set(trial.judged) == set(np.flatnonzero(panel.part == part))
        assert not set(trial.judged) & set(trial.learners)
        judged = panel.ratings.select_users(panel.part == part)
        assert trial.judge.disclosure.digest == shown.protocol.disclose(
            QUICK.fit(panel.ratings.select_users(panel.part != part), ["gender"])
        ).digest  # fmt: skip
        assert trial.judge.n_users == judged.n_users
        used = {view.disclosure.digest for learn in trial.learn for view in learn.parts}
        assert trial.judge.disclosure.digest not in used
        assert len(used) == 2


@pytest.mark.slow
def test_raw_ratings_leak_and_sub_sampling_takes_the_sets_away(panel: Panel) -> None:
    attackers = RawAttackers(panel)
    raw, protected = (measure(panel, LearningProtocol(name), attackers) for name in ("no", "dmpss"))
    assert raw.leak.value > 0.9
    assert protected.leak.value < 0.75
    above, error = raw.leak.above(protected.leak)
    assert above > 5 * error > 0
    assert cost(raw.accuracy, raw.accuracy, panel.ratings.scale) == 0
    assert -0.1 < cost(protected.accuracy, raw.accuracy, panel.ratings.scale) < 0.1
    again = measure(panel, LearningProtocol("dmpss"), RawAttackers(panel))
    assert again.leak.value == protected.leak.value


class Forgetful(LearningProtocol):
    """Devices that do not know their tastes."""

    def moves(self, *given: Any) -> Any:
        return np.zeros_like(super().moves(*given))


@pytest.mark.slow
def test_what_devices_know_makes_up_for_what_they_withhold() -> None:
    """The control: devices that forget lose four times as much by revealing little."""
    config = SimulationConfig(users=300, items=40, ratings=9000, scale=Scale.stars(1, 5))
    panel = Panel.of(simulate(config, seed=1).ratings, ["gender"], Factorizer(dimension=4), 0)
    lost = list[float]()
    for device in (LearningProtocol, Forgetful):
        whole, few = (accuracy(panel, device("cmp", keep=keep)).sum() for keep in (None, 0.25))
        lost.append(few / whole - 1)
    assert 4 * max(lost[0], 0) < lost[1], lost
    assert lost[1] > 0.03


@pytest.mark.parametrize(
    ("scale", "ratio", "true"),
    [(Scale.stars(1, 5), 1.05, 1.05**0.5 - 1), (Scale.unary(), 0.97, 0.03)],
    ids=["error", "lists"],
)
def test_the_bound_of_a_cost_holds_nineteen_times_in_twenty(
    scale: Scale, ratio: float, true: float
) -> None:
    rng, held = np.random.default_rng(3), 0
    for _ in range(400):
        raw = rng.gamma(2.0, size=300)
        held += cost_bound(raw * rng.normal(ratio, 0.5, 300), raw, scale, 0.95) >= true
    assert 0.92 < held / 400 < 0.98
    assert cost_bound(raw, raw, scale, 0.95) == 0


def test_the_error_of_a_difference_is_the_one_of_correlated_curves() -> None:
    rng = np.random.default_rng(1)
    labels = np.arange(400) % 2
    scores = rng.normal(size=400) + 0.5 * labels
    other = scores + 0.3 * rng.normal(size=400)
    a, b = (Leak(area(one, labels), "sets", 1, 0.02) for one in (scores, other))
    above, error = a.above(b)
    assert above == pytest.approx(a.value - b.value)
    assert error < 0.7 * (a.area.deviation**2 + b.area.deviation**2) ** 0.5  # the same people
    assert a.above(a) == (0, 0)


def test_reports_on_fewer_levels_are_read_on_their_own_scale(panel: Panel) -> None:
    view = PanelViews(panel, protocol_of("dmp:levels=3")).view(0, frozenset({0}), 0)
    assert list(view.scale.levels or ()) == [1, 3, 5]
    assert set(view.reports.value.tolist()) == {1, 3, 5}


def test_the_strongest_of_many_is_taken_down_by_its_luck() -> None:
    """Phi(z)^n = 1/2: half of the time the greatest of n normal numbers is above z."""
    flat = area(np.zeros(400), np.arange(400) % 2)
    alone, of_many = (Leak(flat, "sets", 1, 0.02, tries) for tries in (1, 20))
    assert alone.excess == pytest.approx(0)
    greatest = np.median(np.random.default_rng(0).normal(size=(20_000, 20)).max(axis=1))
    assert of_many.excess == pytest.approx(-0.02 * greatest, abs=1e-3)


def test_the_stack_reads_more_than_each_and_learns_signs_from_other_parts(panel: Panel) -> None:
    rng = np.random.default_rng(3)
    ones, shape = panel.category == 1, (1, len(panel.category))
    weak = [rng.normal(size=shape) + sign * 0.7 * ones for sign in (1, 1, -1, 1)]
    scores = np.stack([*weak, rng.normal(size=shape)])
    each = [abs(auc(one[0], ones) - 0.5) for one in scores]
    together = stack_scores(panel, scores, ones)[0]
    assert area(together, ones, panel.part).value - 0.5 > max(each) + 0.03
    # Nothing of a part itself, labels least of all, has a say in how it is weighed.
    inside = panel.members[0]
    other = ones.copy()
    other[inside] = ~other[inside]
    assert np.array_equal(stack_scores(panel, scores, other)[0, inside], together[inside])
    nothing = stack_scores(panel, rng.normal(size=(5, *shape)), ones)[0]
    assert abs(area(nothing, ones, panel.part).value - 0.5) < 3.5 * chance_deviation(ones)


def test_a_sample_keeps_people_of_rare_categories(
    tiny: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panel_module, "MOST_PEOPLE", 40)
    some = Panel.of(tiny.ratings, ["gender"], QUICK, 0)
    assert 30 <= some.ratings.n_users <= 60
    assert np.bincount(some.category).min() >= 10
    assert Panel.of(tiny.ratings, ["gender"], QUICK, 0).ratings.digest == some.ratings.digest
    monkeypatch.setattr(panel_module, "MOST_RATINGS", len(tiny.ratings) // 10)
    fewer = Panel.of(tiny.ratings, ["gender"], QUICK, 1).ratings
    assert len(fewer) < len(tiny.ratings) / 5


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((40, 40), [1]),
        ((40, 11), []),
        ((40, 40, 11), [0, 1]),
        ((40, 6, 5), []),
        ((40, 12, 0), [0, 1]),
    ],
)
def test_categories_are_looked_for_where_enough_have_them_and_enough_do_not(
    counts: tuple[int, ...], expected: list[int]
) -> None:
    codes = np.repeat(np.arange(len(counts), dtype=np.int16), counts)
    assert measurable(Feature("g", tuple("abc"[: len(counts)]), codes)) == expected


def test_candidates_follow_the_scale_and_what_can_be_learned() -> None:
    assert candidates(Scale.stars(1, 5)) == ("dmp", "dmpss", "cmp", "cmpss")
    assert candidates(Scale.stars(1, 5), positions=False) == ("dmp", "dmpss")
    assert candidates(Scale.continuous(0, 1)) == ("mp", "mpss")
    for name in candidates(Scale.stars(1, 5)):
        assert protocol_of(name).scheme.protects(discrete=True)
    fine, halves = Scale.stars(0, 100), Scale.stars(0.5, 5, 0.5)
    stars = Scale.stars(1, 5)
    assert variants("dmp", stars) == ("cmpss:shift=off",)
    assert variants("dmp", stars, assigned=True) == ("cmp:shift=off",)
    assert variants("dmp", stars, positions=False) == ()
    still = tuple(f"cmpss:levels={levels}:shift=off" for levels in (11, 7, 5))
    assert variants("dmp", fine) == variants("cmpss", fine) == still
    assert variants("dmp", fine, assigned=True)[0] == "cmp:levels=11:shift=off"
    assert variants("dmpss", fine, positions=False)[0] == "dmpss:levels=11"
    assert variants("cmpss", halves) == ("cmpss:levels=5", "cmpss:spread=on", "cmpss:shift=off")
    assert variants("mp", Scale.continuous(0, 1)) == ()
    assert variants("cmpss", Scale.unary()) == ()


def test_shares_of_ratings_and_leak_budgets_of_sets_are_tried() -> None:
    stars, sets = Scale.stars(1, 5), Scale.unary()
    assert thinned("dmp", stars)[3] == "cmp:shift=off:keep=0.5"
    assert thinned("dmpss", stars)[3] == "cmpss:shift=off:keep=0.5"
    assert thinned("dmp", stars, positions=False)[3] == "dmp:keep=0.5"
    assert thinned("cmpss", stars, 0.6) == ("cmpss:keep=0.84", "cmpss:keep=0.71")
    assert thinned("cmpss", stars, 1) == ()
    assert thinned("cmpss:spread=on", stars)[-1] == "cmpss:spread=on:keep=0.25"
    assert thinned("cmp:levels=7:shift=off", stars)[1] == "cmp:levels=7:shift=off:keep=0.71"
    assert not protocol_of(thinned("dmp", stars)[0]).shift
    budgets = tuple(f"cmpss:leak={leak}" for leak in BUDGETS)
    assert thinned("dmpss", sets) == thinned("cmpss", sets) == budgets
    assert thinned("dmpss", sets, positions=False)[0] == "dmpss:leak=0.7"
    assert protocol_of("cmpss:leak=0.6").leak == 0.6
    assert protocol_of("cmp:levels=5:spread=on").spec.levels == 5
    assert targets(2) == [1]
    assert targets(3) == [0, 1, 2]


@pytest.mark.slow
def test_radial_attackers_and_trees_see_what_no_line_separates() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(900, 3))
    ones = np.square(rows).sum(axis=1) > 2.4
    by_name = {
        attacker.name: auc(attacker.fit(rows[:600], ones[:600])(rows[600:]), ones[600:])
        for attacker in ATTACKERS
        if attacker.name
        in {"profile", "profile, radial", "profile, trees", "items, support vectors"}
    }
    assert by_name.pop("profile") < 0.65
    assert len(by_name) == 3
    assert min(by_name.values()) > 0.9


def test_attackers_have_names_of_their_own_and_see_single_levels(panel: Panel) -> None:
    assert len({attacker.name for attacker in ATTACKERS}) == len(ATTACKERS)
    view = PanelViews(panel, LearningProtocol("no")).view(0, frozenset({0}), 0)
    table = exact_levels(view).toarray()
    items, levels = view.profiles.n_items, 5
    assert table.shape == (view.n_users, items * levels + levels)
    assert (table[:, : items * levels].sum(axis=1) == view.counts).all()
    assert np.allclose(table[:, items * levels :].sum(axis=1), 1)
