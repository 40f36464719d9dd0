import re
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from midpoint.analyst import Factorizer, ItemProfiles
from midpoint.analyst.fit.tuning import Trial, Tuning
from midpoint.cli.app import app
from midpoint.data import PRESETS, simulate
from midpoint.errors import MidpointError

LONG = 10**25


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Write ratings and users as CSV."""
    ratings = simulate(PRESETS["simulated-tiny"], seed=1).ratings
    directory = tmp_path_factory.mktemp("tables")
    rows = zip(ratings.user, ratings.item, ratings.value, strict=True)
    lines = [f"{ratings.user_ids[u]},{ratings.item_ids[j]},{r:g}" for u, j, r in rows]
    (directory / "ratings.csv").write_text("\n".join(["user,item,rating", *lines]) + "\n")
    gender = ratings.feature("gender")
    people = [
        f"{u},{gender.categories[k]}" for u, k in zip(ratings.user_ids, gender.codes, strict=True)
    ]
    (directory / "users.csv").write_text("\n".join(["user,gender", *people]) + "\n")
    return directory / "ratings.csv", directory / "users.csv"


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["train", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.slow
def test_ones_own_tables_become_item_profiles(tables: tuple[Path, Path], tmp_path: Path) -> None:
    ratings, users = tables
    out = tmp_path / "model"
    shown = run(
        ratings, "--users", users, "--feature", "gender", "--dimension", 3, "--validation", 0,
        "--seed", 4, "--out", out,
    )  # fmt: skip
    found = ItemProfiles.load(out)
    assert found.dimension == 4
    assert found.features == (("gender", ("F", "M")),)
    assert found.provenance.configuration["seed"] == 4
    assert str(out) in shown
    assert "gender F adds most to:" in shown
    assert "60 item profiles of dimension 3" in shown
    assert found.choice is not None
    assert f"Devices will use scheme {found.scheme}, because {found.choice.reason}" in shown
    assert "This is a choice, not a certificate" in shown
    assert "leak (AUC)" in shown
    simulated = simulate(PRESETS["simulated-tiny"], seed=1)
    direct = Factorizer(dimension=3, seed=4).fit(simulated.ratings, "gender")
    index = direct.index_of(found.item_ids)
    assert found.offset == pytest.approx(direct.offset[index], abs=1e-6)


def test_defaults_are_the_library_s_and_options_reach_the_factorizer(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    ratings, users = tables
    named = "--feature", "gender", "--counterparts", "none"
    run(ratings, "--users", users, *named, "--out", tmp_path / "a")
    made = ItemProfiles.load(tmp_path / "a").provenance.configuration
    default = asdict(Factorizer())
    del default["threads"]
    assert made == default
    run(
        ratings, "--users", users, *named, "--out", tmp_path / "b",
        "--regularization", "0.1", "--biases", "joint", "--iterations", 3, "--threads", 1,
    )  # fmt: skip
    made = ItemProfiles.load(tmp_path / "b").provenance.configuration
    assert (made["regularization"], made["biases"], made["iterations"]) == (0.1, "joint", 3)


def test_a_known_name_will_do_and_few_ratings_can_be_dropped(tmp_path: Path) -> None:
    shown = run("simulated-tiny", "--out", tmp_path / "all", "--dimension", 2, "--method", "sgd")
    assert "No scheme: without --feature there is nothing to protect" in shown
    run("simulated-tiny", "--out", tmp_path / "some", "--dimension", 2, "--at-least", 15)
    every, some = (ItemProfiles.load(tmp_path / name) for name in ("all", "some"))
    assert every.features == ()
    assert 0 < some.n_items < every.n_items == 60


def test_a_handful_of_ratings_is_enough(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("user,item,rating\na,x,1\na,y,5\nb,y,2\nb,z,4\n")
    (tmp_path / "u.csv").write_text("user,g\na,F\nb,M\n")
    words = (tmp_path / "r.csv", "--users", tmp_path / "u.csv", "--feature", "g")
    with pytest.raises(MidpointError, match="'F' of g has 1 person only"):
        run(*words, "--out", tmp_path / "m")
    shown = run(*words, "--least-people", 1, "--out", tmp_path / "m")
    assert (
        "r: 2 people, 3 items, 4 ratings\n  scale: 1 2 3 4 5\n  g: F 1, M 1, not known 0" in shown
    )
    assert ItemProfiles.load(tmp_path / "m").n_items == 3


@pytest.mark.slow
def test_tuning_is_shown_and_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trials = (Trial(10, "learned", 0.9, 0.01), Trial(3, 0.05, 0.8, 0.01))

    def quick(*_: object, progress: object, **__: object) -> Tuning:
        assert callable(progress)
        progress(1, 2)
        return Tuning(trials, trials[1], Factorizer(dimension=3, regularization=0.05))

    monkeypatch.setattr(sys.modules["midpoint.analyst.fit.tuning"], "tune", quick)
    shown = run("simulated-tiny", "--feature", "gender", "--tune", "--out", tmp_path / "m")
    assert "0.8000" in shown
    assert "0.9000" in shown
    made = ItemProfiles.load(tmp_path / "m").provenance.configuration
    assert (made["dimension"], made["regularization"]) == (3, 0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.csv",), "nowhere.csv"),
        (("simulated-tiny", "--feature", "height"), "no user feature 'height'; it has gender"),
        (("simulated-tiny", "--regularization", "some"), "write `learned`, or a number"),
        (("simulated-tiny", "--regularization", "-1"), "must be"),
        (("simulated-tiny", "--regularization", "nan"), "must be"),
        (("simulated-tiny", "--biases", "joint", "--method", "sgd"), "alternating least squares"),
        (("simulated-tiny", "--at-least", "1000"), "ask for fewer"),
        (("simulated-tiny", "--levels", "6"), "cannot be brought to 6 levels"),
    ],
)
def test_mistakes_are_explained_and_write_nothing(
    arguments: tuple[str, ...], message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "model"
    with pytest.raises(MidpointError, match=message):
        run(*arguments, "--out", out)
    assert not out.exists()
    assert "Traceback" not in capfd.readouterr().err


def test_a_directory_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of it")
    with pytest.raises(MidpointError, match="name a new directory"):
        run("simulated-tiny", "--dimension", 2, "--out", tmp_path)
    assert (tmp_path / "thesis.txt").exists()


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
    quick = ("--dimension", 2, "--iterations", 2, "--counterparts", "none")
    more = (*quick, "--out", tmp_path / "model")
    result = CliRunner().invoke(app, [str(word) for word in (*words, *more)])
    assert result.exit_code == 0, result.output
    profiles = ItemProfiles.load(tmp_path / "model")
    assert profiles.item_ids.tolist() == [str(item) for item in items]
    assert profiles.features == (("gender", ("F", "M")),)
    assert profiles.statistics is not None
    assert profiles.statistics.users.tolist() == [14, 13]


def test_a_leak_budget_is_printed_with_what_it_costs(tmp_path: Path) -> None:
    small = ("simulated-tiny", "--feature", "gender", "--dimension", 2, "--iterations", 3)
    plain = run(*small, "--counterparts", "none", "--out", tmp_path / "plain")
    assert "would reach an AUC of" in plain
    assert "bound (AUC)" not in plain
    shown = run(*small, "--counterparts", "none", "--leak", 0.6, "--out", tmp_path / "model")
    assert "bound (AUC)" in shown
    assert "0.60 *" in shown
    costs = [float(cost) for cost in re.findall(r"([-+]\d+\.\d)%", shown)]
    assert len(costs) > 2
    assert ItemProfiles.load(tmp_path / "model").leak == 0.6
    assert ItemProfiles.load(tmp_path / "plain").leak is None
    with pytest.raises(MidpointError, match="reveals every rating"):
        run(*small, "--counterparts", "values", "--leak", 0.6, "--out", tmp_path / "other")


def test_a_recommender_of_ones_own_keeps_its_items(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    ratings, users = tables
    made = Factorizer(dimension=3).fit(simulate(PRESETS["simulated-tiny"], seed=1).ratings)
    factors = tmp_path / "factors.npz"
    np.savez(factors, item_ids=made.item_ids[1:], vectors=made.vectors[1:, 1:])
    named = ratings, "--users", users, "--feature", "gender", "--counterparts", "none"
    shown = run(*named, "--factors", factors, "--out", tmp_path / "model")
    assert "59 items have factors" in shown
    assert "1 rated items have none and say nothing of taste" in shown
    profiles = ItemProfiles.load(tmp_path / "model")
    assert profiles.provenance.configuration["factors"] == str(factors)
    assert profiles.informative.sum() == 59
    for idle, message in (
        (["--dimension", 5], "--dimension has no use beside --factors"),
        (["--tune"], "--tune fits the items"),
    ):
        with pytest.raises(MidpointError, match=message):
            run(*named, "--factors", factors, *idle, "--out", tmp_path / "other")
