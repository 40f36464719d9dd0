"""Whole populations: what one device and one person's request give, for everyone."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from midpoint.analyst import Factorizer, ItemProfiles, disclose, prepare, report_weights
from midpoint.analyst.engines.spark import RatingsFrame, read_ratings, score_people
from midpoint.analyst.engines.spark.scores import Plan as ScorePlan
from midpoint.analyst.engines.spark.scores import score_table
from midpoint.analyst.service.state.model import Model
from midpoint.data import Ratings, Simulation, simulate
from midpoint.data.simulation import SimulatedFeature
from midpoint.errors import MidpointError
from midpoint.protocol.batch import Plan, obfuscate_people, obfuscate_table, secret_of
from midpoint.user import Parameters, adjust, obfuscate, toss
from midpoint.wire import SCHEMES, Disclosure, Scores, from_fixed, to_fixed
from tests.support.models.estimates import estimate, score
from tests.support.tables.tables_on_disk import Tables, write

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def people(stars: Simulation) -> Ratings:
    gender = SimulatedFeature("gender", ("F", "M"), bias_sd=0.3, selection_sd=0.3, missing=0.1)
    return simulate(replace(stars.config, features=(gender,)), seed=1).ratings


@pytest.fixture(scope="module")
def profiles(people: Ratings) -> ItemProfiles:
    return Factorizer(dimension=3, iterations=4).fit(people, "gender")


@pytest.fixture(scope="module", params=["dmpss", "cmpss", "cmp"])
def disclosure(
    request: pytest.FixtureRequest, profiles: ItemProfiles, people: Ratings
) -> Disclosure:
    scheme = SCHEMES[request.param]
    return disclose(prepare(profiles, people, scheme), scheme.name)


def framed(ratings: Ratings) -> RatingsFrame:
    """Return what is known of the table, without a table on a cluster."""
    gender = ratings.feature("gender")
    nothing: Any = None
    return RatingsFrame(
        nothing, ratings.name, len(ratings), ratings.item_ids, ratings.item_names, ratings.scale,
        gender, gender.counts,
    )  # fmt: skip


def rows(ratings: Ratings) -> pa.Table:
    return pa.table(
        {
            "user": ratings.user_ids[ratings.user].tolist(),
            "index": ratings.item,
            "rating": ratings.value,
            "category": ratings.feature("gender").codes[ratings.user].astype(np.int32),
        }
    )


def starts(ratings: Ratings) -> NDArray[np.int64]:
    begin = ratings.user_offsets[:-1]
    return begin[np.diff(ratings.user_offsets) > 0]


def test_everyone_is_obfuscated_as_by_her_own_device(
    people: Ratings, disclosure: Disclosure
) -> None:
    plan = Plan.of(framed(people), disclosure, seed=5)
    found = obfuscate_table(rows(people), starts(people), plan).to_pylist()
    user = next(u for u in range(people.n_users) if people.feature("gender").codes[u] >= 0)
    mine = people.of_user(user)
    names = people.item_ids[people.item[mine]].tolist()
    cell = disclosure.features[0].categories.index(
        people.feature("gender").categories[people.feature("gender").codes[user]]
    )
    parameters, value = Parameters.of(disclosure), to_fixed(people.value[mine])
    item = np.array([disclosure.items.index(name) for name in names])
    coins = toss(secret_of(plan.key, people.user_ids[user]), names)
    adjustment = adjust(parameters, cell, np.arange(len(disclosure.items)), item, value)
    done = obfuscate(item, value, cell, parameters, coins, adjustment)
    expected = [
        (name, float(value))
        for name, value, keep in zip(names, from_fixed(done.value), done.keep, strict=True)
        if keep
    ]
    hers = [(row["item"], row["rating"]) for row in found if row["user"] == people.user_ids[user]]
    assert hers == expected
    assert hers
    assert (len(hers) < len(names)) == SCHEMES[disclosure.scheme].sub_samples
    assert [value for _, value in hers] != value.tolist()


def test_company_and_order_of_people_do_not_matter(people: Ratings, disclosure: Disclosure) -> None:
    plan = Plan.of(framed(people), disclosure, seed=5)
    table, begin = rows(people), starts(people)
    whole = obfuscate_table(table, begin, plan).to_pylist()
    cut = int(begin[len(begin) // 2])
    parts = [
        obfuscate_table(table.slice(cut), begin[begin >= cut] - cut, plan),
        obfuscate_table(table.slice(0, cut), begin[begin < cut], plan),
    ]
    again = [row for part in parts for row in part.to_pylist()]
    key = ("user", "item")
    assert sorted(again, key=lambda row: [row[k] for k in key]) == whole
    # The control: other coins give another copy.
    other = obfuscate_table(table, begin, Plan.of(framed(people), disclosure, seed=6)).to_pylist()
    assert other != whole


def test_what_is_not_protected_says_nothing_of_where_she_lies(
    people: Ratings, disclosure: Disclosure
) -> None:
    """An item that the disclosure does not know is nothing that her device could count."""
    plan, table = Plan.of(framed(people), disclosure, seed=5), rows(people)
    plan.index[3] = -1
    found = obfuscate_table(table, starts(people), plan)
    less = people.select_ratings(people.item != 3)
    again = obfuscate_table(rows(less), starts(less), plan)
    assert found.to_pylist() == again.to_pylist()


def test_who_and_what_is_unknown_is_left_out(people: Ratings, disclosure: Disclosure) -> None:
    plan = Plan.of(framed(people), disclosure, seed=5)
    plan.index[3] = -1
    found = obfuscate_table(rows(people), starts(people), plan)
    assert people.item_ids[3] not in found["item"].to_pylist()
    unknown = people.user_ids[people.feature("gender").codes < 0]
    assert len(unknown)
    assert not set(unknown.tolist()) & set(found["user"].to_pylist())


def test_another_feature_is_refused(people: Ratings, disclosure: Disclosure) -> None:
    without = replace(framed(people), feature=None)
    with pytest.raises(MidpointError, match="protects gender; read the ratings with"):
        Plan.of(without, disclosure, seed=0)


def sent(people: Ratings, disclosure: Disclosure) -> tuple[pa.Table, NDArray[np.int64]]:
    """Return what everyone reports, by user, and where each begins."""
    whole = obfuscate_table(
        rows(people), starts(people), Plan.of(framed(people), disclosure, seed=5)
    )
    names = np.array(whole["user"].to_pylist())
    return pa.Table.from_batches([whole]), np.flatnonzero(np.append(True, names[1:] != names[:-1]))


def answers_of(table: pa.Table, begin: NDArray[np.int64], count: int) -> list[dict[str, int]]:
    """Return the first people's answers as the service has them."""
    value = to_fixed(table["rating"].to_numpy()).tolist()
    answers = dict(enumerate(zip(table["item"].to_pylist(), value, strict=True)))
    return [dict(answers[k] for k in range(*ends)) for ends in pairwise(begin[: count + 1])]


