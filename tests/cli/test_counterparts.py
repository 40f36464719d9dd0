"""From ratings to recommendations with counterparts, by the commands that people use."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from midpoint.analyst import Factorizer, ItemProfiles, fit_positions
from midpoint.analyst.fit.choice import Choice
from midpoint.cli.app import app
from midpoint.data import PRESETS, Ratings, load, simulate
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Population, copies
from midpoint.protocol.copies import obfuscated_copy
from midpoint.user import check_disclosure
from midpoint.wire import Chain, Disclosure, Report, Scores, to_fixed
from tests.support.models.small_model import run

pytestmark = pytest.mark.slow  # each trains or obfuscates hundreds of people

QUICK = ("--feature", "gender", "--dimension", 3, "--iterations", 3)


class Trained(NamedTuple):
    """A model trained and disclosed by the command line."""

    directory: Path
    """The model is `model` in it, its disclosure `disclosure.json`."""
    profiles: ItemProfiles
    """The same, in memory."""
    disclosure: Disclosure
    """What is disclosed of it."""
    ratings: Ratings
    """What it was trained on."""

    @property
    def model(self) -> Path:
        return self.directory / "model"


def train(directory: Path, source: object, *more: object) -> Trained:
    run("train", source, *QUICK, *more, "--out", directory / "model")
    run("disclose", directory / "model", "--out", directory / "disclosure.json")
    disclosure = Disclosure.parse((directory / "disclosure.json").read_bytes())
    ratings = simulate(PRESETS[str(source)], seed=0).ratings
    return Trained(directory, ItemProfiles.load(directory / "model"), disclosure, ratings)


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(tmp_path_factory.mktemp("sets"), "simulated-tiny", "--counterparts", "sets")


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(tmp_path_factory.mktemp("values"), "simulated-ptv", "--counterparts", "values")


def tables(model: Trained, order: np.ndarray | None = None) -> tuple[Path, Path]:
    """Write the ratings, in any order, and the users."""
    ratings = model.ratings
    rows = np.arange(len(ratings)) if order is None else order
    name = "given.csv" if order is None else "shuffled.csv"
    columns = {
        "user": ratings.user_ids[ratings.user[rows]],
        "item": ratings.item_ids[ratings.item[rows]],
        "rating": ratings.value[rows].astype(int),
    }
    gender = ratings.features["gender"]
    people = {"user": ratings.user_ids, "gender": np.array(gender.categories)[gender.codes]}
    pl.DataFrame(columns).write_csv(model.directory / name)
    pl.DataFrame(people).write_csv(model.directory / "users.csv")
    return model.directory / name, model.directory / "users.csv"


def test_auto_learns_what_the_chosen_scheme_needs(
    sets: Trained, values: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for model, scheme in ((sets, "cmpss"), (values, "cmp")):
        chosen = Choice(scheme, "it leaks least")
        monkeypatch.setattr("midpoint.audit.choose.choose", lambda *_, chosen=chosen, **__: chosen)
        again = train(tmp_path / scheme, model.ratings.name)
        assert again.disclosure == model.disclosure
        assert again.profiles.choice == chosen
        assert model.profiles.choice is None


def test_what_is_learned_is_what_the_library_learns(sets: Trained, values: Trained) -> None:
    for model, scheme, selection_factors in ((sets, "cmpss", 4), (values, "cmp", 0)):
        assert model.disclosure.scheme == scheme
        assert model.profiles.positions is not None
        assert model.profiles.positions.selection_factors == selection_factors
        learned = Factorizer(dimension=3, iterations=3).fit(model.ratings, "gender")
        again = fit_positions(learned, model.ratings, selection_factors=selection_factors)
        assert LearningProtocol(scheme).disclose(again) == model.disclosure
        facts = run("disclose", model.model, "--out", model.directory / "disclosure.json", "--json")
        assert (facts["scheme"], facts["safe"]) == (scheme, True)
        assert facts["bits_per_item"] > 100


@pytest.mark.parametrize("name", ["sets", "values"])
def test_ratings_are_obfuscated_estimated_and_recommended(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    model: Trained = request.getfixturevalue(name)
    given, users = tables(model)
    out, scheme = tmp_path / "copy.csv", model.disclosure.scheme
    words = ("--disclosure", model.directory / "disclosure.json", "--users", users, "--seed", 3)
    facts = run("obfuscate", given, *words, "--out", out, "--json")
    assert facts["safe"] is True
    assert (facts["withheld"] > 0) == (scheme == "cmpss")
    copy, read = load(out), load(given, users=users)
    where = model.profiles.index_of(read.item_ids)[read.item]
    people = Population(read.user, where, read.value, read.features["gender"].codes)
    coins = np.random.default_rng(3)
    sent = LearningProtocol(scheme).report(model.disclosure, model.profiles, people, coins)
    assert copy.value.tolist() == sent.value.tolist()
    assert not np.array_equal(sent.value, read.value[sent.kept])
    rows = copy.of_user(0)
    named = sorted(zip(copy.item_ids[copy.item[rows]].tolist(), copy.value[rows], strict=True))
    answers = tuple((item, int(to_fixed(value))) for item, value in named)
    report = Report(id="0" * 32, disclosure=model.disclosure.digest, round=0, answers=answers)
    (tmp_path / "report.json").write_bytes(report.raw)
    found = run("estimate", model.model, tmp_path / "report.json", "--json")
    assert found["count"] == len(answers) > 0
    scores = tmp_path / "scores.json"
    wanted = (tmp_path / "report.json", "--top", 3, "--out", scores, "--json")
    shown = run("recommend", model.model, *wanted)["recommended"]
    assert Scores.parse(scores.read_bytes()).disclosure == model.disclosure.digest
    assert len(shown) == min(3, model.profiles.n_items - len(answers))
    assert not {row["item"] for row in shown} & {item for item, _ in answers}


def test_people_are_taken_together_wherever_their_rows_are(
    sets: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a coin that always falls alike, what is left depends on the person and nothing else."""
    monkeypatch.setattr(copies, "_coins", lambda _: lambda n: np.full((n, 4), 0.6))
    shuffled = np.random.default_rng(0).permutation(len(sets.ratings))
    made = []
    for order in (None, shuffled):
        given, users = tables(sets, order)
        copy, _ = obfuscated_copy(load(given, users=users), sets.disclosure)
        names = copy.user_ids[copy.user], copy.item_ids[copy.item]
        made.append({(u, j): v for u, j, v in zip(*names, copy.value.tolist(), strict=True)})
    assert made[0] == made[1]
    assert 0 < len(made[0]) < len(sets.ratings)


