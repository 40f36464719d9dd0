"""One contract for all engines: the positions of `fit_positions` from ratings in memory."""

from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from midpoint.analyst import (
    Factorizer,
    ItemProfiles,
    PositionModel,
    Progress,
    disclose,
    fit_positions,
    train,
)
from midpoint.analyst.counterparts import fit, panel, sample
from midpoint.analyst.counterparts.fit import learn_positions
from midpoint.analyst.counterparts.panel import ByUser, Panel
from midpoint.analyst.engines import Engine, StreamingEngine, train_on
from midpoint.analyst.engines.unfinished import Unfinished
from midpoint.data import Ratings, simulate
from midpoint.errors import MidpointError
from tests.analyst.engines.test_contract import PEOPLE, read
from tests.support.people.position_world import require_equal, require_sound, the_positions
from tests.support.tables.tables_on_disk import FROM_DISK, Tables, write

QUICK = Factorizer(dimension=3, iterations=4)
ON_DISK = pytest.mark.parametrize("engine", FROM_DISK, indirect=True)


@cache
def drawn() -> Ratings:
    return simulate(replace(PEOPLE, users=900, ratings=30_000), seed=5).ratings


@pytest.fixture(scope="module")
def stars(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    return write(drawn(), tmp_path_factory.mktemp("stars"))


@pytest.fixture(scope="module")
def profiles(stars: Tables) -> ItemProfiles:
    return QUICK.fit(stars.ratings, "gender")


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let 900 people be too many to learn items from all of them."""
    monkeypatch.setattr(sample, "MOST_CELLS", 400 * 150)
    monkeypatch.setattr(sample, "LEAST_SAMPLE", 100)
    monkeypatch.setattr(sample, "LEAST_OF_CATEGORY", 150)
    monkeypatch.setattr(panel, "PEOPLE_AT_ONCE", 200)


def people_of(engine: Engine, stars: Tables) -> Panel:
    """Return the people whom an engine has."""
    ratings = read(engine, stars.directory, stars.users, ("gender",))
    if engine.name == "spark":
        from midpoint.analyst.engines.spark.panel import SparkPanel  # noqa: PLC0415 - as above

        return SparkPanel(ratings.frame)  # type: ignore[attr-defined]
    given: list[Panel] = []

    def then(found: ItemProfiles, people: Panel) -> ItemProfiles:
        given.append(people)
        return found

    ratings.fit(Factorizer(dimension=1, iterations=1), then=then)
    return given[0]


def require_near(found: PositionModel, expected: PositionModel) -> None:
    """Hold sums over people, in another order, to 1e-9."""
    for field in fields(expected):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if other is None:  # spreads are learned only where they are disclosed
            assert one is None
            continue
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9, err_msg=field.name)


@ON_DISK
def test_positions_of_the_same_people_are_those_of_memory(
    engine: Engine, stars: Tables, profiles: ItemProfiles
) -> None:
    found = the_positions(learn_positions(profiles, people_of(engine, stars)))
    require_equal(found, the_positions(fit_positions(profiles, stars.ratings)))
    other = the_positions(fit_positions(profiles, stars.ratings, seed=1))
    with pytest.raises(AssertionError):
        require_near(found, other)


@ON_DISK
@pytest.mark.usefixtures("many")
def test_positions_of_many_people_are_those_of_memory(
    engine: Engine, stars: Tables, profiles: ItemProfiles
) -> None:
    """The same people are in the sample, and everyone's sums are the same."""
    people = people_of(engine, stars)
    found = the_positions(learn_positions(profiles, people))
    expected = the_positions(fit_positions(profiles, stars.ratings))
    require_sound(expected)
    require_near(found, expected)
    shares = np.array([0.5, 0.2])
    in_memory = ByUser.of(stars.ratings, stars.ratings.feature("gender"))
    one, other = people.take(shares), in_memory.take(shares)
    for name in ("offsets", "item", "value", "bounds"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    # The control: another seed draws others.
    assert len(replace(in_memory, seed=1).take(shares).item) != len(other.item)


def test_every_engine_learns_what_counterparts_need(engine: Engine, stars: Tables) -> None:
    ratings = read(engine, stars.directory, stars.users, ("gender",))
    reported: list[Progress] = []
    found = train_on(ratings, QUICK, reported.append, scheme="cmpss")
    expected = train(stars.ratings, "gender", factorizer=QUICK, scheme="cmpss")
    assert found.scheme == expected.scheme == "cmpss"
    require_sound(the_positions(found))
    assert reported[-1].stage == "Fitting positions"
    assert reported[-1].iteration == reported[-1].iterations
    if engine.name == "stream":  # whose profiles agree to five digits
        for name, most in (("mean", 0.02), ("covariance", 0.05), ("rate", 0.05)):
            one, other = (getattr(the_positions(p), name) for p in (found, expected))
            np.testing.assert_allclose(one, other, atol=most, err_msg=name)
    disclosed, wanted = disclose(found), disclose(expected)
    assert disclosed.items == wanted.items
    assert np.shape(disclosed.prior.mean) == np.shape(wanted.prior.mean)  # type: ignore[union-attr]
    with pytest.raises(MidpointError, match="there is no scheme 'best'"):
        train_on(ratings, QUICK, scheme="best")


class KilledError(Exception):
    """Stands for a signal that ends the process."""


@ON_DISK
@pytest.mark.usefixtures("many")
def test_a_killed_fit_of_positions_goes_on(
    engine: Engine,
    stars: Tables,
    profiles: ItemProfiles,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if engine.name == "spark":
        monkeypatch.setattr("midpoint.analyst.engines.spark.panel._at_once", lambda _cores: 1)
    people, last = people_of(engine, stars), fit.LAST_STEPS
    steps: list[int] = []

    def kill(done: int, total: int) -> None:
        steps.append(done)
        if done > total - last:  # among everyone, after what is kept
            raise KilledError

    with pytest.raises(KilledError):
        learn_positions(profiles, people, progress=kill, checkpoint=tmp_path / "kept")
    before = max(steps)
    steps.clear()
    found = learn_positions(
        profiles,
        people,
        progress=lambda done, _total: steps.append(done),
        checkpoint=tmp_path / "kept",
    )
    assert min(steps) > before  # nothing is done again
    require_near(the_positions(found), the_positions(fit_positions(profiles, stars.ratings)))


@pytest.mark.usefixtures("many")
def test_a_killed_run_goes_on_from_its_item_profiles(stars: Tables, tmp_path: Path) -> None:
    ratings = read(StreamingEngine(), stars.directory, stars.users, ("gender",))
    left, stages = Unfinished(tmp_path / "model.unfinished"), set[str]()

    def kill(progress: Progress) -> None:
        stages.add(progress.stage)
        if progress.stage == "Fitting positions":
            raise KilledError

    with pytest.raises(KilledError):
        train_on(ratings, QUICK, kill, scheme="cmpss", unfinished=left)
    assert stages == {"Training", "Fitting positions"}
    stages.clear()
    found = train_on(ratings, QUICK, lambda p: stages.add(p.stage), scheme="cmpss", unfinished=left)
    assert stages == {"Fitting positions"}
    require_near(the_positions(found), the_positions(train_on(ratings, QUICK, scheme="cmpss")))
    # The control: with other settings it is another run, and begins at the beginning.
    other = replace(QUICK, seed=9)
    train_on(ratings, other, lambda p: stages.add(p.stage), scheme="cmpss", unfinished=left)
    assert "Training" in stages
    left.remove()
    assert not any(tmp_path.iterdir())
