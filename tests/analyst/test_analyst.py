"""The analyst as an object: it chooses as the command line does, signs, scores, asks, is kept."""

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from midpoint.analyst import Factorizer, ItemProfiles, Scorer, disclose
from midpoint.analyst.analyst import Analyst
from midpoint.analyst.fit.choice import Choice
from midpoint.cli.app import app
from midpoint.data import PRESETS, Ratings, Simulation, SimulationConfig, load, simulate
from midpoint.data.scale import Scale
from midpoint.data.simulation import SimulatedFeature
from midpoint.errors import MidpointError
from midpoint.user.agent.device import Device
from midpoint.wire import Refusal, RefusedError, Report

MANY = SimulationConfig(
    name="many",
    users=480,
    items=50,
    ratings=7_000,
    features=(SimulatedFeature("gender", ("F", "M"), bias_sd=0.3, selection_sd=0.3),),
    dimension=3,
    scale=Scale.stars(1, 5),
    popularity_sd=0.7,
    selection_taste_sd=0.3,
)
"""People enough for counterparts, who rate less than half of all titles."""
FULL = replace(MANY, name="full", ratings=23_500)
"""Almost everyone rates almost everything."""
STARS = {f"Film {n:04d}": 1 + n % 5 for n in range(1, 31)}


@pytest.fixture(scope="module")
def analyst(tiny: Simulation) -> Analyst:
    return Analyst.train(tiny.ratings, "gender", scheme="dmpss")


def reported(analyst: Analyst, gender: str = "F") -> Report:
    return Device(analyst.published, gender=gender).protect(STARS)


def tables(ratings: Ratings, directory: Path) -> tuple[str, str]:
    """Write ratings and people as somebody's own tables."""
    rows = zip(ratings.user.tolist(), ratings.item_ids[ratings.item], ratings.value, strict=True)
    given = "".join(f"{user},{item},{value:g}\n" for user, item, value in rows)
    gender = ratings.features["gender"]
    people = enumerate(gender.codes.tolist())
    known = "".join(f"{user},{gender.categories[code]}\n" for user, code in people if code >= 0)
    (directory / "ratings.csv").write_text("user,item,rating\n" + given)
    (directory / "people.csv").write_text("user,gender\n" + known)
    return str(directory / "ratings.csv"), str(directory / "people.csv")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["dmpss", "cmpss", "cmp"])
def test_it_chooses_and_discloses_as_the_command_does(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is measured; that both measure the same is tested in `test_training`."""
    config = {"dmpss": PRESETS["simulated-tiny"], "cmpss": MANY, "cmp": FULL}[scheme]
    choice = Choice(scheme, "it leaks least")
    monkeypatch.setattr("midpoint.audit.choose.choose", lambda *_, **__: choice)
    source, people = tables(simulate(config, seed=1).ratings, tmp_path)
    ratings, model = load(source, users=people), tmp_path / "model"
    command = ["train", source, "--users", people, "--feature", "gender", "--out", str(model)]
    assert CliRunner().invoke(app, command).exit_code == 0
    by_command = disclose(ItemProfiles.load(model))
    analyst = Analyst.train(ratings, "gender")
    assert analyst.scheme == scheme
    assert analyst.disclosure.raw == by_command.raw
    # The control: another scheme is another disclosure, and is taken where it is named.
    named = Analyst.train(ratings, "gender", scheme="dmp")
    assert (named.scheme, named.disclosure == by_command) == ("dmp", False)


def test_the_seed_and_the_factorizer_are_what_was_given(tiny: Simulation) -> None:
    small = Factorizer(dimension=2, iterations=2)
    trained = Analyst.train(tiny.ratings, "gender", factorizer=small, seed=3, scheme="dmp")
    settings = trained.profiles.provenance.configuration
    assert (settings["dimension"], settings["iterations"], settings["seed"]) == (2, 2, 3)


def test_what_cannot_be_trained_is_said_before_training(tiny: Simulation) -> None:
    with pytest.raises(MidpointError, match=r"name the private feature.*gender"):
        Analyst.train(tiny.ratings)
    with pytest.raises(MidpointError, match="no scheme 'mpps'"):
        Analyst.train(tiny.ratings, "gender", scheme="mpps")
    with pytest.raises(MidpointError):
        Analyst.train(tiny.ratings, "age")


def test_scores_are_those_of_the_functions_behind_it(analyst: Analyst) -> None:
    report, profiles, disclosure = reported(analyst), analyst.profiles, analyst.disclosure
    scorer = Scorer(profiles, disclosure)
    assert analyst.score(report) == scorer.scores([report])
    few = scorer.top([report], top=3, margin=5)
    assert analyst.score(report, top=3, margin=5) == few


def test_a_question_is_about_other_items_and_of_the_next_round(analyst: Analyst) -> None:
    first = analyst.solicit(budget=10)
    device = Device(analyst.published, gender="F")
    report = device.protect(dict.fromkeys(first.items, 4), question=first)
    second = analyst.solicit(report, budget=10, asked=[first])
    assert (first.round, second.round) == (0, 1)
    assert len(second.items) == 10
    assert not {*first.items} & {*second.items}
    assert device.protect(dict.fromkeys(second.items, 2), question=second).round == 1


def test_saved_and_loaded_it_is_the_same_to_devices(analyst: Analyst, tmp_path: Path) -> None:
    report = reported(analyst)
    analyst.save(tmp_path / "site")
    again = Analyst.load(tmp_path / "site")
    assert again.published == analyst.published
    assert again.score(report) == analyst.score(report)
    assert again.key.public == analyst.key.public
    with pytest.raises(MidpointError, match="not empty"):
        analyst.save(tmp_path / "site")
    with pytest.raises(MidpointError, match="shows nothing"):
        Analyst.load(tmp_path / "elsewhere")


def test_a_later_model_is_published_under_the_key_of_the_site(
    analyst: Analyst, tiny: Simulation, tmp_path: Path
) -> None:
    site, home = tmp_path / "site", tmp_path / "home"
    analyst.publish(site)
    Device(analyst.published, home=home, gender="F").close()
    alone = Analyst.train(tiny.ratings, "gender", seed=1, scheme="dmp")
    with pytest.raises(RefusedError) as refused:
        Device(alone.published, home=home, gender="F")
    assert refused.value.code is Refusal.KEY_CHANGED
    later = alone.publish(site)
    assert (later.scheme, len(later.chain.entries)) == ("dmpss", 2)
    with Device(later.published, home=home, gender="F") as device:
        assert device.rank(later.score(device.protect(STARS)))
    with pytest.raises(MidpointError, match="copy that directory"):
        later.save(tmp_path / "second")
    assert later.publish(site, scheme="dmp").scheme == "dmp"  # by name, as the command does


def test_it_prints_in_a_line_and_without_its_key(analyst: Analyst) -> None:
    text = repr(analyst)
    assert len(text) < 300
    assert "gender (F, M)" in text
    assert "dmpss" in text
    assert "<td>dmpss</td>" in analyst._repr_html_()
    assert len(repr(analyst.published)) < 300