def test_publishing_takes_the_scheme_of_the_model(sets: Trained, tmp_path: Path) -> None:
    site = tmp_path / "site"
    facts = run("publish", sets.model, site, "--json")
    chain = Chain.parse((site / "list.json").read_bytes())
    raw = (site / "disclosures" / f"{facts['disclosure']}.json").read_bytes()
    assert check_disclosure(raw, list(chain.entries), None).disclosure == sets.disclosure


def test_without_positions_the_discrete_midpoint_is_left(tmp_path: Path) -> None:
    model = train(tmp_path, "simulated-tiny", "--counterparts", "none")
    assert model.profiles.positions is None
    assert model.disclosure.scheme == "dmpss"
    for scheme, what in (("cmpss", "sets"), ("cmp", "values")):
        with pytest.raises(MidpointError, match=f"--counterparts {what}"):
            run("disclose", model.model, "--scheme", scheme, "--out", tmp_path / "no.json")
    assert not (tmp_path / "no.json").exists()


def test_what_was_named_was_not_measured_and_it_says_so(tmp_path: Path) -> None:
    command = ["train", "simulated-tiny", *map(str, QUICK), "--out", str(tmp_path / "model")]
    shown = CliRunner().invoke(app, [*command, "--counterparts", "none"]).output
    assert "Nothing was measured: audit it before you publish" in " ".join(shown.split())


def test_what_is_asked_for_is_learned_or_refused(sets: Trained, tmp_path: Path) -> None:
    model = train(tmp_path / "values", "simulated-tiny", "--counterparts", "values")
    assert model.disclosure.scheme == "cmp"
    with pytest.raises(MidpointError, match="--counterparts sets"):
        run("disclose", model.model, "--scheme", "cmpss", "--out", tmp_path / "no.json")
    with pytest.raises(MidpointError, match="one precision"):
        run("disclose", sets.model, "--bits", 6, "--out", tmp_path / "no.json")
    given, users = tables(sets)
    lines = given.read_text().splitlines()
    smooth = tmp_path / "smooth.csv"
    smooth.write_text(
        "\n".join([lines[0], *(f"{line}.{k % 97:02}" for k, line in enumerate(lines[1:]))])
    )
    words = ("train", smooth, "--users", users, "--dimension", 2, "--iterations", 2)
    gender = ("--scale", "1:6:0", "--feature", "gender")
    with pytest.raises(MidpointError, match="discrete scale"):
        run(*words, *gender, "--counterparts", "sets", "--out", tmp_path / "no")
    with pytest.raises(MidpointError, match="need a private feature"):
        run("train", given, "--users", users, "--counterparts", "sets", "--out", tmp_path / "no")
    assert not (tmp_path / "no").exists()
    run(*words, *gender, "--out", tmp_path / "yes")
    assert ItemProfiles.load(tmp_path / "yes").positions is None
