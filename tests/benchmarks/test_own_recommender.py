"""The tables of the guides are those of `benchmarks/results/own_recommender.json`."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KEPT = json.loads((ROOT / "benchmarks" / "results" / "own_recommender.json").read_text())
SHORT = {
    "AlternatingLeastSquares": "ALS",
    "BayesianPersonalizedRanking": "BPR",
    "ImplicitMFScorer": "ImplicitMF",
    "BiasedMFScorer": "BiasedMF",
}
"""What the program calls the classes that the guides name."""
SPECIAL = {"Midpoint's own fit": "Midpoint", "random numbers (the control)": "random numbers"}


def rows(guide: str, heading: str) -> dict[str, list[str]]:
    """Return the cells of a guide's table by the model that its first column names."""
    text = (ROOT / "docs" / "guides" / guide).read_text(encoding="utf-8")
    lines = text.partition(heading)[2].partition("\n\n")[0].splitlines()[2:]
    table = {}
    for line in lines:
        first, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        model = re.sub(r"[`,]", "", first)
        words = [SHORT.get(word, word) for word in model.split()]
        table[SPECIAL.get(first, " ".join(words))] = cells
    return table


def test_the_guide_to_a_blind_copy_shows_what_was_measured() -> None:
    shown = rows("blind-copy.md", "| model | RMSE, raw")
    names = ("rmse_raw", "rmse_copy", "ndcg_raw", "ndcg_copy")
    assert shown == {
        model: [f"{found[name]:.3f}" if name in found else "" for name in names]
        for model, found in KEPT["copies"].items()
    }
    assert sum(model.startswith("RecBole") for model in shown) == 3


def test_the_guide_to_ones_own_recommender_shows_what_was_measured() -> None:
    shown = rows("own-recommender.md", "| item factors from")
    assert shown.keys() == KEPT["new_people"].keys()
    for model, folds in KEPT["new_people"].items():
        assert float(shown[model][0]) == pytest.approx(sum(folds) / len(folds), abs=6e-4)
