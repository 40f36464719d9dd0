"""Tables that another tool made are attacked as a protocol of ours is."""

from dataclasses import replace

import numpy as np
import pytest

from midpoint.audit import audit
from midpoint.audit.run.protected import ProtectedCopies
from midpoint.data import PRESETS, Feature, Ratings, Simulation, simulate
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Population


@pytest.fixture(scope="module")
def tiny() -> Simulation:
    return simulate(PRESETS["simulated-tiny"], seed=1)


def bare(ratings: Ratings, **changes: object) -> Ratings:
    """Return a table as another tool would write it, without features."""
    return replace(ratings, features={}, **changes)  # type: ignore[arg-type]


def people(ratings: Ratings) -> Population:
    category = ratings.features["gender"].codes
    return Population(ratings.user, ratings.item, ratings.value, category, ratings.user_ids)


def sent(protocol: LearningProtocol, some: Ratings) -> list[tuple[int, int, float]]:
    """Return what a protocol sends of these people."""
    seen = protocol.report(None, None, people(some), np.random.default_rng(0))  # type: ignore[arg-type]
    user = np.repeat(np.arange(some.n_users), np.diff(seen.user_offsets))
    return list(zip(user.tolist(), seen.item.tolist(), seen.value.tolist(), strict=True))


def rows(ratings: Ratings) -> list[tuple[int, int, float]]:
    columns = ratings.user.tolist(), ratings.item.tolist(), ratings.value.tolist()
    return list(zip(*columns, strict=True))


def test_an_unchanged_table_sends_what_was_given(tiny: Simulation) -> None:
    raw = tiny.ratings
    protocol = ProtectedCopies.of(raw, [bare(raw)])
    some = raw.select_users(np.arange(raw.n_users) % 3 == 1)
    assert sent(protocol, some) == rows(some)
    half = some.select_ratings(np.arange(len(some)) % 2 == 0)
    assert sent(protocol, half) == rows(half)  # what was not given stays hidden


def test_withheld_added_and_reordered_entries_are_matched_by_ids() -> None:
    raw = Ratings.from_columns(
        ["a", "a", "b"], ["x", "y", "x"], [1, 2, 3], features={"gender": {"a": "F", "b": "M"}}
    )
    # The tool lost a's x, made up b's y, changed b's x, and knows neither a third item nor user.
    table = Ratings.from_columns(["b", "b", "a"], ["y", "x", "y"], [2.5, 1.5, 2], name="copy")
    protocol = ProtectedCopies.of(raw, [table])
    assert sent(protocol, raw) == [(0, 1, 2.0), (1, 0, 1.5), (1, 1, 2.5)]
    only_first = raw.select_ratings(np.array([True, False, False]))
    assert sent(protocol, only_first) == [(1, 1, 2.5)]


def test_strangers_are_left_out_with_a_word_and_a_table_of_strangers_is_refused(
    caplog: pytest.LogCaptureFixture,
) -> None:
    raw = Ratings.from_columns(
        ["a", "a", "b"], ["x", "y", "x"], [1, 2, 3], features={"gender": {"a": "F", "b": "M"}}
    )
    more = Ratings.from_columns(["a", "c", "b"], ["x", "x", "z"], [1, 2, 3], name="copy")
    assert sent(ProtectedCopies.of(raw, [more]), raw) == [(0, 0, 1.0)]
    assert "copy has 1 user that ratings does not have, such as 'c': left out" in caplog.text
    assert "copy has 1 item that ratings does not have, such as 'z': left out" in caplog.text
    strangers = Ratings.from_columns(["p", "q"], ["x", "y"], [1, 2], name="copy")
    with pytest.raises(MidpointError, match="check that both call users and items the same"):
        ProtectedCopies.of(raw, [strangers])
    with pytest.raises(MidpointError, match="at least one table"):
        ProtectedCopies.of(raw, [])


def test_the_coins_choose_among_draws_and_digests_tell_copies_apart(tiny: Simulation) -> None:
    raw = tiny.ratings
    other = bare(raw, value=raw.scale.high + raw.scale.low - raw.value)
    both = ProtectedCopies.of(raw, [bare(raw), other])
    coins = np.random.default_rng(0)
    values = {
        both.report(None, None, people(raw), coins).value.tobytes()  # type: ignore[arg-type]
        for _ in range(20)
    }
    assert len(values) == 2
    assert both == ProtectedCopies.of(raw, [bare(raw), other])
    assert both != ProtectedCopies.of(raw, [bare(raw)])


@pytest.mark.slow
def test_what_a_tool_leaves_is_read_and_what_it_erases_is_not(tiny: Simulation) -> None:
    raw = tiny.ratings
    gender: Feature = raw.features["gender"]
    # Everybody gets the ratings of somebody at random: nothing of herself is left.
    order = np.random.default_rng(5).permutation(raw.n_users)
    swapped = Ratings.from_columns(
        raw.user_ids[order[raw.user]], raw.item_ids[raw.item], raw.value, scale=raw.scale
    )
    flag = np.where(gender.codes[raw.user] == 1, 3.25, 3.0).astype(np.float32)
    tables = {
        "same": bare(raw),
        "swapped": swapped,
        "flag": bare(raw, value=flag, scale=replace(raw.scale, levels=None)),
    }
    protocols = {name: ProtectedCopies.of(raw, [table]) for name, table in tables.items()}
    results = audit(raw, "gender", protocols, ["adaptive-lr-items"], folds=2, progress=False)
    reached = {name: results.get(name, "auc", "adaptive-lr-items") for name in ("no", *tables)}
    auc = {name: row.value for name, row in reached.items() if row is not None}
    assert auc["no"] > 0.75  # the control: the same attacker on raw ratings
    assert auc["same"] == pytest.approx(auc["no"], abs=0.05)
    assert abs(auc["swapped"] - 0.5) < 0.12
    assert auc["flag"] > 0.95
