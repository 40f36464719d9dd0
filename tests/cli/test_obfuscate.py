from pathlib import Path

import numpy as np
import polars as pl
import pytest

from midpoint.analyst import disclose
from midpoint.audit.run.protected import ANYTHING
from midpoint.data import load
from midpoint.errors import MidpointError
from midpoint.files import replace_file
from midpoint.protocol import LearningProtocol, Population
from tests.support.models.small_model import Model, run, trained


def tables(model: Model, directory: Path, suffix: str = ".csv") -> tuple[Path, Path]:
    """Write the training data as a table of ratings and one of users."""
    ratings = model.ratings
    long = pl.DataFrame(
        {
            "user": ratings.user_ids[ratings.user],
            "item": ratings.item_ids[ratings.item],
            "rating": ratings.value.astype(int),
        }
    )
    gender = ratings.features["gender"]
    names = np.array([*gender.categories, ""])
    people = pl.DataFrame({"user": ratings.user_ids, "gender": names[gender.codes]})
    paths = directory / f"ratings{suffix}", directory / "users.csv"
    if suffix == ".parquet":
        long.write_parquet(paths[0])
    else:
        long.write_csv(paths[0], separator="," if suffix == ".csv" else "\t")
    people.write_csv(paths[1])
    return paths


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".inter"])
def test_a_whole_data_set_goes_in_and_a_protected_copy_comes_out(
    tmp_path: Path, suffix: str
) -> None:
    model = trained()
    given, users = tables(model, tmp_path, suffix)
    out = tmp_path / f"copy{suffix}"
    words = ("--disclosure", model.disclosure_file, "--scheme", "dmpss", "--users", users)
    more = ("--feature", "gender", "--seed", "3", "--out", out)
    facts = run("obfuscate", given, *words, *more, "--json")
    copy = load(out)
    assert len(copy) == facts["revealed"]
    assert facts["revealed"] + facts["withheld"] == facts["ratings"] == len(model.ratings)
    assert facts["withheld"] > 0
    assert facts["people_dropped"] == facts["items_dropped"] == 0
    assert facts["safe"] is True
    assert facts["reach"] == "item by item"
    # It is what the protocol sends with the same coins.
    read = load(given, users=users)
    index = model.profiles.index_of(read.item_ids)[read.item]
    people = Population(read.user, index, read.value, read.features["gender"].codes)
    sent = LearningProtocol("dmpss").report(
        model.disclosure, model.profiles, people, np.random.default_rng(3)
    )
    sent_users = read.user_ids[read.user[sent.kept]]
    sent_items = model.profiles.item_ids[sent.item]
    assert copy.user_ids[copy.user].tolist() == sent_users.tolist()
    assert copy.item_ids[copy.item].tolist() == sent_items.tolist()
    assert copy.value.tolist() == sent.value.tolist()


def test_who_and_what_cannot_be_protected_is_left_out_and_counted(tmp_path: Path) -> None:
    model = trained()
    given, users = tables(model, tmp_path)
    lines = users.read_text().splitlines()
    lines[1] = lines[1].split(",")[0] + ","
    lines[2] = lines[2].split(",")[0] + ",X"
    users.write_text("\n".join(lines))
    gone = [line.split(",")[0] for line in lines[1:3]]
    with given.open("a") as stream:
        stream.write(f"{lines[3].split(',')[0]},unheard of,3\n")
    out = tmp_path / "copy.csv"
    facts = run("obfuscate", given, "--disclosure", model.disclosure_file, "--users", users,
               "--out", out, "--json")  # fmt: skip
    assert facts["people_dropped"] == 2
    assert facts["items_dropped"] == 1
    copy = load(out)
    assert not set(gone) & set(copy.user_ids)
    assert "unheard of" not in copy.item_ids


def test_alpha_and_unsafe_schemes_are_named_as_unsafe(tmp_path: Path) -> None:
    model = trained()
    given, users = tables(model, tmp_path)
    out = tmp_path / "copy.csv"
    words = ("obfuscate", given, "--users", users, "--out", out)
    facts = run(*words, "--disclosure", model.disclosure_file, "--alpha", "0", "--json")
    assert facts["withheld"] == 0
    assert facts["safe"] is False
    assert facts["reach"] == "nothing"
    assert facts["guarantees"].startswith("None")
    replace_file(tmp_path / "mp.json", disclose(model.profiles, "mp").raw)
    shown = run(*words, "--disclosure", tmp_path / "mp.json", "--seed", "1")
    assert "not safe to publish" in shown
    assert "Guarantees: None" in shown
    assert "independent" not in shown
    values = load(out, scale=ANYTHING).value
    assert (values % 1 != 0).any()  # the digits of an offset, which a guessed scale rounds away


def test_what_does_not_fit_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    model = trained()
    given, users = tables(model, tmp_path)
    out = tmp_path / "copy.csv"
    words = ("obfuscate", given, "--disclosure", model.disclosure_file, "--out", out)
    known = (*words, "--users", users)
    for extra, message in (
        (("--scheme", "mp"), "scheme dmpss, not mp"),
        (("--feature", "age"), "protects gender, not age"),
        (("--out", tmp_path / "copy.xls"), r"\.parquet"),
    ):
        with pytest.raises(MidpointError, match=message):
            run(*known, *extra)
    with pytest.raises(MidpointError, match="no user feature 'gender'"):
        run(*words)
    off = given.read_text().splitlines()
    off[5] = off[5].rsplit(",", 1)[0] + ",6"
    given.write_text("\n".join(off))
    with pytest.raises(MidpointError, match=r"rates item .* with 6"):
        run(*known)
    users.write_text(users.read_text().replace(",F", ",f").replace(",M", ",m"))
    with pytest.raises(MidpointError, match="called the same"):
        run(*known)
    assert not out.exists()
