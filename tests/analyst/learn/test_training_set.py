"""Panel and reports in one fit: what either teaches, and what hostile reports can do."""

import numpy as np
import polars as pl
import pytest

from midpoint import Analyst
from midpoint.analyst import CollectedReports, train
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.learn.training_set import training_set
from midpoint.data import Ratings
from midpoint.errors import MidpointError
from tests.support.tables.two_kinds import QUICK, TwoKinds, two_kinds


@pytest.fixture(scope="module")
def world() -> TwoKinds:
    return two_kinds()


@pytest.fixture(scope="module")
def both(world: TwoKinds) -> ItemProfiles:
    return world.both()


def everyone(world: TwoKinds) -> Ratings:
    """Return the raw ratings of panel and rest, which nobody has together."""
    parts = [world.panel, world.rest]
    users = np.concatenate([part.user_ids[part.user] for part in parts])
    items = np.concatenate([part.item_ids[part.item] for part in parts])
    gender = {
        user: part.feature("gender").categories[code]
        for part in parts
        for user, code in zip(part.user_ids.tolist(), part.feature("gender").codes, strict=True)
    }
    values = np.concatenate([part.value for part in parts])
    return Ratings.from_columns(
        users, items, values, scale=world.panel.scale, features={"gender": gender}
    )


@pytest.mark.slow
def test_reports_teach_items_nearly_as_raw_ratings_do(world: TwoKinds, both: ItemProfiles) -> None:
    alone, reported = world.error(world.first), world.error(both)
    raw = everyone(world)
    assert raw.item_ids.tolist() == world.panel.item_ids.tolist()
    best = world.error(train(raw, "gender", factorizer=QUICK, scheme="dmpss"))
    assert best < reported < alone
    assert reported - best < 0.35 * (alone - best)
    # The control: the same answers with items exchanged teach nothing.
    mixed = world.answers.with_columns(pl.col("value").shuffle(seed=1))
    wrong = train(
        world.panel, "gender",
        factorizer=QUICK, scheme="dmpss", reports=world.reports(answers=mixed),
    )  # fmt: skip
    assert world.error(wrong) > reported + 0.5 * (alone - reported)


def test_what_categories_do_is_counted_of_the_panel_alone(
    world: TwoKinds, both: ItemProfiles
) -> None:
    counted, first = both.statistics, world.first.statistics
    assert counted is not None
    assert first is not None
    for name in ("users", "count", "total", "square"):
        assert (getattr(counted, name) == getattr(first, name)).all()
    taught = both.provenance.configuration["reports"]
    assert taught["answers"] == pytest.approx(len(world.answers), rel=0.02)


def test_somebody_has_one_taste_for_each_disclosure(world: TwoKinds) -> None:
    older = world.disclosure.model_copy(update={"reveal": None, "scheme": "dmp"})
    first, second = world.disclosure.items[:2]
    answers = pl.concat(
        [
            world.made_up("ann", {first: 4}),
            world.made_up("ann", {second: 2}, disclosure=older.digest),
        ]
    )
    known = {shown.digest: shown for shown in (world.disclosure, older)}
    both = training_set(world.panel, ("gender",), CollectedReports(answers, known))
    assert both.admission.people == 2
    new = both.ratings.user_ids[world.panel.n_users :].tolist()
    assert new == ["report 1", "report 2"]  # and no pseudonym
    assert (both.ratings.feature("gender").codes[world.panel.n_users :] == -1).all()
    assert (both.report_noise.kind[: len(world.panel)] == 0).all()


def hostile(world: TwoKinds, share: float, favourite: str) -> pl.DataFrame:
    """Make up so many answers, as a share of the honest ones: praise for one item, rage for others.

    Each person gives as many as may count, at either end of the scale.
    """
    rng = np.random.default_rng(9)
    busiest = int(np.diff(world.panel.user_offsets).max())
    people = round(share * len(world.answers) / busiest)
    parts = list[pl.DataFrame]()
    for n in range(people):
        chosen = rng.permutation(world.disclosure.items)[: busiest - 1].tolist()
        said = dict(zip(chosen, rng.choice([1.0, 5.0], len(chosen)), strict=True))
        parts.append(world.made_up(f"eve {n}", said | {favourite: 5.0}))
    return pl.concat(parts)


@pytest.mark.slow
def test_one_hostile_report_in_a_hundred_moves_little(world: TwoKinds, both: ItemProfiles) -> None:
    ordinary = str(both.item_ids[np.argsort(both.typical)[both.n_items // 2]])
    before = world.ten_best(both)
    moved = world.both(hostile(world, 0.01, ordinary))
    after = world.ten_best(moved)
    kept = np.mean([len(a & b) for a, b in zip(before, after, strict=True)])
    assert kept > 9.0
    favourite = moved.item_ids.tolist().index(ordinary)
    gained = np.mean([favourite in b for b in after]) - np.mean([favourite in a for a in before])
    assert gained < 0.05
    assert world.error(moved) < 1.005 * world.error(both)
    # The control: when every second report is hostile, lists do change.
    flooded = world.ten_best(world.both(hostile(world, 1.0, ordinary)))
    assert np.mean([len(a & b) for a, b in zip(before, flooded, strict=True)]) < kept - 1


def test_reports_that_cannot_teach_are_an_error_that_says_why(world: TwoKinds) -> None:
    strange = CollectedReports(world.answers, {})
    with pytest.raises(MidpointError, match=r"(?s)no report of reports.*never published"):
        train(world.panel, "gender", factorizer=QUICK, scheme="dmpss", reports=strange)
    with pytest.raises(MidpointError, match="name it to learn from them"):
        train(world.panel, None, factorizer=QUICK, reports=world.reports())


def test_the_analyst_learns_from_both(world: TwoKinds, both: ItemProfiles) -> None:
    analyst = Analyst.train(
        world.panel, "gender",
        scheme="dmpss", factorizer=QUICK, reports=world.reports(), progress=False,
    )  # fmt: skip
    assert (analyst.profiles.vectors == both.vectors).all()
    assert analyst.disclosure.index.keys() == world.disclosure.index.keys()
