from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.data import MISSING, Feature, Ratings
from midpoint.data.feature import require_people
from midpoint.errors import MidpointError

LABELS = st.lists(st.sampled_from(["a", "b", "c", "", None]), min_size=1, max_size=30)


def test_labels_are_coded_in_sorted_order() -> None:
    feature = Feature.from_labels("gender", ["M", "F", None, "", "M"])
    assert feature.categories == ("F", "M")
    assert feature.codes.tolist() == [1, 0, MISSING, MISSING, 1]
    assert feature.known.tolist() == [True, True, False, False, True]
    assert feature.counts.tolist() == [1, 2]


@pytest.mark.parametrize(
    "blank",
    [None, "", float("nan"), np.float32("nan"), np.datetime64("NaT"), pd.NA, pd.NaT],
    ids=repr,
)
def test_what_any_library_writes_for_a_blank_is_missing(blank: object) -> None:
    feature = Feature.from_labels("gender", ["M", blank, "F"])
    assert feature.categories == ("F", "M")
    assert feature.codes.tolist() == [1, MISSING, 0]


def test_a_feature_comes_from_pandas_with_its_gaps() -> None:
    people = pd.DataFrame(
        {
            "user": ["a", "b", "c"],
            "word": ["F", float("nan"), "M"],
            "number": [1, float("nan"), 2],
            "string": pd.array(["F", None, "M"], dtype="string"),
            "integer": pd.array([1, None, 2], dtype="Int64"),
            "category": pd.Categorical(["F", None, "M"]),
        }
    ).set_index("user")
    names = list(people.columns)
    tables: tuple[dict[str, Any], ...] = (
        {name: dict(people[name].items()) for name in names},
        {name: people[name] for name in names},
    )
    for features in tables:
        ratings = Ratings.from_columns(["a", "b", "c"], [1, 1, 1], [1, 2, 3], features=features)
        for name in names:
            feature = ratings.feature(name)
            assert feature.categories in (("F", "M"), ("1", "2"))
            assert feature.codes.tolist() == [0, MISSING, 1]


@given(LABELS)
def test_labels_survive_coding(labels: list[str | None]) -> None:
    feature = Feature.from_labels("f", labels)
    back = [feature.categories[k] if k != MISSING else None for k in feature.codes]
    assert back == [label or None for label in labels]
    assert feature.counts.sum() == feature.known.sum()


@given(st.lists(st.tuples(*(st.sampled_from(["a", "b", None]),) * 3), min_size=1, max_size=20))
def test_joint_cells_name_what_they_join(rows: list[tuple[str | None, ...]]) -> None:
    parts = [
        Feature.from_labels(str(n), [*column, "a", "b"])
        for n, column in enumerate(zip(*rows, strict=True))
    ]
    joint = Feature.joint(parts)
    assert joint.name == "0+1+2"
    assert joint.categories[:3] == ("a+a+a", "a+a+b", "a+b+a")
    for row, code in zip(rows, joint.codes, strict=False):
        named = [label for label in row if label]
        expected = "+".join(named) if len(named) == len(row) else None
        assert (joint.categories[code] if code != MISSING else None) == expected


def test_the_joint_of_one_is_itself() -> None:
    feature = Feature.from_labels("f", ["a", "b"])
    assert Feature.joint([feature]) is feature


def test_selection_keeps_categories_without_users() -> None:
    feature = Feature.from_labels("f", ["a", "b", "c"])
    assert feature.select(np.array([False, True, False])).counts.tolist() == [0, 1, 0]
    assert feature.select(np.array([0, 2])).codes.tolist() == [0, 2]


def test_codes_cannot_be_written() -> None:
    feature = Feature.from_labels("f", ["a", "b"])
    with pytest.raises(ValueError, match="read-only"):
        feature.codes[0] = 1


@pytest.mark.parametrize("code", [-2, 2])
def test_codes_outside_the_categories_are_refused(code: int) -> None:
    with pytest.raises(MidpointError, match="outside its 2 categories"):
        Feature("f", ("a", "b"), np.array([0, code], dtype=np.int16))


def test_a_category_named_twice_is_refused() -> None:
    with pytest.raises(MidpointError, match="twice"):
        Feature("f", ("a", "a"), np.array([0], dtype=np.int16))


def test_protection_needs_two_classes_with_users() -> None:
    both = Feature.from_labels("f", ["a", "b", "b"])
    both.require_classes()
    with pytest.raises(MidpointError, match=r"1 category only \(b\)"):
        both.select(np.array([1, 2])).require_classes()


def test_people_of_a_joint_feature_are_counted_part_by_part() -> None:
    gender = Feature.from_labels("gender", ["F", "F", "M", "M", "M"])
    age = Feature.from_labels("age", ["old", "young", "young", "old", "young"])
    joint = Feature.joint([gender, age])
    assert joint.counts.min() == 1
    require_people(joint.parts, joint.counts, 2)
    with pytest.raises(MidpointError, match=r"'F' of gender has 2 people only \(F 2, M 3\)"):
        require_people(joint.parts, joint.counts, 3)
