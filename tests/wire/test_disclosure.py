import gzip
import json
import pickle
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from midpoint.wire import (
    ONE,
    SCHEMES,
    Disclosure,
    FeatureNames,
    RatingScale,
    Refusal,
    as_rows,
    to_fixed,
)
from tests.support.sites.messages import (
    COLUMN,
    GENDER,
    ITEM_AVERAGE,
    code_of,
    example,
)

AS_EVER = "dda795e31aa4d45bb9bb9472961235fc9dbf000d993f88354b7cac15bcf5f4ab"
"""Digest of the numbers of the first example, as ledgers hold it since before counterparts."""


@pytest.mark.parametrize("scheme", SCHEMES)
def test_columns_are_there_exactly_when_the_scheme_needs_them(scheme: str) -> None:
    needed = SCHEMES[scheme].columns
    content = json.loads(example(scheme).raw)
    assert code_of(Disclosure, content) is None
    for name, column in COLUMN.items():
        if name in needed:
            changed = {key: value for key, value in content.items() if key != name}
        else:
            changed = {**content, name: column}
        assert code_of(Disclosure, changed) == Refusal.WRONG_COLUMNS


@pytest.mark.parametrize(
    ("scheme", "changes"),
    [
        ("dmp", {"levels": COLUMN["levels"][:1]}),
        ("dmp", {"levels": (((ONE, 0), (0, ONE)),) * 2}),
        ("dmp", {"levels": (((ONE, 0, 0),),) * 2}),
        ("mp", {"offset": ((1, 2, 3), (1, 2, 3))}),
        ("ia", {"average": COLUMN["average"]}),
        ("fa", {"average": ITEM_AVERAGE}),
        ("no", {"items": ("b", "a")}),
        ("no", {"items": ("a", "a")}),
        ("no", {"items": ("", "a")}),
        ("no", {"features": (GENDER, GENDER)}),
        ("no", {"features": tuple(GENDER.model_copy(update={"name": str(n)}) for n in range(11))}),
        ("cmpss", {"taste": ((5, 6), (-7,))}),
        ("cmpss", {"selection": ((3,), ())}),
        ("cmpss", {"rate": ((1,), (1,))}),
        ("cmp", {"base": ((1, 2, 3), (1, 2, 3))}),
        ("cmp", {"taste": ((), ())}),
        ("no", {"bits": 0}),
        ("no", {"bits": 17}),
    ],
)
def test_wrong_shapes_are_refused(scheme: str, changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        example(scheme, **changes)


def test_a_discrete_scheme_needs_a_discrete_scale() -> None:
    smooth = RatingScale(low=ONE, high=3 * ONE)
    assert example("mpss", scale=smooth).scale.levels is None
    for scheme in ("mpr", "mpssr", "dmp", "dmpss", "cmp", "cmpss"):
        with pytest.raises(ValidationError, match="discrete scale"):
            example(scheme, scale=smooth)


@pytest.mark.parametrize("levels", [(ONE, ONE), (ONE, 3 * ONE, 2 * ONE), (0, 3 * ONE), (ONE,)])
def test_a_scale_ascends_from_low_to_high(levels: tuple[int, ...]) -> None:
    with pytest.raises(ValidationError):
        RatingScale(low=ONE, high=3 * ONE, levels=levels)


def test_cells_of_several_features_multiply() -> None:
    age = FeatureNames(name="age", categories=("young", "middle", "old"))
    assert example("no", features=(GENDER, age)).n_cells == 6


def test_the_numbers_of_an_item_are_all_that_is_disclosed_of_it() -> None:
    one = example()
    other = example(reveal=((ONE, 9), (ONE, ONE - 1)))
    assert one.numbers_of(0) == other.numbers_of(0)
    assert one.numbers_of(1) != other.numbers_of(1)
    assert one.numbers_of(0) != example("dmp").numbers_of(0)
    assert one.numbers_of(0) == AS_EVER
    whole = example("cmpss")
    assert len({example(scheme).numbers_of(0) for scheme in ("dmp", "dmpss", "cmp", "cmpss")}) == 4
    for name in sorted(SCHEMES["cmpss"].columns):
        rows = COLUMN[name]
        changed = example("cmpss", **{name: (rows[0], rows[0])})
        assert changed.numbers_of(0) == whole.numbers_of(0)
        assert changed.numbers_of(1) != whole.numbers_of(1)


def test_ten_thousand_items_stay_under_500_kilobytes_on_the_wire() -> None:
    rng = np.random.default_rng(0)
    M = 10_000
    counts = rng.multinomial(ONE, rng.dirichlet([2, 3, 6, 8, 5], size=(M, 2)))
    p = rng.beta(1, 20, size=(M, 2))
    shown = Disclosure(
        scheme="dmpss",
        features=(GENDER,),
        scale=RatingScale(low=ONE, high=5 * ONE, levels=as_rows(np.arange(1, 6) * ONE)),
        items=tuple(sorted(rng.choice(10**7, M, replace=False).astype(str).tolist())),
        levels=as_rows(counts),
        reveal=as_rows(np.maximum(to_fixed(p.min(axis=1, keepdims=True) / p), 1)),
    )
    assert 200_000 < len(gzip.compress(shown.raw)) < 500_000


def test_every_item_has_its_index_in_the_columns() -> None:
    shown = example("no", items=("a", "b", "é"))
    assert dict(shown.index) == {"a": 0, "b": 1, "é": 2}
    with pytest.raises(TypeError):
        shown.index["c"] = 3  # type: ignore[index]
    again = shown.model_copy(update={"items": ("b", "c")})
    assert dict(again.index) == {"b": 0, "c": 1}
    assert pickle.loads(pickle.dumps(shown)).index == shown.index  # noqa: S301


def test_categories_make_a_joint_cell_in_row_major_order() -> None:
    age = FeatureNames(name="age", categories=("young", "middle", "old"))
    shown = example("no", features=(GENDER, age))
    cells = [
        shown.cell({"gender": gender, "age": years, "more": "x"})
        for gender in GENDER.categories
        for years in age.categories
    ]
    assert cells == list(range(6))
    assert shown.cell({"gender": "F"}) is None  # a feature is missing
    assert shown.cell({"gender": "F", "age": "new"}) is None
    assert example("no", features=()).cell({}) == 0


@pytest.mark.parametrize(
    ("scheme", "changes", "code"),
    [
        ("dmpss", {"keep": [ONE], "leak": ONE}, Refusal.WRONG_SHAPE),
        ("dmpss", {"keep": [ONE, 0]}, None),
        ("dmpss", {"leak": ONE}, Refusal.WRONG_COLUMNS),
        ("dmp", {"keep": [ONE, 0]}, None),
        ("dmpss", {"keep": [ONE, 0], "leak": ONE // 2 - 1}, Refusal.WRONG_SHAPE),
        ("dmpss", {"keep": [ONE, 0], "leak": ONE // 2}, None),
    ],
)
def test_a_leak_budget_is_whole(scheme: str, changes: dict[str, Any], code: Refusal | None) -> None:
    content = json.loads(example(scheme).raw)
    M = len(content["items"])
    if len(changes.get("keep", ())) == 2:
        changes = {**changes, "keep": (changes["keep"] * M)[:M]}
    assert code_of(Disclosure, {**content, **changes}) == code


def test_an_items_numbers_cover_its_keep_probability() -> None:
    plain = example("dmpss")
    M = len(plain.items)
    some, more = (
        plain.model_copy(update={"keep": (keep,) * M, "leak": ONE}) for keep in (ONE, ONE // 2)
    )
    assert len({shown.numbers_of(0) for shown in (plain, some, more)}) == 3
