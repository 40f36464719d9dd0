"""What may be called chance, and by whom."""

from dataclasses import replace

import pytest

from midpoint.audit.measure.results import Control
from midpoint.audit.report.comparison import changes as changes_between
from midpoint.audit.report.comparison import control_turns, only_in_one, round_changes, round_turn
from midpoint.audit.report.verdict import BLIND, CHANCE, OUTRIGHT, UNREAD, judge, readers
from midpoint.audit.run.audit import choose_attacks, choose_schemes
from midpoint.data import Scale
from midpoint.errors import MidpointError
from tests.support.made_up_results import made_up
from tests.support.made_up_rounds import made_up_rounds

ALONE = {"no": {"fraction": 0.5}, "mp": {"fraction": 1.0}, "dmpss": {"fraction": 0.5}}


def found(areas: dict[str, dict[str, float]], scheme: str) -> tuple[str, bool]:
    verdict = judge(made_up(areas), scheme)
    assert verdict is not None
    return verdict.found, verdict.safe


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
    assert [one.found for one in verdicts if one] == [UNREAD, CHANCE]
    assert [one.safe for one in verdicts if one] == [False, True]


@pytest.mark.parametrize(
    ("value", "words"), [(0.52, CHANCE), (0.57, "a leak"), (0.43, "a leak"), (0.99, OUTRIGHT)]
)
def test_rounds_are_judged_in_the_words_of_verdicts(value: float, words: str) -> None:
    rounds = made_up_rounds(product=value)
    assert rounds.found == words
    assert f": {words}; of devices" in rounds.sentence
    blind = replace(rounds, reads=dict.fromkeys(rounds.reads, False))
    assert blind.found == (BLIND if words == CHANCE else words)


def test_devices_have_short_names() -> None:
    rounds = made_up_rounds()
    assert rounds.scheme == "dmpss"
    assert list(rounds.kinds.values()) == ["raw", "final", "forgetful", "tossing"]


def test_what_one_audit_lacks_is_told_in_a_line() -> None:
    many, few = made_up(), made_up({"no": {"lr": 0.83}, "dmpss": {"lr": 0.48}})
    both = list(changes_between(many, few))
    gone = [one for one in both if one.after is None]
    assert dict(only_in_one(both)) == {
        "before": f"{len(gone)} numbers of scheme mp, adaptive-lr-items, fraction"
    }
    assert list(dict(only_in_one(list(changes_between(few, many))))) == ["after"]
    assert list(only_in_one(list(changes_between(few, few)))) == []


def test_changes_go_with_bands_and_controls() -> None:
    areas = {"no": {"lr": 0.8}, "dmp": {"lr": 0.51}}
    after = made_up(
        {"no": {"lr": 0.52}, "dmp": {"lr": 0.6}}, controls={"lr": Control("no", 0.52, reads=False)}
    )
    both = {(one.scheme, one.metric): one for one in changes_between(made_up(areas), after)}
    assert both["dmp", "auc"].chance == (True, False)
    assert both["dmp", "auc"].reads == (True, False)
    assert both["dmp", "withheld"].chance == (None, None)
    assert list(control_turns(made_up(areas), after)) == [("lr", True, False)]
    assert list(control_turns(after, after)) == []


def test_rounds_are_compared() -> None:
    before, after = made_up_rounds(), made_up_rounds(product=0.99)
    moved = {(one.scheme, one.attack): one for one in round_changes(before, after)}
    one = moved["dmpss:rounds=4", "transcript-trees"]
    assert (one.before, one.after, one.chance) == (0.52, 0.99, (True, False))
    turn = round_turn(before, after)
    assert turn is not None
    assert (turn.before, turn.after) == (CHANCE, OUTRIGHT)
    assert round_turn(before, before) is None


def test_none_is_not_all() -> None:
    with pytest.raises(MidpointError, match="no attack is named"):
        choose_attacks([])
    with pytest.raises(MidpointError, match="no scheme is named"):
        choose_schemes([], Scale.stars(1, 5))
    assert list(choose_schemes(["no"], Scale.stars(1, 5))) == ["no"]