def test_everyone_is_scored_as_the_service_scores_one(
    people: Ratings, profiles: ItemProfiles, disclosure: Disclosure
) -> None:
    table, begin = sent(people, disclosure)
    plan = ScorePlan.of(profiles, disclosure, top=3, margin=4)
    found = score_table(table, begin, plan).to_pylist()
    assert len(found) == len(begin)
    model = Model(profiles, disclosure)
    for row, hers in zip(found, answers_of(table, begin, 20), strict=False):
        belief = estimate(model, hers)
        np.testing.assert_allclose(row["profile"], belief.mean, atol=1e-4)
        belief = replace(belief, mean=np.array(row["profile"]))
        expected = Scores.parse(score(model, belief, 3, 4))
        assert row["items"] == list(expected.items)
        assert to_fixed(np.array(row["scores"])).tolist() == list(expected.score)
    # The control: trusting all items alike, the same reports give other profiles.
    plan.scorer.weights = None
    alike = score_table(table, begin, plan).to_pylist()
    gap = [np.subtract(a["profile"], b["profile"]) for a, b in zip(found, alike, strict=True)]
    assert np.abs(gap).max() > 0.01


def test_reports_are_trusted_as_far_as_they_were_obfuscated(
    profiles: ItemProfiles, disclosure: Disclosure
) -> None:
    def weights(**how: Any) -> Any:
        return ScorePlan.of(profiles, disclosure, top=1, margin=0, **how).scorer.weights

    assert np.array_equal(weights(), report_weights(profiles, disclosure))
    assert weights().max() < 1
    assert np.array_equal(weights(alpha=0.5), report_weights(profiles, disclosure, alpha=0.5))
    assert (weights(alpha=0.0) == 1).all()
    assert weights(method="least-squares") is None


