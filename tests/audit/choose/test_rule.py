"""The scheme is chosen by measurement: the simplest of those that leak least, within the cost."""

from statistics import NormalDist

import numpy as np

from midpoint.audit.attackers.auc import Area, area, chance_deviation
from midpoint.audit.choose.measurement import Leak, Measured
from midpoint.audit.choose.rule import Trial, decide

PEOPLE = 200
RNG = np.random.default_rng(0)
SHARED = RNG.normal(size=PEOPLE)


def trial(
    scheme: str,
    leak: float,
    cost: float = 0.0,
    *,
    noise: float = 0.0,
    deviation: float = 0.02,
    tries: float = 1,
) -> Trial:
    """Make up a candidate whose attack errs with the others', but for noise of its own."""
    own = SHARED + noise * np.random.default_rng(len(scheme)).normal(size=PEOPLE)
    area = Area(leak, 0.02 * own / np.sqrt(np.square(own).sum()))
    return Trial(scheme, Measured(Leak(area, "sets", 1, deviation, tries), np.ones(PEOPLE)), cost)


def decided(*trials: Trial, raw: float = 0.8, cost: float = 0.015) -> tuple[str, str]:
    choice = decide(trial("no", raw), trials, ("F", "M"), cost)
    return choice.scheme, choice.warning


def test_the_simplest_of_those_that_hold_the_leak_is_taken() -> None:
    sure = {"deviation": 0.005}
    low = trial("dmpss", 0.52, noise=1.0, **sure), trial("cmpss", 0.51, **sure)
    assert decided(trial("dmp", 0.70, **sure), *low)[0] == "dmpss"
    assert decided(trial("dmp", 0.51, **sure), trial("cmpss", 0.51, **sure)) == ("dmp", "")
    # The same people err in the same way: a small difference is one.
    assert decided(trial("dmpss", 0.52, **sure), trial("cmpss", 0.51, **sure))[0] == "cmpss"
    # Few people cannot show that the leak is held; then what leaks least is taken.
    assert decided(trial("dmpss", 0.52, noise=1.0), trial("cmpss", 0.51))[0] == "cmpss"
    assert decided(trial("dmp", 0.51), trial("cmpss", 0.51)) == ("dmp", "")


def test_a_share_of_what_is_taken_is_revealed_where_it_was_measured() -> None:
    share = trial("cmp:keep=0.5", 0.57, 0.01)._replace(thins="cmp")
    trials = trial("dmp", 0.60), trial("cmp", 0.56), share, trial("cmpss", 0.59)
    choice = decide(trial("no", 0.8), trials, ("F", "M"), 0.015)
    assert choice.scheme == "cmp:keep=0.5"  # it leaks no more than cmp, whatever was measured
    assert "cmp is not shown to leak at most 0.55" in choice.reason
    assert choice.tried[3].note == ""
    assert "not shown to leak" in choice.tried[2].note
    other = share._replace(thins="dmp")
    assert decide(trial("no", 0.8), (*trials[:2], other), ("F", "M"), 0.015).scheme == "cmp"


def test_a_share_that_may_cost_too_much_is_offered_and_not_taken() -> None:
    """A share is judged by what it may cost; the control may cost less."""
    whole = trial("cmpss", 0.80)
    share = trial("cmpss:keep=0.25", 0.60, 0.012)._replace(thins="cmpss")
    choice = decide(trial("no", 0.9), (whole, share._replace(most=0.02)), ("F", "M"), 0.015)
    assert choice.scheme == "cmpss"
    assert choice.tried[2].note == "may cost more than 1.5%"
    assert "cmpss:keep=0.25 leaks less (0.600) and costs 1.2%: allow it by --cost 2.1." in (
        choice.warning
    )
    allowed = decide(trial("no", 0.9), (whole, share._replace(most=0.014)), ("F", "M"), 0.015)
    assert allowed.scheme == "cmpss:keep=0.25"


def test_of_several_numbers_of_levels_the_share_that_leaks_least_is_revealed() -> None:
    five, eleven = (trial(f"cmp:levels={count}", leak) for count, leak in ((5, 0.58), (11, 0.62)))
    many, few = (
        trial(f"{whole.scheme}:keep={keep}", leak)._replace(thins=whole.scheme)
        for whole, keep, leak in ((eleven, 0.35, 0.55), (five, 0.5, 0.57))
    )
    assert decided(trial("dmp", 0.63), eleven, many, five, few)[0] == many.scheme
    assert decided(trial("dmp", 0.63), eleven, five, few)[0] == few.scheme
    every = trial("dmp", 0.63), eleven, many, five, few
    choice = decide(trial("no", 0.8), every, ("F", "M"), 0.015)
    row = choice.row(few.scheme)
    assert row is not None
    assert row.note in {"not shown to leak less", "leaks more"}
    assert choice.reason.endswith("no other is shown to leak less")
    # The control: a share of what differs in more than its levels is none of what would be taken.
    other = trial("cmp:levels=11:shift=off:keep=0.35", 0.55)._replace(
        thins="cmp:levels=11:shift=off"
    )
    still = trial("cmp:levels=11:shift=off", 0.62)
    assert decided(trial("dmp", 0.63), still, other, five, few)[0] == few.scheme


