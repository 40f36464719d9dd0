"""What no device sends is refused, whatever the scheme."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.analyst import Training, disclose
from midpoint.analyst.score.report_rules import LEVELS_ONLY, ReportRules
from midpoint.errors import MidpointError
from midpoint.wire import ONE, Disclosure, Report, ValueMap

SCHEMES = ("dmpss", "mpssr", "no", "fa", "mp")


def report(shown: Disclosure, item: str, value: int) -> Report:
    return Report(id="0" * 32, disclosure=shown.digest, round=0, answers=((item, value),))


def takes(shown: Disclosure, item: str, value: int) -> bool:
    try:
        ReportRules(shown).require(report(shown, item, value))
    except MidpointError:
        return False
    return True


@pytest.fixture(scope="module")
def disclosures(trained_stars: Training, trained: Training) -> list[Disclosure]:
    return [
        *(disclose(trained_stars.items, scheme) for scheme in SCHEMES),
        disclose(trained.items, "mpss"),
        disclose(trained.items, "no"),
    ]


def is_possible(shown: Disclosure, item: str, value: int) -> bool:
    """Say what a device may send, item by item, as the rules are written in words."""
    scale, kind = shown.scale, shown.obfuscation.value_map
    if item not in shown.items:
        return False
    if kind is ValueMap.SHIFTED and shown.offset is not None:
        offset = shown.offset[shown.items.index(item)]
        return scale.low - max(offset) <= value <= scale.high - min(offset)
    if scale.levels is not None and kind in LEVELS_ONLY:
        return value in scale.levels
    return scale.low <= value <= scale.high


@given(
    st.integers(0, 6),
    st.integers(0, 80),
    st.one_of(st.integers(0, 6).map(lambda star: star * ONE), st.integers(-(2**20), 2**20)),
)
def test_an_answer_is_taken_if_some_rating_becomes_it(
    disclosures: list[Disclosure], which: int, index: int, value: int
) -> None:
    shown = disclosures[which]
    item = shown.items[index] if index < len(shown.items) else "nothing"
    assert takes(shown, item, value) == is_possible(shown, item, value)


@pytest.mark.parametrize(
    ("scheme", "legal", "illegal"),
    [
        ("dmpss", [1, 3, 5], [0, 6, 2.5, 2.0**30]),
        ("mpr", [1, 5], [0.9, 3.5]),
        ("no", [1, 5], [0, 3.5]),
        ("fa", [1, 3.7, 5], [0.9, 5.1]),
    ],
)
def test_values_that_no_device_sends_are_refused(
    trained_stars: Training, scheme: str, legal: list[float], illegal: list[float]
) -> None:
    shown = disclose(trained_stars.items, scheme)
    item, rules = shown.items[0], ReportRules(shown)
    for value in legal:
        rules.require(report(shown, item, round(value * ONE)))
    for value in illegal:
        with pytest.raises(MidpointError, match=f"item '{item}' with .* from 1 to 5"):
            rules.require(report(shown, item, round(value * ONE)))
    with pytest.raises(MidpointError, match="'nope' is not in the disclosure"):
        rules.require(report(shown, "nope", 3 * ONE))


def test_a_shifted_value_may_leave_the_scale_by_its_items_offset(trained: Training) -> None:
    shown = disclose(trained.items, "mp")
    assert shown.offset is not None
    least, most = shown.scale.low - max(shown.offset[0]), shown.scale.high - min(shown.offset[0])
    assert least < shown.scale.low < shown.scale.high < most
    for value, fine in ((least, True), (most, True), (least - 1, False), (most + 1, False)):
        assert takes(shown, shown.items[0], value) == fine


@given(st.integers(0, 6), st.lists(st.integers(-(2**20), 2**20), min_size=1, max_size=6))
def test_many_answers_are_judged_as_single_ones(
    disclosures: list[Disclosure], which: int, values: list[int]
) -> None:
    shown = disclosures[which]
    rules, numbers = ReportRules(shown), np.array([*values, 3 * ONE], np.int64)
    low, high = rules.limits()
    for index in (0, len(shown.items) - 1):
        together = rules.allows(numbers) & (low[index] <= numbers) & (numbers <= high[index])
        assert together.tolist() == [takes(shown, shown.items[index], v) for v in numbers.tolist()]
