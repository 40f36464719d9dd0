import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.data.tables.people import DECADE_STARTS, MOVIELENS_STARTS, band, young_or_adult


@given(st.integers(1, 120))
def test_every_age_lies_in_the_band_that_names_it(age: int) -> None:
    for starts in (MOVIELENS_STARTS, DECADE_STARTS):
        name = band(pl.Series([age]), starts)[0]
        if name.startswith("under "):
            assert age < int(name.removeprefix("under "))
        elif name.endswith("+"):
            assert age >= int(name[:-1])
        else:
            low, high = map(int, name.split("-"))
            assert low <= age <= high


@pytest.mark.parametrize(
    ("age", "label"),
    [(17, None), (18, "young"), (34, "young"), (35, "adult"), (64, "adult"), (65, None)],
)
def test_the_papers_split_is_young_18_to_34_and_adult_35_to_64(age: int, label: str | None) -> None:
    assert young_or_adult(pl.Series([age])).to_list() == [label]


def test_what_is_no_age_is_missing() -> None:
    years = pl.Series(["0", "-3", "999", "thirty", None, "NaN", "30"])
    assert young_or_adult(years).to_list() == [None] * 6 + ["young"]
    assert band(years, DECADE_STARTS).to_list() == [None] * 6 + ["25-34"]