def test_the_spread_is_hidden_only_where_that_is_shown_to_leak_less() -> None:
    plain, hidden = trial("cmp", 0.60), trial("cmp:spread=on", 0.59, noise=1.0)
    choice = decide(trial("no", 0.8), (trial("dmp", 0.7), plain, hidden), ("F", "M"), 0.015)
    assert choice.scheme == "cmp"  # the difference is within the paired test's error
    assert choice.reason.startswith("cmp:spread=on is not shown to leak less by a paired test")
    assert decided(plain, trial("cmp:spread=on", 0.50, noise=1.0))[0] == "cmp:spread=on"
    # The same people err in the same way: a small difference is one.
    assert decided(plain, trial("cmp:spread=on", 0.59))[0] == "cmp:spread=on"
    # What costs too much, or was not tried, is no alternative.
    assert decided(trial("cmp", 0.60, 0.02), hidden)[0] == "cmp:spread=on"
    assert decided(trial("cmpss", 0.60), hidden)[0] == "cmp:spread=on"
    # A share of the simpler one is revealed, not of the other.
    share = trial("cmp:keep=0.5", 0.55)._replace(thins="cmp")
    assert decided(plain, share, hidden)[0] == "cmp:keep=0.5"


def test_values_stay_only_where_that_is_shown_to_leak_less() -> None:
    plain = trial("cmpss", 0.60)
    assert decided(plain, trial("cmpss:shift=off", 0.59, noise=1.0))[0] == "cmpss"
    assert decided(plain, trial("cmpss:shift=off", 0.50, noise=1.0))[0] == "cmpss:shift=off"


def test_what_costs_too_much_is_left_out_and_said_where_it_would_help() -> None:
    trials = trial("dmp", 0.70, 0.001), trial("dmpss", 0.60, 0.01), trial("cmpss", 0.51, 0.17)
    scheme, warning = decided(*trials)
    assert scheme == "dmpss"
    assert "No candidate holds the leak" in warning
    assert "60 times in 100" in warning
    assert "cmpss leaks less (0.510) and costs 17.0%: allow it by --cost 17.1" in warning
    assert decided(*trials, cost=0.2)[0] == "cmpss"
    # Of sets --cost is in RMSE as well, and allows more of NDCG@10: 17 % are allowed by 6.4.
    sets = decide(trial("no", 0.8), trials, ("F", "M"), 0.04, per_rmse=8 / 3)
    assert "cmpss leaks less (0.510) and costs 17.0%: allow it by --cost 6.5" in sets.warning
    scheme, warning = decided(*trials, cost=0.0)
    assert scheme == "dmp"
    assert "No candidate costs at most 0.0%; dmp costs least" in warning


def test_what_leaks_more_than_raw_ratings_is_said() -> None:
    scheme, warning = decided(trial("dmp", 0.60), trial("cmp", 0.62), raw=0.53)
    assert scheme == "dmp"
    assert "dmp leaks more than raw ratings do" in warning
    assert decided(trial("dmp", 0.54), raw=0.53)[1].startswith("dmp leaks more")
    assert decided(trial("dmp", 0.54), raw=0.80)[1] == ""


def test_small_categories_do_not_rule_by_luck() -> None:
    sure, lucky = (
        trial("dmp", 0.58, deviation=0.01, tries=7),
        trial("cmp", 0.60, deviation=0.06, tries=7),
    )
    assert decided(sure, lucky)[0] == "cmp"


def shares_taken(auc: dict[str, float], people: int, repeats: int = 120) -> dict[str, float]:
    """Let attacks of known strength, alike in part, decide again and again; count what is taken."""
    rng, taken = np.random.default_rng(1), dict.fromkeys(auc, 0)
    ones = np.arange(people) % 2 == 1
    for _ in range(repeats):
        shared, trials = rng.normal(size=people), []
        for scheme, strength in auc.items():
            apart = np.sqrt(2) * NormalDist().inv_cdf(strength)
            scores = np.sqrt(0.5) * (shared + rng.normal(size=people)) + apart * ones
            leak = Leak(area(scores, ones), "sets", 1, chance_deviation(ones))
            trials.append(Trial(scheme, Measured(leak, np.ones(people)), 0.0))
        taken[decide(trials[0], trials, ("F", "M"), 0.015).scheme] += 1
    return {scheme: count / repeats for scheme, count in taken.items()}


def test_what_leaks_clearly_more_is_hardly_ever_taken_and_equals_go_to_the_simplest() -> None:
    assert shares_taken({"dmp": 0.60, "cmpss": 0.52}, 2000)["dmp"] < 0.03
    assert shares_taken({"dmp": 0.52, "cmpss": 0.60}, 2000)["dmp"] == 1.0
    assert shares_taken({"dmp": 0.58, "cmpss": 0.52}, 1000)["dmp"] < 0.15
    # The error of the test: among equals the simplest is left in about 5 of 100.
    assert 0.88 < shares_taken({"dmp": 0.515, "cmpss": 0.515}, 8000, 60)["dmp"] < 1.0
    # Few people cannot show that a leak is held, and what seems to leak least is taken.
    assert shares_taken({"dmp": 0.58, "cmpss": 0.52}, 60)["dmp"] < 0.5


def test_the_table_says_why_each_was_not_taken() -> None:
    trials = trial("dmp", 0.70), trial("dmpss", 0.51), trial("cmp", 0.51), trial("cmpss", 0.5, 0.2)
    choice = decide(trial("no", 0.8), trials, ("F", "M"), 0.015, {"odd": "it has no levels"})
    notes = [row.note for row in choice.tried]
    assert [row.scheme for row in choice.tried] == ["no", "dmp", "dmpss", "cmp", "cmpss"]
    assert notes == [
        "raw ratings", "leaks more", "", "not shown to leak at most 0.55",
        "costs more than 1.5%",
    ]  # fmt: skip
    assert choice.failed == (("odd", "it has no levels"),)
    assert choice.row("dmp") == choice.tried[1]
    assert choice.row("mp") is None
    assert type(choice).of({**choice.as_dict(), "tried": list(choice.as_dict()["tried"])}) == choice
