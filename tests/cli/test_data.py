import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from midpoint.cli.data import app
from midpoint.data.simulation.presets import PRESETS
from midpoint.data.sources.catalogue import SOURCES
from midpoint.errors import MidpointError


@pytest.fixture(autouse=True)
def data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "data"
    monkeypatch.delenv("MIDPOINT_DATA", raising=False)
    monkeypatch.setattr(
        "midpoint.data.sources.catalogue.user_data_path", lambda *_, **__: directory
    )
    monkeypatch.setenv("COLUMNS", "200")
    return directory


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def small_100k(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / "u.data").write_text("1\t7\t3\t5\n2\t7\t4\t6\n2\t8\t5\t7\n3\t8\t1\t7\n")
    (path / "u.user").write_text("1|24|M|writer|0\n2|40|F|other|0\n3|70|M|other|0\n")
    (path / "u.item").write_text("7|Seven (1995)|x\n8|Eight|x\n")
    return path


def test_list_names_every_source_and_where_it_is(data_directory: Path) -> None:
    before = json.loads(run("list", "--json"))
    assert [row["name"] for row in before] == [*SOURCES, *PRESETS]
    assert all(row["where"] is None for row in before[: len(SOURCES)])
    path = small_100k(data_directory / "ml-100k")
    after = {row["name"]: row["where"] for row in json.loads(run("list", "--json"))}
    assert after["movielens-100k"] == str(path)
    shown = run("list")
    assert all(name in shown for name in after)
    assert "not here" in shown


def test_get_says_where_it_is_or_how_to_obtain_it(data_directory: Path) -> None:
    path = small_100k(data_directory / "ml-100k")
    assert run("get", "movielens-100k") == f"movielens-100k was here already: {path}\n"
    with pytest.raises(MidpointError, match="no longer public"):
        run("get", "flixster")
    with pytest.raises(MidpointError, match="no data set 'nope'"):
        run("get", "nope")


def test_describe_prints_table_1(data_directory: Path) -> None:
    small_100k(data_directory / "ml-100k")
    shown = run("describe", "movielens-100k")
    assert "F:M 1:2" in shown
    assert "adult:young 1:1" in shown
    facts = json.loads(run("describe", "movielens-100k", "--json"))
    assert (facts["users"], facts["items"], facts["ratings"]) == (3, 2, 4)
    gender, age = facts["features"][:2]
    assert (gender["users"], gender["ratings"]) == ([1, 2], [2, 2])
    assert age["missing"] == 1


def test_describe_shows_the_categories_of_a_feature(data_directory: Path) -> None:
    small_100k(data_directory / "ml-100k")
    shown = run("describe", "movielens-100k", "--feature", "gender")
    rows = [re.split(r" *│ *", line)[1:-1] for line in shown.splitlines() if line.startswith("│")]
    assert ["F", "1", "33.3%", "2", "50.0%"] in rows
    assert ["M", "2", "66.7%", "2", "50.0%"] in rows
    assert "age" not in shown
    facts = json.loads(run("describe", "movielens-100k", "--feature", "gender", "--json"))
    (gender,) = facts["features"]
    assert (gender["name"], gender["users"], gender["ratings"]) == ("gender", [1, 2], [2, 2])


def test_several_features_to_describe_make_a_joint_one(data_directory: Path) -> None:
    small_100k(data_directory / "ml-100k")
    words = ("--feature", "gender", "--feature", "age", "--json")
    (joint,) = json.loads(run("describe", "movielens-100k", *words))["features"]
    assert len(joint["categories"]) == 4
    assert sum(joint["users"]) == 2
    assert joint["missing"] == 1  # the age of the third person is left out
    with pytest.raises(MidpointError, match="no user feature 'height'"):
        run("describe", "movielens-100k", "--feature", "height")


def test_describe_takes_ones_own_tables_and_names(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("who,what,liked\nann,x,4\nbob,y,2\n")
    (tmp_path / "u.csv").write_text("who,sex,zip\nann,F,1\nbob,M,2\n")
    names = ["--user-column", "who", "--item-column", "what", "--rating-column", "liked"]
    users = ["--users", str(tmp_path / "u.csv"), "--feature-columns", "sex"]
    own_table = str(tmp_path / "a.csv")
    facts = json.loads(run("describe", own_table, *names, *users, "--scale", "1:5", "--json"))
    assert facts["scale"] == "1 2 3 4 5"
    assert [feature["name"] for feature in facts["features"]] == ["sex"]
    with pytest.raises(MidpointError, match="name them by --user-column"):
        run("describe", own_table)


def test_describe_takes_simulated_sources_by_seed() -> None:
    first, again, other = (run("describe", "simulated-tiny", "--seed", s) for s in ("1", "1", "2"))
    assert first == again != other


def test_a_mean_is_shown_of_ratings_and_not_of_sets(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for rows, has_mean in (
        ("user,item,rating\nann,x,4\nbob,y,2\n", True),
        ("user,item\na,x\n", False),
    ):
        path.write_text(rows)
        assert ("mean" in run("describe", str(path))) == has_mean


def test_describe_can_keep_only_those_with_many_ratings(tmp_path: Path) -> None:
    rows = [f"{user},{item},{1 + (user + item) % 5}" for user in range(4) for item in range(3)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["user,item,rating", *rows, "9,0,1", "1,9,5"]))
    sizes = []
    for least in ("1", "3"):
        facts = json.loads(run("describe", str(path), "--at-least", least, "--json"))
        sizes.append((facts["users"], facts["items"], facts["ratings"]))
    assert sizes == [(5, 4, 14), (4, 3, 12)]


def test_warnings_are_shown_beside_the_result(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("user,item,rating\nann,x,4\nbob,y,2\n")
    (tmp_path / "u.csv").write_text("user,sex\nann,F\nbob,M\n")
    call = ["describe", str(tmp_path / "a.csv"), "--users", str(tmp_path / "u.csv"), "--json"]
    assert CliRunner().invoke(app, call).stderr == ""
    (tmp_path / "u.csv").write_text("user,sex\nann,F\n")
    result = CliRunner().invoke(app, call)
    assert result.stderr.startswith("warning: ")
    assert "knows nothing of 1 of 2 users, the first 'bob'" in result.stderr
    assert json.loads(result.stdout)["features"][0]["missing"] == 1
