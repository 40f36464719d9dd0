"""The service takes the reports that the library takes."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.analyst import (
    Training,
    answers_of,
    disclose,
)
from midpoint.analyst.service.state.report_rules import Possible
from midpoint.errors import MidpointError
from midpoint.wire import ONE, Disclosure, Report

SCHEMES = ("dmpss", "mpssr", "no", "fa", "mp")


@pytest.fixture(scope="module")
def disclosures(trained_stars: Training, trained: Training) -> list[Disclosure]:
    return [
        *(disclose(trained_stars.items, scheme) for scheme in SCHEMES),
        disclose(trained.items, "mpss"),
        disclose(trained.items, "no"),
    ]


@given(
    st.integers(0, 6),
    st.integers(0, 80),
    st.one_of(st.integers(0, 6).map(lambda star: star * ONE), st.integers(-(2**20), 2**20)),
)
def test_the_rules_are_those_of_the_library(
    disclosures: list[Disclosure], which: int, index: int, value: int
) -> None:
    shown = disclosures[which]
    item = shown.items[index] if index < len(shown.items) else "nothing"
    report = Report(id="0" * 32, disclosure=shown.digest, round=0, answers=((item, value),))

    def takes(check: Callable[[], object]) -> bool:
        try:
            check()
        except MidpointError:
            return False
        return True

    fine = takes(lambda: answers_of([report], shown))
    assert takes(lambda: Possible(shown).require(report)) == fine
