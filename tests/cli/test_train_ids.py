"""`midpoint train` with ids that no array holds, and people of whom nothing is known."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from midpoint.analyst import ItemProfiles
from midpoint.cli.app import app

LONG = 10**25


@pytest.mark.parametrize("first", [{"user": LONG}, {"item": LONG}, {"user": LONG, "item": LONG}])
def test_ids_of_26_digits_and_blank_features_are_trained_on(
    tmp_path: Path, first: dict[str, int]
) -> None:
    rng = np.random.default_rng(0)
    users = [first.get("user", 0) + k for k in range(40)]
    items = [first.get("item", 0) + k for k in range(6)]
    rows = [f"{u},{j},{rng.integers(1, 6)}" for u in users for j in items]
    (tmp_path / "r.csv").write_text("\n".join(["user,item,rating", *rows]) + "\n")
    people = [f"{u},{('F', 'M', 'NaN')[k % 3]}" for k, u in enumerate(users)]
    (tmp_path / "u.csv").write_text("\n".join(["user,gender", *people]) + "\n")
    words = ("train", tmp_path / "r.csv", "--users", tmp_path / "u.csv", "--feature", "gender")
    more = ("--dimension", 2, "--iterations", 2, "--out", tmp_path / "model")
    result = CliRunner().invoke(app, [str(word) for word in (*words, *more)])
    assert result.exit_code == 0, result.output
    profiles = ItemProfiles.load(tmp_path / "model")
    assert profiles.item_ids.tolist() == [str(item) for item in items]
    assert profiles.features == (("gender", ("F", "M")),)
    assert profiles.statistics is not None
    assert profiles.statistics.users.tolist() == [14, 13]
