"""What may be called chance, and by whom."""

from dataclasses import replace

import pytest

from midpoint.audit.measure.findings import Bound, Control, Cost
from midpoint.audit.report.page import page
from midpoint.audit.report.verdict import (
    BLIND,
    CHANCE,
    OUTRIGHT,
    UNREAD,
    UNSURE,
    Verdict,
    headline,
    judge,
    readers,
)
from tests.support.audits.made_up_judges import decided_by_clean, judged, judged_by
from tests.support.audits.made_up_results import made_up
from tests.support.audits.made_up_rounds import PRODUCT, RAW, made_up_rounds

ALONE = {"no": {"fraction": 0.5}, "mp": {"fraction": 1.0}, "dmpss": {"fraction": 0.5}}


def found(areas: dict[str, dict[str, float]], scheme: str) -> tuple[str, bool]:
    verdict = judge(made_up(areas), scheme)
    assert verdict is not None
    return verdict.grade, verdict.safe


def test_an_attacker_of_one_flaw_proves_nothing_elsewhere() -> None:
    assert readers(made_up(ALONE), "dmpss") == []
    assert [found(ALONE, scheme) for scheme in ("no", "dmpss")] == [(BLIND, False)] * 2
    assert found(ALONE, "mp") == (OUTRIGHT, False)
    beside = {"no": 0.8, "mp": 0.8, "dmpss": 0.51}
    read = {scheme: {**own, "lr": beside[scheme]} for scheme, own in ALONE.items()}
    assert readers(made_up(read), "dmpss") == ["lr"]
    assert found(read, "dmpss") == (CHANCE, True)


def test_raw_ratings_are_never_called_private() -> None:
    weak = made_up(
        {"no": {"lr": 0.53}, "dmp": {"lr": 0.5}}, controls={"lr": Control("no", 0.53, reads=True)}
    )
    verdicts = judge(weak, "no"), judge(weak, "dmp")
    assert [one.grade for one in verdicts if one] == [UNREAD, CHANCE]
    assert [one.safe for one in verdicts if one] == [False, True]


@pytest.mark.parametrize(
    ("value", "words"), [(0.52, CHANCE), (0.57, "a leak"), (0.43, "a leak"), (0.99, OUTRIGHT)]
)
def test_rounds_are_judged_in_the_words_of_verdicts(value: float, words: str) -> None:
    verdict = judged_rounds(value)
    assert verdict.grade == words
    assert verdict.lines.startswith(f"{words}. Of two people, the best attack picks")
    assert " times in 100 over 4 rounds; unprotected 90; blind guessing 50." in verdict.lines
    assert "Of devices that do not keep decisions: 66 if forgetful, 94 if tossing" in verdict.lines
    blind = judged_rounds(value, reads=False)
    assert blind.grade == (BLIND if words == CHANCE else words)


def judged_rounds(value: float, *, reads: bool = True) -> Verdict:
    verdict = judge(made_up_rounds(product=value, reads=reads), PRODUCT)
    assert verdict is not None
    return verdict


def test_raw_ratings_over_rounds_are_never_called_private() -> None:
    results = made_up_rounds()
    weak = tuple(r._replace(value=0.5) if r.scheme == RAW else r for r in results.rows)
    verdict = judge(replace(results, rows=weak), RAW)
    assert verdict is not None
    assert verdict.grade == UNREAD


def test_devices_have_short_names() -> None:
    (held,) = made_up_rounds().rounds.values()
    assert (held.scheme, held.raw, held.product) == ("dmpss", RAW, PRODUCT)
    assert list(held.devices.values()) == ["raw", "final", "forgetful", "tossing"]


def test_the_verdict_is_the_default_schemes_in_a_few_sentences() -> None:
    verdict = headline(made_up())
    assert verdict is not None
    assert verdict.scheme == "dmpss"
    assert verdict.lines == (
        f"a leak. {verdict.plain}.\n"
        "  That is the strongest attacker (adaptive-lr-items): AUC 0.560 (0.540-0.580).\n"
        "  With 60 people, up to 54 can be luck (chance band 0.470-0.530, wider 0.458-0.542).\n"
        "  Cost: +2.0 % RMSE."
    )
    assert verdict.plain == (
        "Of two people, the best attack picks the right one 56 times in 100; unprotected 86; blind"
        " guessing 50"
    )
    assert not verdict.safe


