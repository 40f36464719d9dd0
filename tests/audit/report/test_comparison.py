from dataclasses import replace

from midpoint.audit.measure.findings import SHARPNESS, Control, Cost
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.comparison import changes, control_turns, differences, only_in_one, turns
from midpoint.audit.report.verdict import CHANCE, OUTRIGHT
from tests.support.audits.made_up_judges import judged
from tests.support.audits.made_up_results import made_up
from tests.support.audits.made_up_rounds import PRODUCT, made_up_rounds


def test_what_one_audit_lacks_is_named_in_a_line() -> None:
    many, few = made_up(), made_up({"no": {"lr": 0.83}, "dmpss": {"lr": 0.48}})
    both = list(changes(many, few))
    gone = [one for one in both if one.after is None]
    assert dict(only_in_one(both)) == {
        "before": f"{len(gone)} numbers of scheme mp, adaptive-lr-items, fraction"
    }
    assert list(dict(only_in_one(list(changes(few, many))))) == ["after"]
    assert list(only_in_one(list(changes(few, few)))) == []


def test_changes_go_with_bands_and_controls() -> None:
    areas = {"no": {"lr": 0.8}, "dmp": {"lr": 0.51}}
    after = made_up(
        {"no": {"lr": 0.52}, "dmp": {"lr": 0.6}}, controls={"lr": Control("no", 0.52, reads=False)}
    )
    both = {(one.scheme, one.metric): one for one in changes(made_up(areas), after)}
    assert both["dmp", "auc"].chance == (True, False)
    assert both["dmp", "auc"].reads == (True, False)
    assert both["dmp", "withheld"].chance == (None, None)
    assert list(control_turns(made_up(areas), after)) == [("lr", True, False)]
    assert list(control_turns(after, after)) == []


def test_rounds_are_compared_like_all_else() -> None:
    before, after = made_up_rounds(), made_up_rounds(product=0.99)
    moved = {(one.scheme, one.attack): one for one in changes(before, after)}
    change = moved[PRODUCT, "transcript-trees"]
    assert (change.before, change.after, change.chance) == (0.52, 0.99, (True, False))
    (turn,) = turns(before, after)
    assert turn[:3] == (PRODUCT, CHANCE, OUTRIGHT)
    assert list(turns(before, before)) == []
    blind = made_up_rounds(reads=False)
    assert [one.attack for one in control_turns(before, blind)] == [
        "transcript-trees on no:rounds=4",
        "adaptive-lr-items on no:rounds=4",
    ]
    held = replace(before.rounds[PRODUCT], budget=5)
    other = replace(before, rounds={PRODUCT: held})
    assert list(differences(before, other)) == [f"They differ in budget of {PRODUCT}: 30, 5"]
    once = made_up()
    lacks = dict(only_in_one(list(changes(before, once))))["before"]
    assert lacks.startswith("8 numbers of scheme no:rounds=4, scheme dmpss:rounds=4,")


def test_changes_between_audits_are_distinguished_from_noise() -> None:
    before = made_up({"no": {"lr": 0.8}, "dmp": {"lr": 0.60, "nb": 0.5}})
    after = made_up({"no": {"lr": 0.8}, "dmp": {"lr": 0.52, "nb": 0.51}, "mp": {"lr": 0.9}})
    found = {(c.scheme, c.metric, c.attack): c for c in changes(before, after)}
    assert found["dmp", "auc", "lr"].beyond_chance
    assert not found["dmp", "auc", "nb"].beyond_chance
    assert not found["no", "rmse_blind", ""].beyond_chance
    assert found["mp", "auc", "lr"].before is None
    assert found["mp", "auc", "lr"].beyond_chance
    assert list(differences(before, after)) == []
    assert list(differences(before, made_up(seed=4))) == ["They differ in seed: 0, 4"]


def test_a_split_by_time_is_not_compared_in_silence_with_one_at_random() -> None:
    random = made_up(model={"share": 0.7}, unary=True)
    by_time = made_up(model={"share": 0.7, "until": 1_500_000_000}, unary=True)
    (said,) = differences(random, by_time)
    assert said.startswith("They differ in what is given. Before: 70% of a held-out user's set")
    assert "After: what was used before 2017-07-14" in said
    assert list(differences(random, random)) == []


def test_a_difference_is_judged_by_both_standard_errors() -> None:
    """Intervals of 0.02 on either side overlap until 0.04; the difference has 0.028."""
    before = made_up({"no": {"lr": 0.8}, "dmp": {"lr": 0.60}})
    for value, expected in ((0.574, False), (0.570, True)):
        after = made_up({"no": {"lr": 0.8}, "dmp": {"lr": value}})
        found = {(c.scheme, c.attack): c.beyond_chance for c in changes(before, after)}
        assert found["dmp", "lr"] == expected


def test_how_sharp_judges_are_is_compared() -> None:
    """TPR at 1 % and 0.1 % FPR, balanced accuracy, and who is named with 90 % confidence."""
    before = judged(0.6, single=0.55)
    rows = [
        row._replace(value=0.3, low=0.28, high=0.32) if row.metric == SHARPNESS[0] else row
        for row in before.rows
    ]
    found = {
        one.metric: one
        for one in changes(before, replace(before, rows=tuple(rows)))
        if one.attack == "judge:panel" and one.metric in SHARPNESS
    }
    assert list(found) == list(SHARPNESS)
    assert [metric for metric, one in found.items() if one.beyond_chance] == [SHARPNESS[0]]


def test_costs_are_compared_by_their_own_intervals() -> None:
    def at(cost: float) -> AuditResults:
        return made_up(costs={"dmpss": Cost(cost, cost - 0.001, cost + 0.001)})

    found = {c.metric: c for c in changes(at(0.010), at(0.013)) if c.scheme == "dmpss"}
    assert found["cost"].beyond_chance
    assert not found["rmse_local"].beyond_chance  # the same in both here
    assert not any(c.beyond_chance for c in changes(at(0.010), at(0.0112)))


def test_verdicts_that_changed_are_named() -> None:
    before = made_up({"no": {"lr": 0.8}, "dmp": {"lr": 0.60}, "mp": {"lr": 0.7}})
    after = made_up({"no": {"lr": 0.8}, "dmp": {"lr": 0.51}, "mp": {"lr": 0.71}})
    (turn,) = turns(before, after)
    assert turn[:3] == ("dmp", "a leak", CHANCE)
    assert turn.before_by == "0.600, judged by 0.458-0.542, the strongest of 1"
    alone = made_up({"no": {"lr": 0.8}})
    assert [one[:2] for one in turns(alone, after)] == [("dmp", None), ("mp", None)]
    assert [one.after for one in turns(after, alone)] == [None, None]
    assert list(turns(before, before)) == []