def test_the_order_of_profiles_does_not_matter(
    people: Ratings, profiles: ItemProfiles, disclosure: Disclosure
) -> None:
    """Profiles may number items otherwise than a disclosure does: "10" before "2" or after it."""
    table, begin = sent(people, disclosure)
    turned = replace(
        profiles,
        item_ids=profiles.item_ids[::-1].copy(),
        item_names=profiles.item_names[::-1].copy(),
        centre=profiles.centre[::-1].copy(),
        offset=profiles.offset[::-1].copy(),
        vectors=profiles.vectors[::-1].copy(),
    )
    one, other = (
        score_table(table, begin, ScorePlan.of(each, disclosure, top=3, margin=4)).to_pylist()
        for each in (profiles, turned)
    )
    for row, again in zip(one[:20], other[:20], strict=True):
        np.testing.assert_allclose(row["profile"], again["profile"], atol=1e-5)
        assert row["items"] == again["items"] == sorted(row["items"])


def test_a_disclosure_of_other_items_is_refused(profiles: ItemProfiles, tiny: Simulation) -> None:
    other = disclose(Factorizer(dimension=2, iterations=1).fit(tiny.ratings, "gender"), "dmpss")
    with pytest.raises(MidpointError, match="is of other items than the profiles"):
        ScorePlan.of(profiles, other, top=1, margin=0)


def test_an_item_without_profile_is_passed_over(
    people: Ratings, profiles: ItemProfiles, disclosure: Disclosure
) -> None:
    plan = ScorePlan.of(profiles, disclosure, top=1, margin=0)
    item = people.item_ids[people.item[:3]].tolist()
    short = pa.table({"user": [1, 1, 2], "item": item, "rating": [1.0, 5.0, 3.0]})
    more = pa.table({"user": [1, 1, 1, 2], "item": [*item[:2], "?", item[2]],
                     "rating": [1.0, 5.0, 2.0, 3.0]})  # fmt: skip
    one = score_table(short, np.array([0, 2]), plan).to_pylist()
    assert score_table(more, np.array([0, 3]), plan).to_pylist() == one


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("scheme", ["dmpss", "cmpss"])
def test_on_spark_it_is_the_same(spark: Any, people: Ratings, tmp_path: Path, scheme: str) -> None:
    tables: Tables = write(people, tmp_path)
    profiles = Factorizer(dimension=3, iterations=4).fit(tables.ratings, "gender")
    profiles = prepare(profiles, tables.ratings, SCHEMES[scheme])
    disclosure = disclose(profiles, scheme)
    users = str(tables.users)
    read = read_ratings(spark, str(tables.directory), users=users, features=["gender"])
    plan = Plan.of(read, disclosure, seed=5)
    copy = obfuscate_people(read, disclosure, plan)
    found = sorted(tuple(row.values()) for row in copy.toArrow().to_pylist())
    # In memory: the same rows in one piece.
    local = rows(tables.ratings).set_column(
        0, "user", pa.array(tables.ratings.user_ids[tables.ratings.user].astype(np.int64))
    )
    whole = obfuscate_table(local, starts(tables.ratings), plan)
    assert found == sorted(tuple(row.values()) for row in whole.to_pylist())

    score_plan = ScorePlan.of(profiles, disclosure, top=3, margin=4)
    scored = score_people(copy.repartition(5), score_plan).toArrow().to_pylist()
    order = np.lexsort((whole["item"].to_numpy(zero_copy_only=False), whole["user"].to_numpy()))
    table = pa.Table.from_batches([whole]).take(pa.array(order))
    begin = np.flatnonzero(np.diff(table["user"].to_numpy(), prepend=-1))
    expected = {row["user"]: row for row in score_table(table, begin, score_plan).to_pylist()}
    assert len(scored) == len(expected)
    for row in scored:
        np.testing.assert_allclose(row["profile"], expected[row["user"]]["profile"], atol=1e-5)
        assert row["items"] == expected[row["user"]]["items"]