def test_the_verdict_says_what_is_lost_of_lists_beside_what_errors_grow_by() -> None:
    lost = {"dmpss": Cost(0.031, 0.012, 0.05)}
    verdict = headline(made_up(ndcg_costs=lost))
    assert verdict is not None
    assert verdict.lines.endswith("Cost: +2.0 % RMSE, +3.1 % of NDCG@10 (+1.2 to +5.0).")


def test_the_verdict_is_about_the_scheme_in_use_on_such_data() -> None:
    judged = headline(replace(made_up(), usual="no"))
    assert judged is not None
    assert judged.scheme == "no"


@pytest.mark.parametrize(
    ("value", "words", "safe"),
    [
        (0.52, CHANCE, True),
        (0.48, CHANCE, True),
        (0.535, UNSURE, False),
        (0.465, UNSURE, False),
        (0.455, "a slight leak", False),
        (0.40, "a leak", False),
        (0.75, "a strong leak", False),
        (1.0, "the feature is in plain sight", False),
        (0.0, "the feature is in plain sight", False),
    ],
)
def test_distance_from_one_half_is_judged_on_either_side(
    value: float, words: str, safe: bool
) -> None:
    verdict = judge(made_up({"no": {"lr": 0.8}, "dmp": {"lr": value}}), "dmp")
    assert verdict is not None
    assert verdict.lines.startswith(f"{words}. Of two people")
    assert verdict.safe == safe


def test_an_answer_below_one_half_is_shown_with_its_sign_flipped() -> None:
    below, above = (made_up({"no": {"lr": 0.8}, "dmp": {"lr": v}}) for v in (0.4, 0.6))
    verdicts = [judge(results, "dmp") for results in (below, above)]
    assert [one.plain.partition("the right one ")[2][:15] for one in verdicts if one] == [
        "60 times in 100",
        "60 times in 100",
    ]
    flipped = [", with its sign flipped." in one.lines for one in verdicts if one]
    assert flipped == [True, False]


def test_raw_ratings_stand_beside_the_blind_guess_alone() -> None:
    verdict = judge(made_up(), "no")
    assert verdict is not None
    assert verdict.plain == (
        "Of two people, the best attack picks the right one 86 times in 100; blind guessing 50"
    )


def test_failing_attackers_that_cannot_read_prove_nothing() -> None:
    verdict = judge(made_up({"no": {"lr": 0.5}, "dmp": {"lr": 0.5}}), "dmp")
    assert verdict is not None
    assert "proves nothing" in verdict.lines
    assert not verdict.safe


def test_a_leak_over_time_is_called_one_and_chance_is_not() -> None:
    assert [judged_rounds(value).grade for value in (0.57, 0.43)] == ["a leak", "a leak"]
    assert judged_rounds(0.52).safe


def test_the_look_that_is_farther_out_decides() -> None:
    found = judge(judged(0.56, single=0.55), "dmpss")
    assert found is not None
    assert (found.strongest.attack, found.grade) == ("judge:panel", "a leak")
    assert "the best attack picks the right one 56 times" in found.lines
    assert "That is the judge (judge:panel, of 2 attackers): AUC 0.560" in found.lines
    assert "The strongest attacker (a): 0.550" in found.lines
    assert "Measured against: panel (a panel of 90)" in found.lines
    assert "Named with 90 % confidence by judge:panel: 1.2 % of the people" in found.lines
    # A judge that finds nothing does not hide what one attacker finds.
    found = judge(judged(0.5, single=0.6), "dmpss")
    assert found is not None
    assert (found.strongest.attack, found.grade, found.safe) == ("a", "a leak", False)
    assert "The judge (judge:panel, of 2 attackers): 0.500" in found.lines
    # Nor the other way round: 0.535 is inside the band of the strongest, and outside the judge's.
    found = judge(judged(0.535, single=0.535), "dmpss")
    assert found is not None
    assert (found.strongest.attack, found.safe) == ("judge:panel", False)


