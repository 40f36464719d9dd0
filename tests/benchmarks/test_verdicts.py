"""Where a peer wins, the page of benchmarks says so; where none does, it claims no win."""

from typing import Any

import pytest

from benchmarks.report import verdicts


def fitted(name: str, seconds: float, rmse: float | None) -> dict[str, Any]:
    return {"name": name, "total": {"best": seconds}, "fit": {"best": seconds}, "rmse": rmse}


def leaked(auc: float, cost: float) -> dict[str, Any]:
    return {"clean": ["lr", 0.5], "adaptive": ["svm", auc], "null": 0.55, "cost": cost}


def test_a_faster_or_better_factorizer_is_named() -> None:
    ours = {"midpoint": fitted("quick", 1.0, 0.85), "midpoint-best": fitted("best", 3.0, 0.83)}
    peers = {
        "fast": fitted("Fast", 0.5, None),
        "good": fitted("Good", 2.0, 0.82),
        "poor": fitted("Poor", 2.0, 0.84),
        "gone": {"name": "Gone", "failed": "no Java"},
    }
    assert list(verdicts.factorization({"contestants": {**ours, **peers}})) == [
        "Fast takes 0.50 of our time to build and fit",
        "Fast takes 0.50 of our time to fit",
        "Good has RMSE 0.8200 beside our 0.8300",
    ]
    alone = verdicts.verdict("factorization", {"contestants": {**ours, "poor": peers["poor"]}})
    assert str(alone).endswith("nowhere in these figures.")


def test_new_users_are_compared_by_mean_error_and_best_time() -> None:
    ours = [{"rmse": 0.8, "one_by_one": 4.0}, {"rmse": 0.9, "one_by_one": 3.0}]
    folds = {"Midpoint": ours, "Peer": [{"rmse": 0.86, "one_by_one": 1.5}]}
    assert list(verdicts.new_users({"folds": folds})) == [
        "Peer has 0.50 of our time for a profile, one by one"
    ]


@pytest.mark.parametrize(
    ("peer", "wins"),
    [
        (leaked(0.56, 0.01), True),
        (leaked(0.60, 0.005), True),
        (leaked(0.60, 0.01), False),
        (leaked(0.56, 0.02), False),
        (leaked(0.61, 0.0), False),
    ],
    ids=["tells less", "costs less", "the same", "costs more", "tells more"],
)
def test_a_peer_wins_that_tells_and_costs_no_more(peer: dict[str, Any], wins: bool) -> None:
    rows = {"no": leaked(0.9, 0.0), "dmp": leaked(0.60, 0.01), "Peer": peer}
    assert any("wins over" in said for said in verdicts.privacy({"data": {"d": rows}})) == wins


def test_a_peer_that_tells_less_at_a_higher_price_is_named() -> None:
    rows = {"dmp": leaked(0.60, 0.01), "dmpss": leaked(0.58, 0.01)}
    dear, dearer = {"Peer": leaked(0.56, 0.3)}, {"Peer": leaked(0.59, 0.3)}
    assert list(verdicts.privacy({"data": {"d": rows | dear}})) == [
        "d: Peer leaks less (AUC 0.560, cost +30.0%) than all of ours (AUC 0.580, cost +1.0%)"
    ]
    assert not list(verdicts.privacy({"data": {"d": rows | dearer}}))


def test_what_is_no_more_than_chance_tells_nothing() -> None:
    rows = {"dmp": leaked(0.51, 0.01), "Peer": leaked(0.54, 0.005)}
    said = str(verdicts.verdict("privacy", {"data": {"d": rows}}))
    assert "- d: Peer (AUC 0.540, cost +0.5%) wins over dmp (AUC 0.510, cost +1.0%)" in said
    assert verdicts.verdict("page", {}) is None


def test_a_serving_app_that_gives_more_lists_is_named() -> None:
    listed = {
        f"{path} {connections}": {"per_second": 1000.0}
        for path in ("/v1/scores?top=10&margin=100", "/v1/scores")
        for connections in (1, 32, 256)
    }
    ours = {"sqlite": {"reads": listed}}
    assert list(verdicts.service(ours)) == []
    faster = {"Cornac /recommend?k=10 1": {"per_second": 1500.0}}
    slower = {"Cornac /recommend?k=-1 32": {"per_second": 900.0}}
    [win] = verdicts.service({**ours, "cornac": faster | slower})
    assert win == (
        "Cornac's serving app (k=10) gives 1,500 lists a second at one connection, Midpoint 1,000"
    )