@pytest.mark.parametrize(
    ("values", "decides", "against", "named"),
    [
        ({"panel": 0.785, "outsider": 0.662}, "panel", "a panel of 90", 1.2),
        ({"panel": 0.56, "outsider": 0.62}, "outsider", "40 labelled people outside", 3.4),
        # Clean attackers do not know the scheme: their judge is no look.
        ({"clean": 0.9, "panel": 0.56}, "panel", "a panel of 90", 1.2),
        ({"clean": 0.9}, "clean", "a panel of 90", 1.1),
    ],
)
def test_of_several_judges_the_strongest_decides_and_says_how_many_are_named(
    values: dict[str, float], decides: str, against: str, named: float
) -> None:
    found = judge(judged_by(values, single=0.55), "dmpss")
    assert found is not None
    assert found.strongest.attack == f"judge:{decides}"
    assert found.strongest.value == values[decides]
    assert f"Measured against: {decides} ({against}" in found.lines
    assert f"Named with 90 % confidence by judge:{decides}: {named} % of the people" in found.lines
    others = [name for name in values if name not in (decides, "clean")]
    assert all(f"The judge (judge:{name}, of 2 attackers)" in found.lines for name in others)


def test_where_an_attacker_decides_its_own_adversarys_judge_says_who_is_named() -> None:
    found = judge(judged_by({"panel": 0.55, "outsider": 0.56}, single=0.7), "dmpss")
    assert found is not None
    assert found.strongest.attack == "a"
    assert "Measured against: panel (a panel of 90)" in found.lines
    assert "by judge:panel: 1.2 % of the people" in found.lines


@pytest.mark.parametrize(
    ("others", "whose"),
    [(("panel", "outsider"), "panel"), (("outsider",), "outsider"), ((), "clean")],
)
def test_what_clean_attackers_find_counts_against_who_knows_more(
    others: tuple[str, ...], whose: str
) -> None:
    """They need the panel's raw ratings alone; control: where nobody who knows the scheme tried."""
    found = judge(decided_by_clean(*others), "dmpss")
    assert found is not None
    assert found.strongest.attack == "a"
    assert f"Measured against: {whose} (" in found.lines
    assert f"Named with 90 % confidence by judge:{whose}:" in found.lines


def test_the_bound_stands_below_whom_it_was_measured_against() -> None:
    bounded = replace(made_up(), bounds={"dmpss": Bound(0.684, 0.3, 0.1, 80, 4000)})
    verdict = headline(bounded)
    assert verdict is not None
    said = "Somebody who knew every error of the disclosure: 0.68, by the bound for a panel of"
    said += " 4,000"
    assert f"  {said}.\n" in verdict.lines
    # Counterparts pass it, so their line says by how much; without a bound there is no line.
    areas = {"no": {"lr": 0.8}, "cmpss": {"lr": 0.6}, "mp": {"lr": 0.6}}
    both = replace(made_up(areas), bounds={"cmpss": bounded.bounds["dmpss"]})
    counterparts, other = judge(both, "cmpss"), judge(both, "mp")
    assert counterparts is not None
    assert other is not None
    assert f"{said}; with counterparts up to 0.03 more." in counterparts.lines
    assert "every error" not in other.lines
    # What training chooses has counterparts if a fold chose a scheme that has, on the panel beside
    # which outsiders are kept apart if that is another one.
    cmpss, dmpss = ({"scheme": "cmpss"},), ({"scheme": "dmpss"},)
    for chose, beside, passed in ((cmpss, (), True), (dmpss, (), False), (dmpss, cmpss, True)):
        chosen = replace(bounded, usual="default", choices=chose, split_choices=beside,
                         bounds={"default": bounded.bounds["dmpss"]})  # fmt: skip
        rows = [r._replace(scheme="default") for r in chosen.rows if r.scheme == "dmpss"]
        chosen = replace(chosen, rows=(*chosen.rows, *rows),
                         bands=dict(chosen.bands) | {"default": chosen.bands["dmpss"]})  # fmt: skip
        verdict = headline(chosen)
        assert verdict is not None
        assert (verdict.scheme, said in verdict.lines) == ("default", True)
        assert ("with counterparts" in verdict.lines) == passed


def test_both_looks_at_chance_are_safe() -> None:
    found = judge(judged(0.51, single=0.51), "dmpss")
    assert found is not None
    assert (found.grade, found.safe) == ("at chance", True)


@pytest.mark.slow
def test_how_sharp_judges_are_is_in_the_report() -> None:
    shown = page(judged(0.56, single=0.55))
    assert "named, 90 % sure" in shown
    assert "1.2%" in shown
    assert "How sure the judge is" in shown
    assert "97.5 %" not in page(made_up())
